"""Commands that look at a page from outside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from bridge.surfaces.cli.app import run
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(webview_device: str, local_server: LocalServer, capsys: pytest.CaptureFixture[str]) -> Command:
    def go(name: str, *arguments: str, page: str = "capture/rows.html?height=3000&box") -> tuple[int, str, str]:
        options = ["--url", local_server.url(page), "--device", webview_device, "--local", str(local_server.port)]
        code = run([name, *arguments, *options])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return go


def test_a_full_page_screenshot_is_saved_and_reported(command: Command, tmp_path: Path) -> None:
    target = tmp_path / "page.png"
    code, out, err = command("screenshot", "--full-page", "--output", str(target), "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["height_px"], found["strategy"], found["truncated"]) == (3000, "scroll-and-stitch", False)
    with Image.open(target) as image:
        assert image.size == (412, 3000)


def test_cut_output_is_also_reported_in_words(command: Command, tmp_path: Path) -> None:
    code, out, err = command("screenshot", "--full-page", "--max-height", "2000", "--out", str(tmp_path / "x.png"))
    assert code == 0, err
    assert "412 x 2000 px" in out
    assert "2000 of 3000 px are shown" in err


def test_one_element_is_saved_by_its_ref(command: Command, tmp_path: Path) -> None:
    code, out, err = command("snapshot", "--json")
    refs = json.loads(out)["refs"]
    ref = next(ref for ref, node in refs.items() if "Box" in json.dumps(node))
    code, out, err = command("screenshot", "--ref", ref, "--out", str(tmp_path / "box.png"), "--json")
    assert code == 0, err
    assert (json.loads(out)["width_px"], json.loads(out)["height_px"]) == (60, 44)


def test_a_recording_is_an_animation(command: Command, tmp_path: Path) -> None:
    target = tmp_path / "film.gif"
    code, out, err = command("record", "--seconds", "0.5", "--format", "gif", "--out", str(target))
    assert code == 0, err
    assert out.startswith(f"saved {target}")
    with Image.open(target) as image:
        assert image.format == "GIF"


def test_console_and_network_are_listed_and_a_har_is_written(command: Command, tmp_path: Path) -> None:
    code, out, err = command("console", "--level", "error")
    assert code == 0, err
    code, out, err = command("network", "--har", str(tmp_path / "log.har"), "--type", "document")
    assert code == 0, err
    assert "200 GET" in out
    archive = json.loads((tmp_path / "log.har").read_text())
    assert archive["log"]["version"] == "1.2"
    assert any("rows.html" in entry["request"]["url"] for entry in archive["log"]["entries"])


def test_wrong_options_are_bad_usage_before_anything_starts(command: Command, tmp_path: Path) -> None:
    for arguments in (
        ("screenshot", "--ref", "button"),
        ("screenshot", "--out", str(tmp_path / "none" / "x.png")),
        ("network", "--har", str(tmp_path)),
        ("record", "--seconds", "0"),
    ):
        assert command(*arguments)[0] == 2
    assert command("screenshot", "--full-page", "--ref", "e1")[0] == 2
    assert command("network", "--status", "teapot")[0] == 2

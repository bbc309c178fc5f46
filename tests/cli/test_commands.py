"""One-shot commands on a device."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from bridge.surfaces.cli.app import run
from bridge.surfaces.demo.server import serve_demo_pages
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

pytestmark = pytest.mark.browser

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def demo() -> Iterator[LocalServer]:
    with serve_demo_pages() as server:
        yield server


@pytest.fixture
def command(webview_device: str, demo: LocalServer, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs one command on the device under test; returns exit code, stdout, stderr."""

    def go(name: str, *arguments: str, page: str = "shop.html") -> tuple[int, str, str]:
        options = ["--url", demo.url(page), "--device", webview_device, "--local", str(demo.port)]
        code = run([name, *arguments, *options])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return go


def answer(result: tuple[int, str, str]) -> dict[str, Any]:
    code, out, err = result
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    assert found["ok"] is True
    return found


def ref_of(text: str, line: str) -> str:
    found = re.search(rf"{line}.*\[ref=(e\d+)\]", text)
    assert found, text
    return found[1]


def test_a_snapshot_is_text_on_stdout_and_its_cost_on_stderr(command: Command) -> None:
    code, out, err = command("snapshot")

    assert code == 0
    assert out.startswith("[snapshot] url=")
    assert 'button "Add to cart"' in out
    assert "1 round trip" in err


def test_a_snapshot_of_the_controls_has_nothing_to_read(command: Command) -> None:
    _, out, _ = command("snapshot", "--controls")
    assert 'button "Add to cart"' in out
    assert "heading" not in out
    assert command("snapshot", "--controls", "--all")[0] == 2


def test_a_snapshot_waits_for_the_text_it_is_asked_to(command: Command, tmp_path: Path) -> None:
    target = tmp_path / "late.txt"

    code, out, _ = command("snapshot", "--wait-for", "A short history", "--out", str(target), page="spa.html")

    assert (code, out) == (0, f"saved {target}\n")
    assert 'link "A short history of knots"' in target.read_text(encoding="utf-8")


def test_refs_of_one_command_are_good_in_the_next(command: Command) -> None:
    _, text, _ = command("snapshot")

    result = answer(command("fill", ref_of(text, 'searchbox "Search'), "gold", "--json"))
    assert result["value"] == "gold"
    assert result["changes"]["text"].startswith("[changes]")

    code, out, _ = command("click", "@" + ref_of(text, 'button "Cart'))
    assert code == 0
    assert 'heading "Your cart"' in out


def test_a_key_goes_to_the_element_that_is_named(command: Command) -> None:
    _, text, _ = command("snapshot", page="login.html")

    code, out, _ = command("press", "Enter", "--ref", ref_of(text, 'textbox "E-mail"'), page="login.html")

    assert code == 0
    assert "Enter your password." in out


def test_a_ref_that_was_never_given_out_fails_with_its_code(command: Command) -> None:
    code, out, err = command("click", "e999")

    assert code == 1
    assert out == ""
    assert err.splitlines()[-1].startswith("ref_not_found: ")


def test_a_screenshot_is_the_file_it_says(command: Command, tmp_path: Path) -> None:
    target = tmp_path / "shop.jpg"

    found = answer(command("screenshot", "--annotate", "--format", "jpeg", "--out", str(target), "--json"))

    with Image.open(target) as picture:
        assert picture.format == "JPEG"
        assert picture.size == (found["width_px"], found["height_px"])
    assert {"ref", "role", "name", "box"} <= found["legend"][0].keys()


def test_an_http_error_is_said(command: Command) -> None:
    code, _, err = command("snapshot", "--all", page="nothing.html")

    assert code == 0
    assert "HTTP status 404" in err


def test_a_spent_budget_ends_with_5_and_says_in_which_step(command: Command) -> None:
    code, _, err = command("snapshot", "--timeout", "0.001")

    assert code == 5
    assert "timed out after 0.001 s" in err


def test_an_unknown_serial_never_falls_back(webview_device: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["snapshot", "--url", "https://example.com/", "--device", "no-such-serial"]) == 3

    err = capsys.readouterr().err
    assert err.startswith("device_not_found: ")
    assert webview_device in err


def test_devices_lists_the_device_under_test(webview_device: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["devices", "--json"]) == 0

    rows = {row["serial"]: row for row in json.loads(capsys.readouterr().out)["devices"]}
    assert rows[webview_device]["state"] == "device"


def test_the_demonstration_does_all_its_steps_and_leaves_its_files(
    webview_device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["demo", "--device", webview_device, "--out", str(tmp_path / "new"), "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    pages = dict.fromkeys(step["page"] for step in found["steps"])
    assert list(pages) == ["shop", "login", "controlled form", "late single-page app", "frames and shadow roots"]
    told = "\n".join(step["outcome"] for step in found["steps"])
    for words in ("Cart 1", "That is not an e-mail address.", "Welcome, ada", "SPRING26", "Pressed 1", '"5 stars"'):
        assert words in told, words
    assert found["cost"]["round_trips"] == sum(step["cost"]["round_trips"] for step in found["steps"])
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"snapshot.txt", "annotated.png"}
    assert (tmp_path / "new" / "snapshot.txt").read_text(encoding="utf-8").startswith("[snapshot] url=")


def test_the_demonstration_reads_well_without_a_terminal(
    webview_device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["demo", "--device", webview_device, "--out", str(tmp_path)]) == 0

    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\nlogin\n" in out
    assert re.search(r"\d+ ms · \d+ round trips?", out)


class _Never(QuietHandler):
    asked: threading.Event
    over: threading.Event

    def do_GET(self) -> None:
        self.asked.set()
        self.over.wait(60)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.usefixtures("webview_device")  # its adb server runs already, and keeps its log elsewhere
def test_an_interrupted_command_leaves_nothing_behind(sent: signal.Signals, code: int) -> None:
    """It starts a virtual device of its own, and is interrupted while a server does not answer."""

    class Never(_Never):
        asked, over = threading.Event(), threading.Event()

    # Devices keep their private folders in the temporary folder; other workers' devices are in another one.
    with tempfile.TemporaryDirectory() as folder, listening(Never) as server:
        with subprocess.Popen(
            [
                *(sys.executable, "-c", "from bridge.surfaces.cli import main; main()"),
                *("snapshot", "--url", server.url(), "--local", str(server.port)),
                *("--device", "virtual", "--timeout", "60"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": folder},
        ) as process:
            assert Never.asked.wait(60)
            process.send_signal(sent)
            out, err = process.communicate(timeout=40)
        Never.over.set()
        left = [path.name for path in Path(folder).iterdir()]

    assert process.returncode == code, err
    assert out == ""
    assert "Traceback" not in err
    # The folder of leases is kept: another process may hold one in it.
    assert [name for name in left if not name.startswith("webview-bridge-")] == []

"""`--trace`, and the commands on what it wrote, as a person uses them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.surfaces.cli.app import run
from bridge.surfaces.demo.server import serve_demo_pages
from tests.cli.test_kept_sessions import Shell


@pytest.fixture
def shell(tmp_path_factory: pytest.TempPathFactory, webview_device: str) -> Iterator[Shell]:
    folder = tmp_path_factory.mktemp("run")  # its sockets need a short path
    folder.chmod(0o700)
    with serve_demo_pages() as demo:
        shell = Shell(folder, webview_device, demo)
        yield shell
        shell.run("daemon", "stop")


@pytest.mark.browser
def test_a_kept_session_leaves_its_trace_when_it_is_closed(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "trace.html"
    shell.open()
    code, _, err = shell.run("open", shell.demo.url("shop.html"), "--trace", str(file))
    assert code == 2
    assert "trace none" in err
    shell.json("close")

    shell.json("open", shell.demo.url("shop.html"), *shell.options, "--trace", str(file))
    shell.json("snapshot")
    assert not file.exists()
    shell.json("close")

    exported = shell.json("trace", "export", str(file))["trace"]
    assert [operation["name"] for operation in exported["operations"]] == ["goto", "snapshot"]
    told = shell.json("trace", "to-pytest", str(file), "--out", str(tmp_path / "test_it.py"))
    assert (tmp_path / "test_it.py").read_text() == told["source"]
    assert shell.demo.url("shop.html") in told["source"]


@pytest.mark.browser
def test_a_command_with_a_session_of_its_own_leaves_its_trace(shell: Shell, tmp_path: Path) -> None:
    file, screenshots = tmp_path / "trace.html", tmp_path / "screenshots"
    shell.json(
        "screenshot",
        "--url",
        shell.demo.url("shop.html"),
        *shell.options,
        "--trace",
        str(file),
        "--out",
        str(tmp_path / "x.png"),
    )

    shell.json("trace", "export", str(file), "--out", str(tmp_path / "trace.json"), "--screenshots", str(screenshots))

    exported = json.loads((tmp_path / "trace.json").read_text())
    assert exported["screenshots"] == [path.name for path in sorted(screenshots.iterdir())] == ["0.webp"]
    assert (screenshots / "0.webp").read_bytes()[8:12] == b"WEBP"


def test_a_file_that_is_not_a_trace_is_bad_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.html").write_text("<h1>no trace</h1>")

    assert run(["trace", "export", str(tmp_path / "page.html")]) == 2
    assert run(["trace", "to-pytest", str(tmp_path / "missing.html")]) == 2
    assert "is not a trace" in capsys.readouterr().err

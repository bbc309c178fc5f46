"""Commands as a person types them, each a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge.surfaces.demo.server import serve_demo_pages
from bridge.surfaces.local_server import LocalServer

LIMIT_S = 60
PROGRAM = (sys.executable, "-c", "from bridge.surfaces.cli import main; main()")


class Shell:
    """Commands as a person types them: each a process of its own, all with one runtime folder."""

    def __init__(self, folder: Path, device: str, demo: LocalServer) -> None:
        self.folder = folder
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "PYTHONPATH": str(Path.cwd())}
        self.demo = demo
        self.options = ("--device", device, "--local", str(demo.port))

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*PROGRAM, *arguments],
            env={**self.environment, **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, **more: str) -> tuple[int, str, str]:
        process = self.start(*arguments, **more)
        out, err = process.communicate(timeout=LIMIT_S)
        return process.returncode, out, err

    def json(self, *arguments: str, **more: str) -> dict[str, Any]:
        code, out, err = self.run(*arguments, "--json", **more)
        assert code == 0, out + err
        found: dict[str, Any] = json.loads(out)
        return found

    def open(self, page: str = "shop.html", **more: str) -> dict[str, Any]:
        return self.json("open", self.demo.url(page), *self.options, **more)

    @property
    def sessions(self) -> Path:
        return self.folder / "webview-bridge" / "sessions"

    def until_gone(self, pid: int) -> None:
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.05)
        pytest.fail(f"process {pid} is still there")


@pytest.fixture
def shell(tmp_path_factory: pytest.TempPathFactory, webview_device: str) -> Iterator[Shell]:
    folder = tmp_path_factory.mktemp("run")
    folder.chmod(0o700)
    with serve_demo_pages() as demo:
        shell = Shell(folder, webview_device, demo)
        yield shell
        code, _, err = shell.run("daemon", "stop")
        assert code == 0, err


def ref_of(text: str, line: str) -> str:
    found = re.search(rf"{line}.*\[ref=(e\d+)\]", text)
    assert found, text
    return found[1]

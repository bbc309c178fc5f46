"""Where the folder for temporary files is so deep that no socket fits into it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bridge.errors import VirtualDeviceFailed
from bridge.virtual_device.engine.chromium import command_line, find_chromium, run_chromium
from bridge.virtual_device.process.client import list_virtual_devices
from bridge.virtual_device.process.private_folder import folders_place, is_our_folder
from tests.temp_devices import own_device

SHORT = Path("/tmp").resolve()  # noqa: S108


def devices_in(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("webview-device-*")]


@pytest.fixture
def long_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place for temporary files, of this process and of those it starts."""
    folder = tmp_path / "-".join(["long"] * 25)
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.mark.browser
async def test_a_virtual_device_starts_although_the_temporary_folder_is_too_deep_for_sockets(
    adb_port: int, long_folder: Path
) -> None:
    async with own_device() as device:
        folder = Path(device.control_path).parent
        assert folder.parent == SHORT
        assert is_our_folder(folder)
        assert device in list_virtual_devices()
    assert not folder.exists()
    assert devices_in(long_folder) == []


def test_a_temporary_folder_in_which_sockets_fit_is_taken() -> None:
    with tempfile.TemporaryDirectory(prefix="t", dir=SHORT) as short:
        asked = "from bridge.virtual_device.process.private_folder import folders_place; print(folders_place())"
        environment = {**os.environ, "TMPDIR": short, "PYTHONPATH": os.pathsep.join(sys.path)}
        said = subprocess.run(
            [sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True
        )
        assert said.stdout.strip() == str(Path(short).resolve())
    assert folders_place().is_dir()


@pytest.mark.browser
async def test_a_failed_start_reports_the_fatal_line_of_chromium(long_folder: Path) -> None:
    profile = long_folder / "chromium"
    command = command_line(find_chromium(os.environ), profile, socks_port=None, user_agent="test")
    with pytest.raises(VirtualDeviceFailed, match=r":FATAL:.*Socket path too long: ") as failed:
        async with run_chromium(command, profile, timeout_s=30):
            pytest.fail("Chromium has started in a folder in which no socket fits")
    assert " / " not in failed.value.message

"""The reaper clears up whatever way the device's process ends, and touches nothing else."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

import pytest

from bridge.virtual_device.process.private_folder import is_our_folder, make_private_folder, remove_folder
from bridge.virtual_device.process.reaper import start_reaper

DEVICE = textwrap.dedent(
    """
    import subprocess, sys
    from bridge.virtual_device.process.reaper import start_reaper
    from bridge.virtual_device.process.private_folder import make_private_folder
    with start_reaper() as reaper:
        folder = make_private_folder()
        (folder / "profile").mkdir()
        child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], start_new_session=True)
        reaper.update(folder=folder, process_group=child.pid)
        print(reaper.pid, folder, child.pid, flush=True)
        sys.stdin.read()
    """
)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs pidfd_open to wait for a process of another parent")
@pytest.mark.parametrize("end", ["kill", "leave"])
def test_folder_and_processes_go_when_the_device_is_killed_or_leaves(end: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    device = subprocess.Popen(
        [sys.executable, "-c", DEVICE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert device.stdout is not None
    assert device.stdin is not None
    reaper, folder, child = device.stdout.readline().split()
    guarded, left = os.pidfd_open(int(reaper)), os.pidfd_open(int(child))
    if end == "kill":
        device.send_signal(signal.SIGKILL)
    else:
        device.stdin.close()
    device.wait(timeout=20)

    assert select.select([guarded], [], [], 20)[0]
    assert not Path(folder).exists()
    assert select.select([left], [], [], 20)[0]
    os.close(guarded)
    os.close(left)


def test_the_reaper_disconnects_the_serial_from_the_adb_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        seen: list[bytes] = []

        def serve() -> None:
            peer, _ = listener.accept()
            with peer:
                seen.append(peer.recv(100))
                peer.sendall(b"OKAY0000")

        server = threading.Thread(target=serve)
        server.start()
        with start_reaper() as reaper:
            reaper.update(adb_server=listener.getsockname(), serial="127.0.0.1:5555")
        server.join(timeout=30)
    assert seen == [b"001ehost:disconnect:127.0.0.1:5555"]


def test_facts_can_be_taken_back() -> None:
    folder = make_private_folder()
    try:
        with start_reaper() as reaper:
            reaper.update(folder=folder)
            reaper.forget("folder")
        assert folder.exists()
    finally:
        folder.rmdir()


def test_only_a_folder_that_a_device_made_is_removed(tmp_path: Path) -> None:
    ours = make_private_folder()
    link = Path(tempfile.gettempdir()).resolve() / "webview-device-link0000"
    link.symlink_to(tmp_path)
    nested = tmp_path / "webview-device-abcdefgh"
    nested.mkdir()
    try:
        for other in (tmp_path, nested, link, Path("/"), Path("webview-device-abcdefgh"), ours / ".."):
            assert not is_our_folder(other)
            remove_folder(other)
        assert nested.exists()
        assert link.is_symlink()
        assert is_our_folder(ours)
    finally:
        link.unlink()
        remove_folder(ours)
    assert not ours.exists()

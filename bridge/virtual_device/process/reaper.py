"""A process that clears up after a virtual device, also a killed one: `python -m bridge.virtual_device.process.reaper`.

It lives in its own session, and is fed JSON objects, one a line, over a pipe from the device's process; each may have
`folder` (the device's private folder), `process_group` (Chromium's), `app_groups`, `adb_server` ([host, port])
and `serial`; null takes a fact back. When the pipe ends, however the device's process ended, it kills the groups,
removes the folder, tells the adb server to disconnect the serial, and exits.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bridge.virtual_device.process.private_folder import remove_folder

_ADB_TIMEOUT_S = 3.0
_CLEAR_UP_S = 13.0


class Guardian:
    """The device's end of the pipe."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(
        self,
        *,
        folder: Path | None = None,
        process_group: int | None = None,
        adb_server: tuple[str, int] | None = None,
        serial: str | None = None,
        app_groups: list[int] | None = None,
    ) -> None:
        """Add facts; those not given stay as they were. A guardian that has died is not worth failing for."""
        facts: dict[str, Any] = {
            "folder": None if folder is None else str(folder),
            "process_group": process_group,
            "adb_server": adb_server,
            "serial": serial,
            "app_groups": app_groups,
        }
        self._write({name: value for name, value in facts.items() if value is not None})

    def forget(self, *names: str) -> None:
        """Take facts back, such as the process group of a Chromium that has been reaped."""
        self._write(dict.fromkeys(names))

    def _write(self, facts: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(facts).encode() + b"\n")
            self._process.stdin.flush()


@contextmanager
def start_guardian() -> Iterator[Guardian]:
    """Start a guardian; leaving the block ends the pipe, so that it clears up what is left, and waits for it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bridge.virtual_device.process.reaper"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # The package may be importable only from where we stand.
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},  # noqa: PTH109
    )
    assert process.stdin is not None
    try:
        yield Guardian(process)
    finally:
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(timeout=_CLEAR_UP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def kill_process_group(group: int) -> None:
    if sys.platform == "win32":
        taskkill = shutil.which("taskkill")
        if taskkill:
            subprocess.run([taskkill, "/F", "/T", "/PID", str(group)], check=False, capture_output=True)
        return
    if group > 1 and group != os.getpgrp():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def disconnect(host: str, port: int, serial: str) -> None:
    """Ask the adb server to forget a network device (AOSP packages/modules/adb SERVICES.TXT, host:disconnect)."""
    request = f"host:disconnect:{serial}".encode()
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=_ADB_TIMEOUT_S) as server:
        server.settimeout(_ADB_TIMEOUT_S)
        server.sendall(b"%04x" % len(request) + request)
        while server.recv(1024):
            pass


def clear_up(facts: dict[str, Any]) -> None:
    group, folder = facts.get("process_group"), facts.get("folder")
    for found in (group, *(facts.get("app_groups") or ())):
        if isinstance(found, int):
            kill_process_group(found)
    match facts.get("adb_server"), facts.get("serial"):
        case [str(host), int(port)], str(serial):
            disconnect(host, port, serial)
    if isinstance(folder, str):
        remove_folder(Path(folder))


def main() -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    facts: dict[str, Any] = {}
    for line in sys.stdin.buffer:
        with contextlib.suppress(ValueError):
            told = json.loads(line)
            if isinstance(told, dict):
                facts.update(told)
    clear_up(facts)


if __name__ == "__main__":
    main()

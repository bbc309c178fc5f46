"""A process that cleans up after a virtual device, even a killed one: `python -m bridge.virtual_device.process.reaper`.

It has its own session and reads JSON objects, one per line, from a pipe of the device's process. Each may have
`folder` (the device's private folder), `process_group` (Chromium's), `app_groups`, `adb_server` ([host, port])
and `serial`; null removes a fact. At the end of the pipe it kills the process groups, disconnects the serial from the
adb server, removes the folder and exits.
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
_CLEAN_UP_S = 13.0


class Reaper:
    """The writing end of the pipe."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    def update(
        self,
        *,
        folder: Path | None = None,
        process_group: int | None = None,
        adb_server: tuple[str, int] | None = None,
        serial: str | None = None,
        app_groups: list[int] | None = None,
    ) -> None:
        """Adds facts; those not given stay. Errors are ignored: a dead reaper must not stop the device."""
        facts: dict[str, Any] = {
            "folder": None if folder is None else str(folder),
            "process_group": process_group,
            "adb_server": adb_server,
            "serial": serial,
            "app_groups": app_groups,
        }
        self._write({name: value for name, value in facts.items() if value is not None})

    def forget(self, *names: str) -> None:
        """Removes facts, such as the process group of a Chromium that has ended."""
        self._write(dict.fromkeys(names))

    def _write(self, facts: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(facts).encode() + b"\n")
            self._process.stdin.flush()


@contextmanager
def start_reaper() -> Iterator[Reaper]:
    """Starts a reaper. The end of the block closes the pipe, so that it cleans up, and waits for it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bridge.virtual_device.process.reaper"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # The package may be importable only from the current directory.
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},  # noqa: PTH109
    )
    assert process.stdin is not None
    try:
        yield Reaper(process)
    finally:
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(timeout=_CLEAN_UP_S)
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
    """Makes the adb server forget a network device (AOSP packages/modules/adb SERVICES.TXT, host:disconnect)."""
    request = f"host:disconnect:{serial}".encode()
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=_ADB_TIMEOUT_S) as server:
        server.settimeout(_ADB_TIMEOUT_S)
        server.sendall(b"%04x" % len(request) + request)
        while server.recv(1024):
            pass


def clean_up(facts: dict[str, Any]) -> None:
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
            update = json.loads(line)
            if isinstance(update, dict):
                facts.update(update)
    clean_up(facts)


if __name__ == "__main__":
    main()

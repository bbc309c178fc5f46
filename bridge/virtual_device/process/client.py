"""Starts, finds and stops virtual devices, each a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.adb import AdbServer
from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, VirtualDeviceFailed
from bridge.host.filelock import try_lock
from bridge.virtual_device.device_options import DeviceOptions
from bridge.virtual_device.process import control
from bridge.virtual_device.process.main import RECORD_NAME
from bridge.virtual_device.process.private_folder import PREFIX, folders_place, is_our_folder

_STOP_S = 15.0
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class VirtualDeviceHandle:
    """A device in another process. A device that is not detached ends with the process that started it."""

    serial: str
    pid: int
    name: str
    control_path: str
    is_detached: bool = False

    async def status(self, *, timeout_s: float = 10.0) -> dict[str, Any]:
        """The device's status report."""
        return await control.ask(self.control_path, {"do": "status"}, timeout_s=timeout_s)

    async def fault(self, name: str, *, timeout_s: float = 30.0, **arguments: Any) -> None:
        """Injects a fault (see `VirtualDevice.fault`) and returns after it took effect."""
        request = {"do": "fault", "name": name, "arguments": arguments}
        await control.ask(self.control_path, request, timeout_s=timeout_s)


@asynccontextmanager
async def start_virtual_device(
    *,
    server: AdbServer,
    name: str | None = None,
    quirks: bool = True,
    idle_timeout_s: float = 300.0,
    api_level: int = 34,
    timeout_s: float = 30.0,
    authorize: str = "user",
    has_engine: bool = True,
    has_host_app: bool = True,
    engine: Mapping[str, Any] | None = None,
) -> AsyncIterator[VirtualDeviceHandle]:
    """A device that the adb server lists as `device`. It ends with the block, and also if this process is killed.

    Raises:
        VirtualDeviceFailed, ChromiumMissing, AdbUnavailable: It did not start.
    """
    options = DeviceOptions(
        name=name or f"virtual-{secrets.token_hex(3)}",
        adb_host=server.host,
        adb_port=server.port,
        api_level=api_level,
        authorize=authorize,
        quirks=quirks,
        idle_timeout_s=idle_timeout_s,
        has_engine=has_engine,
        has_host_app=has_host_app,
        engine=dict(engine or {}),
    )
    process, handle = await _start(options, timeout_s)
    try:
        yield handle
    finally:
        await finish(_end(process), at_most_s=_STOP_S + 5, what=f"stopping the virtual device {handle.name}")


async def start_detached(options: DeviceOptions, *, timeout_s: float = 30.0) -> VirtualDeviceHandle:
    """A device that outlives this process; `stop_virtual_device` ends it."""
    _, handle = await _start(options, timeout_s)
    return handle


def list_virtual_devices() -> tuple[VirtualDeviceHandle, ...]:
    """This user's devices, oldest first; each keeps a locked record in its own private folder.

    A record without a lock was left by a device that was killed together with its reaper.
    """
    found: list[tuple[float, VirtualDeviceHandle]] = []
    for folder in folders_place().glob(f"{PREFIX}*"):
        if not is_our_folder(folder):
            continue
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError), (folder / RECORD_NAME).open("r+") as record:
            if not try_lock(record):
                found.append((os.fstat(record.fileno()).st_mtime, _handle(json.load(record))))
    return tuple(handle for _, handle in sorted(found, key=lambda entry: entry[0]))


async def stop_virtual_device(handle: VirtualDeviceHandle, *, timeout_s: float = _STOP_S) -> None:
    """Ends the device and waits until its private folder is gone."""
    folder = Path(handle.control_path).parent
    deadline = Deadline.after(timeout_s)
    try:
        await control.ask(handle.control_path, {"do": "stop"}, timeout_s=deadline.remaining_s)
    except VirtualDeviceFailed:
        if not is_our_folder(folder):
            return  # already gone
        if handle not in list_virtual_devices():
            shutil.rmtree(folder, ignore_errors=True)  # its reaper is gone too, and its pid may have been reused
            return
        os.kill(handle.pid, signal.SIGKILL)
    async with deadline.bound(f"the end of virtual device {handle.name}", lambda: f"{folder} is still there"):
        while folder.exists():  # noqa: ASYNC110 - another process removes it without notice
            await asyncio.sleep(_POLL_S)


async def _start(options: DeviceOptions, timeout_s: float) -> tuple[subprocess.Popen[bytes], VirtualDeviceHandle]:
    deadline = Deadline.after(timeout_s)
    await AdbServer(options.adb_host, options.adb_port).ensure_running(timeout_s=timeout_s)
    process = _spawn()
    try:
        facts = await _startup_facts(process, options, deadline)
        handle = _handle(facts)
    except BaseException:
        await finish(_end(process), at_most_s=_STOP_S + 5, what="ending a virtual device that did not start")
        raise
    return process, handle


def _spawn() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "bridge.virtual_device"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C in a terminal goes to the parent, which shuts the device down
        # The package may be importable only from the current directory.
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
    )


async def _startup_facts(
    process: subprocess.Popen[bytes], options: DeviceOptions, deadline: Deadline
) -> dict[str, Any]:
    """The facts in the line that the device prints; raises the BridgeError that it reports, or VirtualDeviceFailed."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(options.to_json().encode() + b"\n")
        process.stdin.flush()
        if options.is_detached:
            process.stdin.close()
    async with deadline.bound(f"the start of virtual device {options.name}"):
        reader = asyncio.StreamReader()
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), process.stdout
        )
        try:
            line = await reader.readline()
        finally:
            pipe.close()
    try:
        facts = json.loads(line)
    except ValueError:
        raise VirtualDeviceFailed(f"The virtual device ended before it was ready: {_stderr_tail(process)}") from None
    if failure := facts.get("error"):
        raise _error(failure)
    assert isinstance(facts, dict)
    return facts


def _stderr_tail(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=2.0)
    if process.poll() is None:
        return "no output."
    return process.stderr.read()[-500:].decode("utf-8", "replace").strip() or f"exit status {process.returncode}."


def _error(failure: dict[str, Any]) -> BridgeError:
    kinds = {kind.code: kind for kind in _all_errors(BridgeError)}
    kind = kinds.get(str(failure.get("code")), VirtualDeviceFailed)
    try:
        return kind(str(failure.get("message")), hint=str(failure.get("hint", "")))
    except TypeError:  # the error takes other arguments
        return VirtualDeviceFailed(str(failure.get("message")), hint=str(failure.get("hint", "")))


def _all_errors(kind: type[BridgeError]) -> list[type[BridgeError]]:
    return [kind, *(below for child in kind.__subclasses__() for below in _all_errors(child))]


async def _end(process: subprocess.Popen[bytes]) -> None:
    """Closes the pipe that keeps the device alive, waits for its end, and kills it after a timeout."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    deadline = time.monotonic() + _STOP_S
    while process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
        await asyncio.sleep(_POLL_S)


def _handle(facts: Mapping[str, Any]) -> VirtualDeviceHandle:
    return VirtualDeviceHandle(
        serial=str(facts["serial"]),
        pid=int(facts["pid"]),
        name=str(facts["name"]),
        control_path=str(facts["control_path"]),
        is_detached=bool(facts.get("detached")),
    )

"""The process of a device: reads its options from standard input, prints one line of facts, then runs until stopped.

It ends at the end of standard input (unless the device is detached), on SIGTERM or SIGINT, and on `stop` over the
control socket. A reaper cleans up after it, however it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from bridge.errors import BridgeError, DeviceUnauthorized, UsageError, VirtualDeviceFailed
from bridge.host.filelock import try_lock
from bridge.virtual_device.device import EngineFactory, VirtualDevice, running_device
from bridge.virtual_device.device_options import DeviceOptions
from bridge.virtual_device.process.control import control_socket
from bridge.virtual_device.process.private_folder import make_private_folder
from bridge.virtual_device.process.reaper import Reaper, start_reaper

RECORD_NAME = "device.json"
CONTROL_NAME = "control"
LOG_NAME = "process.log"


def main(engine_factory: EngineFactory | None = None) -> int:
    """Runs one device; the exit status."""
    stdout = _take_stdout()
    try:
        options = DeviceOptions.from_json(sys.stdin.buffer.readline())
        with start_reaper() as reaper:
            folder = make_private_folder()
            reaper.update(folder=folder)
            _log_to(folder / LOG_NAME)
            asyncio.run(_live(options, folder, reaper, stdout, engine_factory))
    except BridgeError as error:
        _report(stdout, {"error": error.to_json()})
        return error.exit_code
    except Exception as error:
        logging.getLogger(__name__).exception("the device failed")
        _report(stdout, {"error": VirtualDeviceFailed(f"{type(error).__name__}: {error}").to_json()})
        return 1
    return 0


async def _live(
    options: DeviceOptions, folder: Path, reaper: Reaper, stdout: BinaryIO, engine_factory: EngineFactory | None
) -> None:
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(name, ending.set)
    if not options.is_detached:
        await _watch_parent(ending)

    async def answer(request: dict[str, Any]) -> dict[str, Any]:
        match request:
            case {"do": "status"}:
                return _facts(device, folder)
            case {"do": "stop"}:
                ending.set()
                return {}
            case {"do": "fault", "name": str(name)}:
                arguments = request.get("arguments", {})
                if not isinstance(arguments, dict):
                    raise UsageError("The arguments of a fault must be a JSON object.")
                await device.fault(name, arguments)
                return {}
        raise UsageError(f"unknown request {str(request.get('do'))[:40]!r}.")

    async with running_device(options, folder, engine_factory=engine_factory, reaper=reaper) as device:
        device.on_engine_end = ending.set
        reaper.update(adb_server=(options.adb_host, options.adb_port), serial=device.serial)
        async with control_socket(folder / CONTROL_NAME, answer):
            try:
                await device.join()
            except DeviceUnauthorized:
                if options.authorize == "user":
                    raise
            facts = _facts(device, folder)
            with _recorded(facts, folder / RECORD_NAME):
                _report(stdout, facts)
                await ending.wait()
        await device.leave()


@contextlib.contextmanager
def _recorded(facts: dict[str, Any], path: Path) -> Iterator[None]:
    """Keeps the record while the block runs. Its lock proves that the device runs: a pid may be reused."""
    fresh = path.with_suffix(".new")
    with fresh.open("w", encoding="utf-8") as file:
        try_lock(file)
        json.dump(facts, file)
        file.flush()
        fresh.rename(path)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _facts(device: VirtualDevice, folder: Path) -> dict[str, Any]:
    options = device.options
    return {
        "name": options.name,
        "serial": device.serial,
        "pid": os.getpid(),
        "control_path": str(folder / CONTROL_NAME),
        "adb_server": f"{options.adb_host}:{options.adb_port}",
        "api_level": options.api_level,
        "quirks": options.quirks,
        "detached": options.is_detached,
        "abstract_sockets": sorted(device.sockets.names()),
        "reverse": device.reverse.names(),
    }


async def _watch_parent(ending: asyncio.Event) -> None:
    """Sets the event at the end of standard input, when the parent closes the pipe or ends."""

    class ParentWatch(asyncio.Protocol):
        def eof_received(self) -> None:
            ending.set()

        def connection_lost(self, exc: Exception | None) -> None:
            ending.set()

    await asyncio.get_running_loop().connect_read_pipe(ParentWatch, sys.stdin.buffer)


def _take_stdout() -> BinaryIO:
    """Takes standard output; anything that prints from now on writes to standard error."""
    own = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return own


def _log_to(path: Path) -> None:
    logging.basicConfig(filename=path, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    with path.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)


def _report(stdout: BinaryIO, facts: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        stdout.write(json.dumps(facts).encode() + b"\n")
        stdout.close()

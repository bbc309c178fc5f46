"""A real adb server of our own, virtual devices that join it, and the real adb program to talk to them."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bridge.adb import AdbServer
from bridge.adb.program import find_adb_program
from bridge.virtual_device.device import VirtualDevice, running_device
from bridge.virtual_device.device_options import DeviceOptions
from bridge.virtual_device.process.client import VirtualDeviceHandle, start_detached, stop_virtual_device
from tests.temp_devices import own_adb_server


@dataclass(frozen=True)
class Adb:
    """The adb program, bound to one server and one device."""

    program: str
    port: int
    serial: str = ""

    def arguments(self, *words: str) -> list[str]:
        return [self.program, "-P", str(self.port), *(["-s", self.serial] if self.serial else []), *words]

    def __call__(self, *words: str, stdin: bytes = b"", timeout_s: float = 30) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(self.arguments(*words), input=stdin, capture_output=True, timeout=timeout_s, check=False)

    async def run(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return await asyncio.to_thread(self, *words, stdin=stdin)

    def shell(self, command: str) -> str:
        """Standard output of a device command that must succeed."""
        done = self("shell", command)
        assert done.returncode == 0, done
        return done.stdout.decode()


@pytest.fixture(scope="session")
def adb_server() -> Iterator[AdbServer]:
    with own_adb_server() as server:
        yield server


@pytest.fixture(scope="session")
def adb_program(adb_server: AdbServer) -> Adb:
    """adb, with no device chosen."""
    return Adb(str(asyncio.run(find_adb_program())), adb_server.port)


@pytest.fixture(scope="module")
def handle(adb_server: AdbServer) -> Iterator[VirtualDeviceHandle]:
    """A device without an engine, in a process of its own."""
    options = DeviceOptions("suite", adb_port=adb_server.port, has_engine=False, is_detached=True, boot_s=0.2)
    started = asyncio.run(start_detached(options))
    yield started
    asyncio.run(stop_virtual_device(started))


@pytest.fixture
def adb(adb_program: Adb, handle: VirtualDeviceHandle) -> Adb:
    """adb with that device chosen."""
    return Adb(adb_program.program, adb_program.port, handle.serial)


@pytest.fixture
async def device(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[VirtualDevice]:
    """A device inside this process, so that a test can listen on its sockets; the adb server lists it."""
    async with device_here(adb_server, tmp_path) as found:
        yield found


@asynccontextmanager
async def device_here(server: AdbServer, folder: Path, **changes: object) -> AsyncIterator[VirtualDevice]:
    options = DeviceOptions("here", adb_port=server.port, has_engine=False, **changes)  # type: ignore[arg-type]
    async with running_device(options, folder) as found:
        await found.join()
        try:
            yield found
        finally:
            await found.leave()


@pytest.fixture
def adb_here(adb_program: Adb, device: VirtualDevice) -> Adb:
    """adb with the device of this process chosen; only its `run` may be used, the device needs the loop."""
    return Adb(adb_program.program, adb_program.port, device.serial)

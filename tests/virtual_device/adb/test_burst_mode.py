"""Streams whose packets need not wait for each other: an adb server that was started with ADB_BURST_MODE=1."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bridge.adb import AdbServer
from bridge.adb.program import find_adb_program
from bridge.virtual_device.adb.streams import READ_AHEAD_BYTES
from bridge.virtual_device.android.sockets import StreamPair, stream_pair
from bridge.virtual_device.device import VirtualDevice
from tests.temp_devices import own_adb_server
from tests.virtual_device.conftest import Adb, device_here


@pytest.fixture(scope="module")
def burst_server() -> Iterator[AdbServer]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ADB_BURST_MODE", "1")
        with own_adb_server() as server:
            yield server


@pytest.fixture
async def device(burst_server: AdbServer, tmp_path: Path) -> AsyncIterator[VirtualDevice]:
    async with device_here(burst_server, tmp_path) as found:
        if not found.adbd.online[0].delays_acks:
            pytest.skip("this adb program has no burst mode")
        yield found


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
    writer.close()


async def exchanged(streams: StreamPair, body: bytes) -> bytes:
    reader, writer = streams
    writer.write(body)
    async with asyncio.timeout(60):
        found = await reader.readexactly(len(body))
    writer.close()
    return found


async def test_bytes_come_back_as_they_went(burst_server: AdbServer, device: VirtualDevice) -> None:
    """More than either side grants at once."""
    serving: list[asyncio.Task[None]] = []

    async def open_one() -> StreamPair:
        near, far = await stream_pair()
        serving.append(asyncio.ensure_future(echo(*far)))
        return near

    device.sockets.listen("echo", open_one, pid=4242)
    sock = await burst_server.device(device.serial).open_stream("localabstract:echo", timeout_s=10)
    body = os.urandom(3 * READ_AHEAD_BYTES)
    assert await exchanged(await asyncio.open_connection(sock=sock), body) == body


async def test_a_device_port_leads_to_this_machine(burst_server: AdbServer, device: VirtualDevice) -> None:
    adb = Adb(str(await find_adb_program()), burst_server.port, device.serial)
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    assert (await adb.run("reverse", "tcp:3000", f"tcp:{port}")).returncode == 0
    body = os.urandom(3 * READ_AHEAD_BYTES)
    assert await exchanged(await device.dial_loopback(3000), body) == body
    server.close()


async def test_files_and_commands_pass(burst_server: AdbServer, device: VirtualDevice, tmp_path: Path) -> None:
    adb = Adb(str(await find_adb_program()), burst_server.port, device.serial)
    body = os.urandom(2 * READ_AHEAD_BYTES)
    (tmp_path / "there").write_bytes(body)
    pushed = await adb.run("push", str(tmp_path / "there"), "/data/local/tmp/file")
    assert pushed.returncode == 0, pushed
    pulled = await adb.run("pull", "/data/local/tmp/file", str(tmp_path / "back"))
    assert pulled.returncode == 0, pulled
    assert (tmp_path / "back").read_bytes() == body
    assert (await adb.run("shell", "getprop ro.build.version.sdk")).stdout.strip() == b"34"

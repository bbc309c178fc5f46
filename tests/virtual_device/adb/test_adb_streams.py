"""Streams through the real adb server: to the device's abstract sockets, and back by reverse."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bridge.adb import AdbServer
from bridge.errors import ServiceRefused
from bridge.virtual_device.android.sockets import AddressInUse, StreamPair, stream_pair
from bridge.virtual_device.device import VirtualDevice
from tests.virtual_device.conftest import Adb, device_here

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def listen(device: VirtualDevice, name: str, serve: Serve) -> set[asyncio.Task[None]]:
    """Serves every connection to @name; the tasks that do."""
    tasks: set[asyncio.Task[None]] = set()

    async def open_one() -> StreamPair:
        near, far = await stream_pair()
        tasks.add(asyncio.ensure_future(serve(*far)))
        return near

    device.sockets.listen(name, open_one, pid=4242)
    return tasks


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65536):
        writer.write(chunk)
        await writer.drain()
    writer.close()


async def connect(server: AdbServer, device: VirtualDevice, service: str) -> StreamPair:
    sock = await server.device(device.serial).open_stream(service, timeout_s=10)
    return await asyncio.open_connection(sock=sock)


async def test_bytes_sent_to_a_listener_come_back(adb_server: AdbServer, device: VirtualDevice) -> None:
    listen(device, "echo", echo)
    reader, writer = await connect(adb_server, device, "localabstract:echo")
    body = os.urandom(3_000_000)
    writer.write(body)
    assert await asyncio.wait_for(reader.readexactly(len(body)), 20) == body
    writer.close()


async def test_the_listener_s_end_of_file_comes_after_its_last_byte(
    adb_server: AdbServer, device: VirtualDevice
) -> None:
    body = os.urandom(5_000_000)

    async def send_and_leave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(body)
        writer.close()

    listen(device, "once", send_and_leave)
    reader, writer = await connect(adb_server, device, "localabstract:once")
    assert await asyncio.wait_for(reader.read(), 20) == body
    writer.close()


async def test_the_client_s_end_reaches_the_listener_after_its_last_byte(
    adb_server: AdbServer, device: VirtualDevice
) -> None:
    got: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def collect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.set_result(await reader.read())
        writer.close()

    listen(device, "sink", collect)
    _reader, writer = await connect(adb_server, device, "localabstract:sink")
    body = os.urandom(2_000_000)
    writer.write(body)
    await writer.drain()
    writer.close()
    assert await asyncio.wait_for(got, 20) == body


async def test_a_name_without_a_listener_is_refused(adb_server: AdbServer, device: VirtualDevice) -> None:
    with pytest.raises(ServiceRefused):
        await connect(adb_server, device, "localabstract:nobody")


async def test_a_name_is_taken_once(device: VirtualDevice) -> None:
    listen(device, "webview_devtools_remote_4242", echo)
    with pytest.raises(AddressInUse, match="already listened on by pid 4242"):
        listen(device, "webview_devtools_remote_4242", echo)
    assert "@webview_devtools_remote_4242" in device.system.unix_sockets_table()
    device.sockets.close("webview_devtools_remote_4242")
    assert "@webview_devtools_remote_4242" not in device.system.unix_sockets_table()


async def test_an_unread_stream_does_not_block_others(
    adb_server: AdbServer, device: VirtualDevice, adb_here: Adb
) -> None:
    async def flood(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(bytes(100_000))
                await writer.drain()

    tasks = listen(device, "flood", flood)
    stuck, writer = await connect(adb_server, device, "localabstract:flood")
    await stuck.readexactly(1)
    done = await adb_here.run("shell", "echo alive")
    assert done.stdout == b"alive\n"
    writer.close()
    _, pending = await asyncio.wait(tasks, timeout=30)
    assert not pending, "the device's writer is let go when the client leaves"


async def test_twenty_streams_at_once_do_not_mix(adb_server: AdbServer, device: VirtualDevice) -> None:
    listen(device, "echo", echo)

    async def one() -> bool:
        reader, writer = await connect(adb_server, device, "localabstract:echo")
        body = os.urandom(200_000)
        writer.write(body)
        back = await reader.readexactly(len(body))
        writer.close()
        return hashlib.sha256(back).digest() == hashlib.sha256(body).digest()

    assert all(await asyncio.wait_for(asyncio.gather(*(one() for _ in range(20))), 30))


async def test_adb_forward_leads_to_the_listener(device: VirtualDevice, adb_here: Adb) -> None:
    listen(device, "echo", echo)
    port = int((await adb_here.run("forward", "tcp:0", "localabstract:echo")).stdout)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"hello")
    assert await asyncio.wait_for(reader.readexactly(5), 10) == b"hello"
    writer.close()
    assert (await adb_here.run("forward", "--remove", f"tcp:{port}")).returncode == 0


async def test_a_device_port_leads_to_this_machine_by_reverse(device: VirtualDevice, adb_here: Adb) -> None:
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    allocated = int((await adb_here.run("reverse", "tcp:0", f"tcp:{port}")).stdout)
    listed = (await adb_here.run("reverse", "--list")).stdout.decode()
    assert f" tcp:{allocated} tcp:{port}\n" in listed
    reader, writer = await device.dial_loopback(allocated)
    body = os.urandom(1_500_000)
    writer.write(body)
    assert await asyncio.wait_for(reader.readexactly(len(body)), 20) == body
    writer.close()
    await adb_here.run("reverse", "--remove", f"tcp:{allocated}")
    with pytest.raises(ConnectionRefusedError):
        await device.dial_loopback(allocated)
    server.close()


async def test_a_reverse_to_a_dead_port_is_refused(device: VirtualDevice, adb_here: Adb) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        await adb_here.run("reverse", "tcp:3000", f"tcp:{unused.getsockname()[1]}")
        with pytest.raises(ConnectionRefusedError):
            await asyncio.wait_for(device.dial_loopback(3000), 10)


async def test_reverses_can_be_removed_all_and_not_twice(device: VirtualDevice, adb_here: Adb) -> None:
    for local in ("tcp:3001", "tcp:3002"):
        await adb_here.run("reverse", local, "tcp:9")
    assert (await adb_here.run("reverse", "--no-rebind", "tcp:3001", "tcp:10")).returncode != 0
    await adb_here.run("reverse", "--remove-all")
    assert device.reverse.names() == {}
    assert (await adb_here.run("reverse", "--remove", "tcp:3001")).returncode != 0


async def test_the_host_app_s_service_gets_its_extras_and_its_end(device: VirtualDevice, adb_here: Adb) -> None:
    calls: list[object] = []

    async def start(extras: object) -> None:
        calls.append(extras)

    async def stop() -> None:
        calls.append("stopped")

    device.register_service("dev.webviewbridge.host/.HostService", start, stop)
    done = await adb_here.run(
        "shell",
        "am start-foreground-service --user 0 -n dev.webviewbridge.host/.HostService --es socket s1 --es token 'a b'",
    )
    assert done.returncode == 0, done
    await adb_here.run("shell", "am force-stop dev.webviewbridge.host")
    assert calls == [{"socket": "s1", "token": "a b"}, "stopped"]


async def test_a_slow_link_is_slow_and_still_right(adb_server: AdbServer, tmp_path: Path) -> None:
    async with device_here(adb_server, tmp_path) as device:
        listen(device, "echo", echo)
        await device.fault("slow_link", {"latency_ms": 40})
        reader, writer = await connect(adb_server, device, "localabstract:echo")
        loop = asyncio.get_running_loop()
        began = loop.time()
        writer.write(b"x")
        await reader.readexactly(1)
        assert loop.time() - began >= 0.08
        await device.fault("slow_link", {"bytes_per_s": 2_000_000})
        body = os.urandom(500_000)
        began = loop.time()
        writer.write(body)
        assert await reader.readexactly(len(body)) == body
        assert loop.time() - began >= 0.25
        await device.fault("straight_link", {})
        writer.close()

"""The end of a connection: what callers get, and that nothing is left."""

from __future__ import annotations

import asyncio
import socket
import struct
import time

import pytest
from devtools_peer import Devtools, answer_all, dial, read_command
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request

from bridge.cdp import open_cdp
from bridge.errors import TransportError


async def test_callers_get_the_close_reason_of_the_peer(devtools: Devtools) -> None:
    async def leave(websocket: ServerConnection) -> None:
        await read_command(websocket)
        await websocket.close(1001, "WebView is going")

    async with devtools(leave) as connection:
        with pytest.raises(TransportError, match=r"A\.b got no reply: .*code 1001 \(WebView is going\)"):
            await connection.call("A.b", timeout_s=20)
        assert connection.closed.is_set()
        with pytest.raises(TransportError, match="WebView is going"):
            connection.send("A.b")


async def test_callers_fail_at_once_when_the_socket_breaks(devtools: Devtools) -> None:
    async def break_off(websocket: ServerConnection) -> None:
        await read_command(websocket)
        sock: socket.socket = websocket.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        websocket.transport.abort()

    async with devtools(break_off) as connection:
        with pytest.raises(TransportError, match=r"A\.b got no reply"):
            await connection.call("A.b", timeout_s=20)


async def test_a_half_closed_socket_ends_the_connection(devtools: Devtools) -> None:
    async def stop_writing(websocket: ServerConnection) -> None:
        await read_command(websocket)
        websocket.transport.write_eof()
        await websocket.wait_closed()

    async with devtools(stop_writing) as connection:
        with pytest.raises(TransportError, match="without a closing handshake"):
            await connection.call("A.b", timeout_s=20)


async def test_a_message_that_is_not_cdp_ends_the_connection_with_its_text(devtools: Devtools) -> None:
    async def rant(websocket: ServerConnection) -> None:
        await websocket.send("what?")
        await websocket.wait_closed()

    async with devtools(rant) as connection:
        await asyncio.wait_for(connection.closed.wait(), 30)
        with pytest.raises(TransportError, match="what"):
            await connection.call("A.b", timeout_s=20)


async def test_closing_settles_the_calls_of_other_tasks(devtools: Devtools) -> None:
    heard = asyncio.Event()

    async def silent(websocket: ServerConnection) -> None:
        await read_command(websocket)
        heard.set()
        await websocket.wait_closed()

    async with devtools(silent) as connection:
        call = asyncio.create_task(connection.call("A.b", timeout_s=60))
        await asyncio.wait_for(heard.wait(), 30)
    with pytest.raises(TransportError, match="closed on this side"):
        await call


async def test_closing_with_a_reason_gives_callers_that_reason(devtools: Devtools) -> None:
    async with devtools(answer_all) as connection:
        connection.close("the device went away")
        with pytest.raises(TransportError, match="the device went away"):
            await connection.call("A.b", timeout_s=20)


async def test_nothing_is_written_after_closing(devtools: Devtools) -> None:
    came: list[str | bytes] = []

    async def note(websocket: ServerConnection) -> None:
        came.extend([message async for message in websocket])

    async with devtools(note) as connection:
        connection.send("Page.navigate", {"url": "https://example.com/"})
        connection.close("the tab was closed")
    assert came == []


async def test_closing_is_bounded_when_the_peer_does_not_respond() -> None:
    async def only_shake_hands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from websockets.server import ServerProtocol

        protocol = ServerProtocol()
        protocol.receive_data(await reader.readuntil(b"\r\n\r\n"))
        (request,) = protocol.events_received()
        assert isinstance(request, Request)
        protocol.send_response(protocol.accept(request))
        writer.writelines(protocol.data_to_send())
        await reader.read()
        writer.close()

    async with await asyncio.start_server(only_shake_hands, "127.0.0.1", 0) as listener:
        sock = await dial(listener.sockets[0].getsockname()[1])
        async with open_cdp(sock, "/x", timeout_s=20):
            started = time.monotonic()
        assert time.monotonic() - started < 20
    assert sock.fileno() == -1


async def test_the_callers_own_exception_is_not_replaced(devtools: Devtools) -> None:
    async def use() -> None:
        async with devtools(answer_all) as connection:
            await connection.call("A.b", timeout_s=20)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await use()


async def test_closing_leaves_neither_task_nor_socket(devtools: Devtools) -> None:
    async with serve(answer_all, "127.0.0.1", 0) as server:
        before = asyncio.all_tasks()
        sock = await dial(server.sockets[0].getsockname()[1])
        async with open_cdp(sock, "/x", timeout_s=20) as connection:
            await connection.call("A.b", timeout_s=20)
        ours = [task for task in asyncio.all_tasks() - before if task.get_name().startswith(("cdp", "finish"))]
    assert ours == []
    assert sock.fileno() == -1

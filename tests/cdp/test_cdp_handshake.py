"""The WebSocket handshake with a devtools server, and how it fails."""

from __future__ import annotations

import asyncio

import pytest
from devtools_peer import answer_all, dial
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from bridge.cdp import open_cdp
from bridge.errors import DeadlineExceeded, TransportError


async def test_a_refused_handshake_reports_the_status_and_closes_the_socket() -> None:
    def refuse(websocket: ServerConnection, request: Request) -> Response:
        return websocket.respond(404, "No such target id: X")

    async with serve(answer_all, "127.0.0.1", 0, process_request=refuse) as server:
        sock = await dial(server.sockets[0].getsockname()[1])
        with pytest.raises(TransportError, match="404 No such target id: X"):
            async with open_cdp(sock, "/devtools/page/X", timeout_s=20):
                pass
    assert sock.fileno() == -1


async def test_the_handshake_has_the_headers_that_a_webview_accepts() -> None:
    seen: list[Request] = []

    def note(websocket: ServerConnection, request: Request) -> None:
        seen.append(request)

    async with serve(answer_all, "127.0.0.1", 0, process_request=note) as server:
        sock = await dial(server.sockets[0].getsockname()[1])
        async with open_cdp(sock, "/devtools/page/X", timeout_s=20):
            pass
    (request,) = seen
    assert request.path == "/devtools/page/X"
    assert request.headers["Host"] == "localhost"
    assert "Origin" not in request.headers
    assert "Sec-WebSocket-Extensions" not in request.headers


async def test_a_handshake_with_a_frozen_peer_times_out() -> None:
    ended = asyncio.Event()

    async def freeze(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        ended.set()

    async with await asyncio.start_server(freeze, "127.0.0.1", 0) as listener:
        sock = await dial(listener.sockets[0].getsockname()[1])
        with pytest.raises(DeadlineExceeded, match="handshake with /x timed out"):
            async with open_cdp(sock, "/x", timeout_s=0.2):
                pass
        await asyncio.wait_for(ended.wait(), 30)
    assert sock.fileno() == -1


async def test_a_socket_that_closes_during_the_handshake_is_a_transport_error() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as listener:
        sock = await dial(listener.sockets[0].getsockname()[1])
        with pytest.raises(TransportError, match="handshake with /x failed"):
            async with open_cdp(sock, "/x", timeout_s=20):
                pass

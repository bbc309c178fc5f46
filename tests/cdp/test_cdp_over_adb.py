"""Socket options for the adb server: quick acknowledgements, and one packet for commands sent together."""

from __future__ import annotations

import fcntl
import socket
import struct
import sys
import termios
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from devtools_peer import answer_all
from websockets.asyncio.server import ServerConnection

from bridge.cdp import CdpConnection

Devtools = Callable[[Callable[[ServerConnection], Any]], AbstractAsyncContextManager[CdpConnection]]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these socket options are Linux's")
# Of `struct tcp_info` (linux/tcp.h), tcpi_data_segs_in.
_SEGMENTS_AT = 152


async def test_received_data_is_acknowledged_at_once(devtools: Devtools) -> None:
    peers: list[socket.socket] = []

    async def serve(websocket: ServerConnection) -> None:
        peers.append(websocket.transport.get_extra_info("socket"))
        await answer_all(websocket)

    async with devtools(serve) as connection:
        unacknowledged = []
        for _ in range(50):
            await connection.call("A.b", timeout_s=20)
            unacknowledged.append(_unacknowledged_bytes(peers[0]))
        assert unacknowledged == [0] * 50


async def test_commands_sent_together_share_a_segment(devtools: Devtools) -> None:
    peers: list[socket.socket] = []

    async def serve(websocket: ServerConnection) -> None:
        peers.append(websocket.transport.get_extra_info("socket"))
        await answer_all(websocket)

    async with devtools(serve) as connection:
        await connection.call("A.b", timeout_s=20)
        before = _segments(peers[0])
        for call in [connection.send("A.b", {"n": n}) for n in range(20)]:
            await call.result(timeout_s=20)
        assert _segments(peers[0]) - before == 1
        await connection.call("A.b", timeout_s=20)
        assert _segments(peers[0]) - before == 2


def _segments(sock: socket.socket) -> int:
    facts = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return int.from_bytes(facts[_SEGMENTS_AT : _SEGMENTS_AT + 4], sys.byteorder)


def _unacknowledged_bytes(sock: socket.socket) -> int:
    answer = fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, struct.pack("i", 0))
    return int(struct.unpack("i", answer)[0])

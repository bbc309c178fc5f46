"""What a peer that has Nagle's algorithm on, as the adb server has, waits for."""

from __future__ import annotations

import fcntl
import socket
import struct
import termios
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from devtools_peer import answer_all
from websockets.asyncio.server import ServerConnection

from bridge.cdp import CdpConnection

Devtools = Callable[[Callable[[ServerConnection], Any]], AbstractAsyncContextManager[CdpConnection]]

pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="Linux tells when it acknowledges")


async def test_what_has_been_taken_has_been_acknowledged_too(devtools: Devtools) -> None:
    peers: list[socket.socket] = []

    async def serve(websocket: ServerConnection) -> None:
        peers.append(websocket.transport.get_extra_info("socket"))
        await answer_all(websocket)

    async with devtools(serve) as connection:
        unacknowledged = []
        for _ in range(50):
            await connection.call("A.b", timeout_s=5)
            unacknowledged.append(_unacknowledged_bytes(peers[0]))
        assert unacknowledged == [0] * 50


def _unacknowledged_bytes(sock: socket.socket) -> int:
    answer = fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, struct.pack("i", 0))
    return int(struct.unpack("i", answer)[0])

"""The target list of an endpoint of another app, which may send anything."""

from __future__ import annotations

import asyncio
import socket

import pytest

from bridge.cdp.discovery import list_targets, read_package
from bridge.errors import DeadlineExceeded, TransportError


def talk() -> tuple[socket.socket, socket.socket]:
    near, far = socket.socketpair()
    near.setblocking(False)
    return near, far


@pytest.mark.parametrize("length", ["\u00b2", "1" * 5_000, "-1", "99999999999", ""])
async def test_an_invalid_content_length_is_a_transport_error(length: str) -> None:
    near, far = talk()
    with far:
        far.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n[]".encode("latin-1"))
        with pytest.raises(TransportError, match="invalid Content-Length"):
            await list_targets(near, timeout_s=20)


@pytest.mark.parametrize("ask", [list_targets, read_package])
async def test_a_silent_endpoint_times_out_and_a_closed_one_fails_at_once(ask: object) -> None:
    near, far = talk()
    with far, pytest.raises(DeadlineExceeded, match="devtools"):
        await ask(near, timeout_s=0.1)  # type: ignore[operator]
    near, far = talk()
    far.close()
    with pytest.raises(TransportError, match="closed the connection before it responded"):
        await ask(near, timeout_s=20)  # type: ignore[operator]


async def test_a_request_cancelled_at_once_leaves_no_socket() -> None:
    near, far = talk()
    with far:
        asking = asyncio.create_task(list_targets(near, timeout_s=20))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await asyncio.sleep(0)
        assert near.fileno() == -1

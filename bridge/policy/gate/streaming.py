"""Copies bytes between streams, framed by HTTP/1.1 or in a tunnel. Memory is bounded and every wait has a timeout."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import Coroutine, Iterator
from typing import Any

from bridge.policy.dialling import StreamPair
from bridge.policy.gate.http_messages import CHUNKED, UNTIL_CLOSE, InvalidMessage
from bridge.policy.traffic import Count, TransferCounts

#: Longest wait for a response, and longest pause in a body.
RESPONSE_TIMEOUT_S = 300.0
_PIECE_BYTES = 64 * 1024
_MAX_HEAD_BYTES = 64 * 1024
_MAX_CHUNK_LINE_BYTES = 4096
# Bytes of a chunked body that are read and not forwarded: trailers, and extensions beyond the size of the content.
_MAX_TRAILER_BYTES = 64 * 1024
_MAX_EXTENSION_BYTES = 64 * 1024
_TUNNEL_SILENCE_S = 3600.0
_HALF_CLOSED_S = 60.0
_LINGER_S = 2.0
_LINGER_BYTES = 64 * 1024 * 1024
_CORKED_S = 0.005


async def read_head(reader: asyncio.StreamReader, wait_s: float) -> bytes | None:
    """A head with its empty line; None if the peer closed the connection before the head, or sent none in `wait_s`."""
    try:
        async with asyncio.timeout(wait_s):
            head = await reader.readuntil(b"\r\n\r\n")
    except TimeoutError:
        return None
    except asyncio.IncompleteReadError as error:
        if error.partial.strip():
            raise InvalidMessage("the head is incomplete") from error
        return None
    except asyncio.LimitOverrunError as error:
        raise InvalidMessage("the head is too long") from error
    if len(head) > _MAX_HEAD_BYTES:
        raise InvalidMessage("the head is too long")
    return head.lstrip(b"\r\n")


async def copy_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: int, count: Count) -> None:
    """Copy a body by its framing; `count` is called with the size of each piece."""
    if body == UNTIL_CLOSE:
        await _copy_until_close(reader, writer, count)
    elif body == CHUNKED:
        await _copy_chunks(reader, writer, count)
    else:
        await _copy_exactly(reader, writer, body, count)


async def _copy_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: Count) -> None:
    """Copy a chunked body (RFC 9112 §7.1) without extensions and trailers, which a proxy may drop.

    Two readers may see different line ends in extensions, and no browser reads trailers.
    """
    extension_bytes = content_bytes = 0
    while True:
        received = await _chunk_line(reader)
        size_text = received.split(b";")[0].strip()
        if not size_text or len(size_text) > 15 or not set(size_text) <= set(b"0123456789abcdefABCDEF"):
            raise InvalidMessage("a chunk has no size")
        size = int(size_text, 16)
        line = b"%x\r\n" % size
        extension_bytes += len(received) - len(line)
        content_bytes += size
        if extension_bytes > _MAX_EXTENSION_BYTES + content_bytes:
            raise InvalidMessage("the chunk extensions are larger than the content")
        if size == 0:
            break
        writer.write(line)
        count(len(line))
        await _copy_exactly(reader, writer, size, count)
        if await _timely(reader.readexactly(2)) != b"\r\n":
            raise InvalidMessage("a chunk is longer than its size")
        writer.write(b"\r\n")
        count(2)
    trailer_bytes = 0
    while (trailer := await _chunk_line(reader)) != b"\r\n":
        trailer_bytes += len(trailer)
        if trailer_bytes > _MAX_TRAILER_BYTES:
            raise InvalidMessage("the trailers are too long")
    end = b"0\r\n\r\n"
    writer.write(end)
    await drain(writer)
    count(len(end))


async def _chunk_line(reader: asyncio.StreamReader) -> bytes:
    line = await _timely(reader.readuntil(b"\r\n"))
    if len(line) > _MAX_CHUNK_LINE_BYTES:
        raise InvalidMessage("a chunk's line is too long")
    return line


async def _copy_exactly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, size: int, count: Count) -> None:
    while size:
        piece = await _timely(reader.read(min(size, _PIECE_BYTES)))
        if not piece:
            raise InvalidMessage("the body is incomplete")
        size -= len(piece)
        writer.write(piece)
        await drain(writer)
        count(len(piece))


async def _copy_until_close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: Count) -> None:
    while piece := await _timely(reader.read(_PIECE_BYTES)):
        writer.write(piece)
        await drain(writer)
        count(len(piece))


async def _timely(reading: Coroutine[Any, Any, bytes]) -> bytes:
    async with asyncio.timeout(RESPONSE_TIMEOUT_S):
        return await reading


async def drain(writer: asyncio.StreamWriter) -> None:
    async with asyncio.timeout(RESPONSE_TIMEOUT_S):
        await writer.drain()


@contextlib.contextmanager
def corked(writer: asyncio.StreamWriter) -> Iterator[None]:
    """Send what is written in the block, up to a short time, in as few packets as possible (TCP_CORK).

    adb sends the first piece of a response as a packet of its own, and the next piece waits until the device has
    acknowledged it. A head that is sent before its body would cost a round trip over the cable.
    """
    sock = writer.get_extra_info("socket")
    if sys.platform != "linux" or sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        yield
        return

    def hold(held: bool) -> None:
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, int(held))

    hold(True)
    timer = asyncio.get_running_loop().call_later(_CORKED_S, hold, False)
    try:
        yield
    finally:
        timer.cancel()
        hold(False)


async def send_and_linger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, response: bytes) -> None:
    """Send the last response of a connection and give the peer time to read it (RFC 9112 §9.6).

    Closing with unread input resets the connection, and the peer may see the reset before the response.
    """
    writer.write(response)
    with contextlib.suppress(ConnectionError, TimeoutError):
        await drain(writer)
        if writer.can_write_eof():
            writer.write_eof()
        async with asyncio.timeout(_LINGER_S):
            left = _LINGER_BYTES
            while left > 0 and (piece := await reader.read(_PIECE_BYTES)):
                left -= len(piece)


async def splice(client: StreamPair, server: StreamPair, counts: TransferCounts) -> None:
    """Copy in both directions until both have ended, or one has ended and the other is silent."""
    directions = {
        asyncio.ensure_future(_pump(client[0], server[1], counts.sent)),
        asyncio.ensure_future(_pump(server[0], client[1], counts.received)),
    }
    try:
        await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        before = -1
        while any(not direction.done() for direction in directions) and counts.bytes_both != before:
            before = counts.bytes_both
            await asyncio.wait(directions, timeout=_HALF_CLOSED_S)
    finally:
        for direction in directions:
            direction.cancel()
        await asyncio.gather(*directions, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: Count) -> None:
    with contextlib.suppress(ConnectionError, TimeoutError):
        while True:
            async with asyncio.timeout(_TUNNEL_SILENCE_S):
                piece = await reader.read(_PIECE_BYTES)
            if not piece:
                break
            count(len(piece))
            writer.write(piece)
            await drain(writer)
        if writer.can_write_eof():
            writer.write_eof()
        return
    writer.close()

"""Joins an ADB stream and a local socket."""

from __future__ import annotations

import asyncio
import contextlib

from bridge.virtual_device.adb.packets import MAX_PAYLOAD
from bridge.virtual_device.adb.streams import Stream
from bridge.virtual_device.android import StreamPair


async def splice(stream: Stream, pair: StreamPair) -> None:
    """Copies both ways until either side ends; bytes written before that still arrive. Closes both."""
    reader, writer = pair
    inward = asyncio.ensure_future(_to_socket(stream, writer))
    outward = asyncio.ensure_future(_to_stream(reader, stream))
    try:
        await asyncio.wait((inward, outward), return_when=asyncio.FIRST_COMPLETED)
        if outward.done():
            stream.close()  # ADB has no half-close: end of file closes the stream after the bytes written before
    finally:
        inward.cancel()
        outward.cancel()
        await asyncio.gather(inward, outward, return_exceptions=True)
        stream.close()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _to_socket(stream: Stream, writer: asyncio.StreamWriter) -> None:
    while chunk := await stream.read():
        writer.write(chunk)
        await writer.drain()


async def _to_stream(reader: asyncio.StreamReader, stream: Stream) -> None:
    """Reads only after the previous packet was acknowledged, so that bytes that gathered go out as one packet, as
    from adbd (AOSP packages/modules/adb, sockets.cpp, `local_socket_flush_outgoing`)."""
    while True:
        await stream.ready()
        if not (chunk := await reader.read(MAX_PAYLOAD)):
            return
        await stream.write(chunk)

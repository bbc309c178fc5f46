"""Joins an ADB stream and a socket of this machine until either side ends."""

from __future__ import annotations

import asyncio
import contextlib

from bridge.virtual_device.adb.packets import MAX_PAYLOAD
from bridge.virtual_device.adb.streams import Stream
from bridge.virtual_device.android import StreamPair


async def splice(stream: Stream, pair: StreamPair) -> None:
    """Carries bytes both ways; what was written before an end still arrives. Closes both."""
    reader, writer = pair
    inward = asyncio.ensure_future(_to_socket(stream, writer))
    outward = asyncio.ensure_future(_to_stream(reader, stream))
    try:
        await asyncio.wait((inward, outward), return_when=asyncio.FIRST_COMPLETED)
        if outward.done():
            stream.close()  # ADB has no half-close: our end of file ends the stream, after what was written
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
    """Read only when the packet before has been taken, and then all that is there: what gathers meanwhile goes out as
    one, as from adbd (AOSP packages/modules/adb, sockets.cpp, `local_socket_flush_outgoing`)."""
    while True:
        await stream.ready()
        if not (chunk := await reader.read(MAX_PAYLOAD)):
            return
        await stream.write(chunk)

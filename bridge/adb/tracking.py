"""Tracks the server's device list."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

from bridge.adb.failures import server_failures
from bridge.adb.smart_socket import Cutter, DeviceEntry, Refused, block, parse_devices
from bridge.adb.stream import AdbStream, StreamClosed, connect_adb_stream
from bridge.deadline import Deadline
from bridge.errors import AdbUnavailable

# A live server replies at once, however long the tracking lasts.
_SUBSCRIBE_S = 10.0


@asynccontextmanager
async def track_devices(host: str, port: int, address: str, deadline: Deadline) -> AsyncIterator[DeviceTracker]:
    """See AdbServer.track."""
    with server_failures(address):
        stream = await _subscribe(host, port, address, Deadline.after(min(deadline.remaining_s, _SUBSCRIBE_S)))
    async with DeviceTracker(stream, address, deadline) as tracker:
        yield tracker


class DeviceTracker:
    """An iterator of device lists; cancelling a wait loses no list.

    Attributes:
        latest: The last list, () before the first.
    """

    def __init__(self, stream: AdbStream, address: str, deadline: Deadline) -> None:
        self.latest: tuple[DeviceEntry, ...] = ()
        self._socket = stream.detach()
        self._address = address
        self._deadline = deadline
        self._cutter = Cutter(block())

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(sock=self._socket)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.transport.abort()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[DeviceEntry, ...]:
        with server_failures(self._address):
            async with self._deadline.bound("watching the device list", self._quote):
                while self._cutter.missing_bytes:
                    piece = await self._read()
                    self._cutter.feed(piece)
        self.latest = parse_devices(self._cutter.value.decode("utf-8", "replace"))
        self._cutter = Cutter(block())
        return self.latest

    async def _read(self) -> bytes:
        try:
            piece = await self._reader.read(self._cutter.missing_bytes)
        except OSError as error:
            raise StreamClosed(f"{error.strerror or error} while tracking devices") from error
        if not piece:
            raise StreamClosed("it stopped tracking devices")
        return piece

    def _quote(self) -> str:
        return ", ".join(f"{entry.serial} {entry.state}" for entry in self.latest) or "no device"


async def _subscribe(host: str, port: int, address: str, deadline: Deadline) -> AdbStream:
    """A connection that sends the lists, in the short form from servers before 1.0.40."""
    reason = ""
    for service in ("host:track-devices-l", "host:track-devices"):
        stream: AdbStream | None = None
        try:
            async with deadline.bound(service):
                stream = await connect_adb_stream(host, port)
                await stream.request(service)
            return stream
        except BaseException as error:
            if stream:
                stream.close()
            if not isinstance(error, Refused):
                raise
            reason = error.reason
    raise AdbUnavailable(f"The adb server at {address} does not track devices: {reason}", address=address)

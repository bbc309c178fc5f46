"""One stream of an ADB transport: ordered bytes both ways, with the protocol's own flow control.

After a WRTE the sender waits for an OKAY (`protocol.txt`). With the feature `delayed_ack` (an adb server started with
ADB_BURST_MODE=1) it may have as many bytes in flight as the peer granted. The first grant is in `arg1` of OPEN or the
OKAY to it; each later OKAY grants as many bytes as the peer consumed (`sockets.cpp`, `local_socket_ack`). ADB has
no half-close: CLSE ends both directions, after the bytes written before it.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from typing import TYPE_CHECKING

from bridge.virtual_device.adb.packets import MAX_PAYLOAD, MalformedPacket, PacketCommand

if TYPE_CHECKING:
    from bridge.virtual_device.adb.transport import Transport

READ_AHEAD_BYTES = 2 * MAX_PAYLOAD
_GRANT = struct.Struct("<i")  # it may be negative


def grant(count: int) -> bytes:
    """The payload of an OKAY that grants that many more bytes."""
    return _GRANT.pack(count)


def granted(payload: bytes) -> int:
    """The number of bytes that an OKAY grants.

    Raises:
        MalformedPacket: The payload is not a grant.
    """
    if len(payload) != _GRANT.size:
        raise MalformedPacket(f"an OKAY with {len(payload)} bytes is not a grant")
    return int(_GRANT.unpack(payload)[0])


class Stream:
    """One stream: bytes from and to the client of a service."""

    def __init__(self, transport: Transport, local_id: int, remote_id: int, *, window: int | None = None) -> None:
        """`window` is the peer's grant, None without `delayed_ack`; the peer was granted READ_AHEAD_BYTES."""
        self.local_id = local_id
        self.remote_id = remote_id
        self._transport = transport
        self._inbox: deque[bytes] = deque()
        self._inbox_bytes = 0
        self._unread_bytes = 0  # put back after it was granted
        self._owes_okay = False
        self._may_send = 1 if window is None else window
        self._has_window = window is not None
        self._may_receive = READ_AHEAD_BYTES
        self._is_closed = False
        self._changed = asyncio.Event()

    async def read(self) -> bytes:
        """Reads at least one byte; b"" at the end of the stream."""
        while not self._inbox:
            if self._is_closed:
                return b""
            await self._wait()
        chunk = self._inbox.popleft()
        self._inbox_bytes -= len(chunk)
        if self._has_window:
            self._grant(len(chunk))
        else:
            self._acknowledge()
        return chunk

    async def read_exactly(self, count: int) -> bytes:
        """Reads exactly that many bytes.

        Raises:
            EOFError: The stream ended early.
        """
        parts: list[bytes] = []
        missing = count
        while missing:
            chunk = await self.read()
            if not chunk:
                raise EOFError(f"stream ended {missing} bytes early")
            if len(chunk) > missing:
                self._unread(chunk[missing:])
                chunk = chunk[:missing]
            parts.append(chunk)
            missing -= len(chunk)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def ready(self) -> None:
        """Waits until the peer acknowledged everything sent, so that the next write leaves at once.

        Raises:
            ConnectionResetError: The stream is closed.
        """
        while self._may_send <= 0 and not self._is_closed:
            await self._wait()
        if self._is_closed:
            raise ConnectionResetError("the stream is closed")

    async def write(self, body: bytes | bytearray | memoryview) -> None:
        """Sends everything, subject to the peer's flow control.

        Raises:
            ConnectionResetError: The stream is closed.
        """
        # Avoids a copy where everything fits into one packet.
        view = body if isinstance(body, bytes) and len(body) <= self._transport.max_payload else memoryview(body)
        while view:
            await self.ready()
            part, view = view[: self._transport.max_payload], view[self._transport.max_payload :]
            self._may_send = self._may_send - len(part) if self._has_window else 0
            self._transport.send(PacketCommand.WRTE, self.local_id, self.remote_id, part)
            await self._transport.drain()

    def close(self) -> None:
        """Closes the stream; the peer still gets the bytes written before. Safe to repeat."""
        if not self._is_closed:
            self._transport.send(PacketCommand.CLSE, self.local_id, self.remote_id)
            self.on_closed()
            self._transport.forget(self)

    def on_write(self, payload: bytes) -> None:
        """Handles WRTE."""
        if self._is_closed:
            return
        if self._owes_okay or (self._has_window and self._may_receive <= 0):
            raise MalformedPacket("the peer wrote without waiting for OKAY")
        if payload:
            self._inbox.append(payload)
            self._inbox_bytes += len(payload)
        if self._has_window:
            self._may_receive -= len(payload)  # the last packet may exceed the grant
        else:
            self._owes_okay = True
            self._acknowledge()
        self._changed.set()

    def on_okay(self, payload: bytes = b"") -> None:
        """Handles OKAY: the peer consumed bytes."""
        self._may_send = self._may_send + granted(payload) if self._has_window else 1
        self._changed.set()

    def on_closed(self) -> None:
        """Handles CLSE or the loss of the transport. Bytes that arrived before can still be read."""
        self._is_closed = True
        self._changed.set()

    def _unread(self, chunk: bytes) -> None:
        self._inbox.appendleft(chunk)
        self._inbox_bytes += len(chunk)
        self._unread_bytes += len(chunk)

    def _grant(self, count: int) -> None:
        """Grants as many bytes as were read, except for those put back after they were granted."""
        granted_before = min(count, self._unread_bytes)
        self._unread_bytes -= granted_before
        if count > granted_before and not self._is_closed:
            self._may_receive += count - granted_before
            self._transport.send(PacketCommand.OKAY, self.local_id, self.remote_id, grant(count - granted_before))

    def _acknowledge(self) -> None:
        """Acknowledges early while there is room, so that the next packet travels while this one is processed."""
        if self._owes_okay and not self._is_closed and self._inbox_bytes <= READ_AHEAD_BYTES:
            self._owes_okay = False
            self._transport.send(PacketCommand.OKAY, self.local_id, self.remote_id)

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()

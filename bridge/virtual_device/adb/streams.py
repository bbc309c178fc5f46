"""One stream of an ADB transport: ordered bytes both ways, with the protocol's own flow control.

After a WRTE the sender waits for an OKAY (`protocol.txt`). With the feature `delayed_ack`, which an adb server has that
was started with ADB_BURST_MODE=1, it may send on until as many bytes are under way as were granted: each side's first
grant is in OPEN's `arg1` and in the OKAY to it, and each later OKAY grants as many again as have been taken
(`sockets.cpp`, `local_socket_ack`). ADB has no half-close: CLSE ends both directions, after what was written before it.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from typing import Protocol

from bridge.virtual_device.adb.packets import MAX_PAYLOAD, Command, MalformedPacket

READ_AHEAD_BYTES = 2 * MAX_PAYLOAD
_GRANT = struct.Struct("<i")  # it may be negative


def grant(count: int) -> bytes:
    """The payload of an OKAY that grants so many bytes more."""
    return _GRANT.pack(count)


def granted(payload: bytes) -> int:
    """How many bytes more an OKAY grants.

    Raises:
        MalformedPacket: It does not say.
    """
    if len(payload) != _GRANT.size:
        raise MalformedPacket(f"an OKAY with {len(payload)} bytes, where it grants a window")
    return int(_GRANT.unpack(payload)[0])


class PacketSender(Protocol):
    """What a stream needs of its transport."""

    max_payload: int

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes | memoryview = b"") -> None: ...

    async def drain(self) -> None: ...

    def forget(self, stream: Stream) -> None: ...


class Stream:
    """Bytes to and from the adb server's side of one service."""

    def __init__(self, transport: PacketSender, local_id: int, remote_id: int, *, window: int | None = None) -> None:
        """`window` is what the other side has granted, None without `delayed_ack`; it was granted READ_AHEAD_BYTES."""
        self.local_id = local_id
        self.remote_id = remote_id
        self._transport = transport
        self._inbox: deque[bytes] = deque()
        self._inbox_bytes = 0
        self._unread_bytes = 0  # put back, and granted before
        self._owes_okay = False
        self._may_send = 1 if window is None else window
        self._has_window = window is not None
        self._may_receive = READ_AHEAD_BYTES
        self._is_closed = False
        self._changed = asyncio.Event()

    async def read(self) -> bytes:
        """What has arrived, at least one byte; b"" once the other side has closed and everything was read."""
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
        """Exactly that many bytes.

        Raises:
            EOFError: The stream ended before.
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
        """Wait until the other side has taken what was sent: what is written then leaves at once.

        Raises:
            ConnectionResetError: The stream is closed.
        """
        while self._may_send <= 0 and not self._is_closed:
            await self._wait()
        if self._is_closed:
            raise ConnectionResetError("the stream is closed")

    async def write(self, body: bytes | bytearray | memoryview) -> None:
        """Sends everything, waiting for the other side's flow control.

        Raises:
            ConnectionResetError: The stream is closed.
        """
        # What fits into one packet is not copied once more.
        view = body if isinstance(body, bytes) and len(body) <= self._transport.max_payload else memoryview(body)
        while view:
            await self.ready()
            part, view = view[: self._transport.max_payload], view[self._transport.max_payload :]
            self._may_send = self._may_send - len(part) if self._has_window else 0
            self._transport.send(Command.WRTE, self.local_id, self.remote_id, part)
            await self._transport.drain()

    def close(self) -> None:
        """Tells the other side that nothing more comes; it gets what was written before. Safe to repeat."""
        if not self._is_closed:
            self._transport.send(Command.CLSE, self.local_id, self.remote_id)
            self.on_closed()
            self._transport.forget(self)

    def on_write(self, payload: bytes) -> None:
        """A WRTE arrived."""
        if self._is_closed:
            return
        if self._owes_okay or (self._has_window and self._may_receive <= 0):
            raise MalformedPacket("the peer wrote without waiting for OKAY")
        if payload:
            self._inbox.append(payload)
            self._inbox_bytes += len(payload)
        if self._has_window:
            self._may_receive -= len(payload)  # the last packet may go beyond what was granted
        else:
            self._owes_okay = True
            self._acknowledge()
        self._changed.set()

    def on_okay(self, payload: bytes = b"") -> None:
        """An OKAY arrived: the peer took what it had been sent."""
        self._may_send = self._may_send + granted(payload) if self._has_window else 1
        self._changed.set()

    def on_closed(self) -> None:
        """The peer closed, or the transport is gone. What arrived before can still be read."""
        self._is_closed = True
        self._changed.set()

    def _unread(self, chunk: bytes) -> None:
        self._inbox.appendleft(chunk)
        self._inbox_bytes += len(chunk)
        self._unread_bytes += len(chunk)

    def _grant(self, count: int) -> None:
        """Let the peer send as much again as was read, but for what had been put back and was granted before."""
        granted_before = min(count, self._unread_bytes)
        self._unread_bytes -= granted_before
        if count > granted_before and not self._is_closed:
            self._may_receive += count - granted_before
            self._transport.send(Command.OKAY, self.local_id, self.remote_id, grant(count - granted_before))

    def _acknowledge(self) -> None:
        """OKAY early while there is room, so that the peer's next packet is under way while this one is worked on."""
        if self._owes_okay and not self._is_closed and self._inbox_bytes <= READ_AHEAD_BYTES:
            self._owes_okay = False
            self._transport.send(Command.OKAY, self.local_id, self.remote_id)

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()

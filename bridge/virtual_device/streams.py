"""One stream of an ADB transport: ordered bytes both ways, with the protocol's own flow control.

Classic flow control (`protocol.txt`): after a WRTE the sender waits for an OKAY. With `delayed_ack`
(AOSP `docs/dev/delayed_ack.md`) the sender may have a window of unacknowledged bytes under way instead; OKAY then carries
the number of bytes taken, as a little-endian i32. ADB has no half-close: CLSE ends both directions, after what was
written before it.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from typing import Protocol

from bridge.virtual_device.packets import MAX_PAYLOAD, Command, MalformedPacket

READ_AHEAD_BYTES = 2 * MAX_PAYLOAD
DELAYED_ACK_WINDOW_BYTES = 8 * MAX_PAYLOAD

_I32 = struct.Struct("<i")


class PacketSender(Protocol):
    """What a stream needs of its transport."""

    max_payload: int

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes | memoryview = b"") -> None: ...

    async def drain(self) -> None: ...

    def forget(self, stream: Stream) -> None: ...


class Stream:
    """Bytes to and from the adb server's side of one service."""

    def __init__(self, transport: PacketSender, local_id: int, remote_id: int, send_window: int | None) -> None:
        self.local_id = local_id
        self.remote_id = remote_id
        self._transport = transport
        self._inbox: deque[bytes] = deque()
        self._inbox_bytes = 0
        self._unacked = 0  # bytes (delayed) or packets (classic) taken in, for which no OKAY went out yet
        self._window = send_window
        self._is_ready = send_window is None or send_window > 0
        self._is_closed = False
        self._changed = asyncio.Event()

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    async def read(self) -> bytes:
        """What has arrived, at least one byte; b"" once the other side has closed and everything was read."""
        while not self._inbox:
            if self._is_closed:
                return b""
            await self._wait()
        chunk = self._inbox.popleft()
        self._inbox_bytes -= len(chunk)
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

    async def write(self, body: bytes | bytearray | memoryview) -> None:
        """Sends everything, waiting for the other side's flow control.

        Raises:
            ConnectionResetError: The stream is closed.
        """
        view = memoryview(body)
        while view:
            while not self._is_ready:
                if self._is_closed:
                    break
                await self._wait()
            if self._is_closed:
                raise ConnectionResetError("the stream is closed")
            part, view = view[: self._transport.max_payload], view[self._transport.max_payload :]
            if self._window is None:
                self._is_ready = False
            else:
                self._window -= len(part)
                self._is_ready = self._window > 0
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
        limit = READ_AHEAD_BYTES + MAX_PAYLOAD if self._window is None else DELAYED_ACK_WINDOW_BYTES + MAX_PAYLOAD
        if self._inbox_bytes + len(payload) > limit:
            raise MalformedPacket("the peer wrote without waiting for OKAY")
        if payload:
            self._inbox.append(payload)
            self._inbox_bytes += len(payload)
        self._unacked += 1 if self._window is None else len(payload)
        self._acknowledge()
        self._changed.set()

    def on_okay(self, payload: bytes) -> None:
        """An OKAY arrived: the peer took what it had been sent."""
        if self._window is None:
            self._is_ready = True
        else:
            if len(payload) != 4:
                raise MalformedPacket(f"OKAY with {len(payload)} bytes although delayed_ack was agreed")
            self._window += _I32.unpack(payload)[0]
            self._is_ready = self._window > 0
        self._changed.set()

    def on_closed(self) -> None:
        """The peer closed, or the transport is gone. What arrived before can still be read."""
        self._is_closed = True
        self._changed.set()

    def _unread(self, chunk: bytes) -> None:
        self._inbox.appendleft(chunk)
        self._inbox_bytes += len(chunk)

    def _acknowledge(self) -> None:
        """OKAY early while there is room, so that the peer's next packet is under way while this one is worked on."""
        if not self._unacked or self._is_closed or self._inbox_bytes > READ_AHEAD_BYTES:
            return
        taken = b"" if self._window is None else _I32.pack(self._unacked)
        self._unacked = 0
        self._transport.send(Command.OKAY, self.local_id, self.remote_id, taken)

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()

"""One connection of an adb server: handshake, then many streams.

Source: AOSP packages/modules/adb, `protocol.txt`, `adb.cpp` (`handle_packet`), `sockets.cpp`.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from bridge.virtual_device.adb import auth
from bridge.virtual_device.adb.packets import (
    MAX_PAYLOAD,
    MAX_PAYLOAD_BEFORE_CONNECT,
    VERSION,
    MalformedPacket,
    Packet,
    PacketCommand,
    PacketDecoder,
    encode_header,
)
from bridge.virtual_device.adb.slow_link import Lane, LinkShape
from bridge.virtual_device.adb.streams import READ_AHEAD_BYTES, Stream, grant, granted

if TYPE_CHECKING:
    from bridge.virtual_device.adb.adbd import Adbd

logger = logging.getLogger(__name__)

Handler = Callable[[Stream], Awaitable[None]]

MAX_STREAMS = 1024
MAX_AUTH_ROUNDS = 64
_SMALL_PAYLOAD_BYTES = 16 * 1024
_WRITE_HIGH_WATER_BYTES = 2 * MAX_PAYLOAD


#: The feature that lets packets of a stream follow each other before they are acknowledged.
DELAYED_ACK = "delayed_ack"


class ServiceUnavailable(Exception):
    """The service does not exist or is not available; the peer gets CLSE."""


class Transport(asyncio.Protocol):
    """One connection of an adb server.

    Attributes:
        delays_acks: Whether both sides have `delayed_ack`.
    """

    def __init__(self, adbd: Adbd) -> None:
        self.max_payload = MAX_PAYLOAD_BEFORE_CONNECT
        self.is_online = False
        self.delays_acks = False
        self._adbd = adbd
        self._wire: asyncio.Transport | None = None
        self._decoder = PacketDecoder(MAX_PAYLOAD_BEFORE_CONNECT)
        self._token = b""
        self._auth_rounds = 0
        self._streams: dict[int, Stream] = {}
        self._pending: dict[int, asyncio.Future[Stream]] = {}
        self._ids = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._can_write = asyncio.Event()
        self._can_write.set()
        self._in = Lane(self._take, self._hold_reading)
        self._out = Lane(self._put, self._hold_writing)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._wire = transport
        transport.set_write_buffer_limits(high=_WRITE_HIGH_WATER_BYTES)
        self.shape(self._adbd.link_shape)
        self._adbd.on_connected(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._wire = None
        self.is_online = False
        self._in.close()
        self._out.close()
        self._can_write.set()
        for stream in tuple(self._streams.values()):
            stream.on_closed()
        self._streams.clear()
        for pending in self._pending.values():
            if not pending.done():
                pending.set_exception(ConnectionResetError("the adb connection is gone"))
        self._pending.clear()
        for task in self._tasks:
            task.cancel()
        self._adbd.on_disconnected(self)

    def data_received(self, data: bytes) -> None:
        self._in.put(data)

    def pause_writing(self) -> None:
        self._can_write.clear()

    def resume_writing(self) -> None:
        self._can_write.set()

    def shape(self, shape: LinkShape) -> None:
        """Applies the shape from the next chunk on."""
        self._in.shape = self._out.shape = shape

    def block(self, blocked: bool) -> None:
        """Neither reads nor writes packets until it is called with False."""
        self._hold_reading(blocked)
        self._hold_writing(blocked)

    def send(self, command: PacketCommand, arg0: int, arg1: int, payload: bytes | memoryview = b"") -> None:
        """Queues one packet. Does nothing once the connection is closed."""
        header = encode_header(command, arg0, arg1, len(payload))
        if len(payload) <= _SMALL_PAYLOAD_BYTES:
            self._out.put(header + bytes(payload))
        else:
            self._out.put(header)
            self._out.put(bytes(payload))

    async def drain(self) -> None:
        """Waits while the connection's buffer is full."""
        await self._can_write.wait()

    def forget(self, stream: Stream) -> None:
        """Removes a stream that was closed on this side."""
        self._streams.pop(stream.local_id, None)

    async def open(self, destination: str) -> Stream:
        """A stream to a service of the adb server's machine, as `adb reverse` needs it.

        Raises:
            ConnectionRefusedError: The adb server's machine cannot reach it.
            ConnectionResetError: The connection was lost.
        """
        if not self.is_online or len(self._streams) + len(self._pending) >= MAX_STREAMS:
            raise ConnectionResetError("no adb server is connected")
        local_id = next(self._ids)
        opened: asyncio.Future[Stream] = asyncio.get_running_loop().create_future()
        self._pending[local_id] = opened
        window = READ_AHEAD_BYTES if self.delays_acks else 0
        self.send(PacketCommand.OPEN, local_id, window, destination.encode() + b"\0")
        try:
            return await opened
        finally:
            self._pending.pop(local_id, None)

    def adopt(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs a coroutine that is cancelled when the connection ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def abort(self) -> None:
        """Drops the connection at once; its services are cancelled."""
        if self._wire is not None:
            self._wire.abort()
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Drops the connection and waits until its services have ended."""
        self.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _put(self, chunk: bytes) -> None:
        if self._wire is not None and not self._wire.is_closing():
            self._wire.write(chunk)

    def _hold_reading(self, hold: bool) -> None:
        if self._wire is not None and not self._wire.is_closing():
            self._wire.pause_reading() if hold else self._wire.resume_reading()

    def _hold_writing(self, hold: bool) -> None:
        self._can_write.clear() if hold else self._can_write.set()

    def _take(self, chunk: bytes) -> None:
        try:
            for packet in self._decoder.feed(chunk):
                self._handle(packet)
        except MalformedPacket as error:
            logger.warning("adb connection dropped: %s", error)
            self.abort()

    def _handle(self, packet: Packet) -> None:
        if packet.command is PacketCommand.CNXN:
            self._on_connect(packet)
        elif packet.command is PacketCommand.AUTH:
            self._on_auth(packet)
        elif not self.is_online:
            logger.debug("%s before authentication is ignored", packet.command.name)
        elif packet.command is PacketCommand.OPEN:
            self._on_open(packet)
        elif packet.command is PacketCommand.OKAY:
            self._on_okay(packet)
        elif packet.command is PacketCommand.WRTE:
            self._on_write(packet)
        elif packet.command is PacketCommand.CLSE:
            self._on_close(packet)

    def _on_connect(self, packet: Packet) -> None:
        if self.is_online:
            raise MalformedPacket("CNXN twice")
        self.max_payload = max(MAX_PAYLOAD_BEFORE_CONNECT, min(packet.arg1, MAX_PAYLOAD))
        self.delays_acks = DELAYED_ACK in _features(packet.payload) & _features(self._adbd.banner().encode())
        self._challenge()

    def _challenge(self) -> None:
        self._auth_rounds += 1
        if self._auth_rounds > MAX_AUTH_ROUNDS:
            raise MalformedPacket("too many attempts to authenticate")
        self._token = os.urandom(auth.TOKEN_BYTES)
        self.send(PacketCommand.AUTH, auth.AUTH_TOKEN, 0, self._token)

    def _on_auth(self, packet: Packet) -> None:
        if self.is_online or not self._token:
            return
        if packet.arg0 == auth.AUTH_SIGNATURE:
            token, self._token = self._token, b""
            if self._adbd.accepts(token, packet.payload):
                self._go_online()
            else:
                self._challenge()  # the server signs with its next key or offers a public key
        elif packet.arg0 == auth.AUTH_RSAPUBLICKEY:
            logger.info("an unknown key was offered; the device stays unauthorized")

    def _go_online(self) -> None:
        self.is_online = True
        self._decoder.max_payload = MAX_PAYLOAD
        self.send(PacketCommand.CNXN, VERSION, MAX_PAYLOAD, self._adbd.banner().encode())
        self._adbd.on_online(self)

    def _on_open(self, packet: Packet) -> None:
        remote_id = packet.arg0
        if remote_id == 0 or len(self._streams) >= MAX_STREAMS or bool(packet.arg1) != self.delays_acks:
            self.send(PacketCommand.CLSE, 0, remote_id)
            return
        stream = Stream(self, next(self._ids), remote_id, window=packet.arg1 if self.delays_acks else None)
        self._streams[stream.local_id] = stream
        name = packet.payload.rstrip(b"\0").decode("utf-8", "surrogateescape")
        self.adopt(self._serve(name, stream))

    async def _serve(self, name: str, stream: Stream) -> None:
        try:
            handler = await self._adbd.open_service(name, self)
        except ServiceUnavailable as refusal:
            logger.debug("%.80r: %s", name, refusal)
            self.forget(stream)
            self.send(PacketCommand.CLSE, 0, stream.remote_id)
            return
        window = grant(READ_AHEAD_BYTES) if self.delays_acks else b""
        self.send(PacketCommand.OKAY, stream.local_id, stream.remote_id, window)
        try:
            await handler(stream)
        except (ConnectionError, EOFError):
            logger.debug("%.80r: the peer disconnected", name)
        except Exception:
            logger.exception("the service %.80r failed", name)
        finally:
            stream.close()

    def _on_okay(self, packet: Packet) -> None:
        pending = self._pending.get(packet.arg1)
        if pending is not None and not pending.done():
            window = granted(packet.payload) if self.delays_acks else None
            stream = Stream(self, packet.arg1, packet.arg0, window=window)
            self._streams[stream.local_id] = stream
            pending.set_result(stream)
            return
        stream_or_none = self._streams.get(packet.arg1)
        if stream_or_none is not None and stream_or_none.remote_id == packet.arg0:
            stream_or_none.on_okay(packet.payload)

    def _on_write(self, packet: Packet) -> None:
        stream = self._streams.get(packet.arg1)
        if stream is None or stream.remote_id != packet.arg0:
            self.send(PacketCommand.CLSE, packet.arg1, packet.arg0)
            return
        stream.on_write(packet.payload)

    def _on_close(self, packet: Packet) -> None:
        pending = self._pending.get(packet.arg1)
        if pending is not None and not pending.done():
            pending.set_exception(ConnectionRefusedError("the adb server's machine refused the connection"))
            return
        stream = self._streams.get(packet.arg1)
        if stream is not None and packet.arg0 in (0, stream.remote_id):
            self.forget(stream)
            stream.on_closed()


def _features(banner: bytes) -> set[str]:
    """The features in a banner such as `host::…;features=a,b` (`adb.cpp`, `parse_banner`)."""
    properties = banner.decode("utf-8", "replace").rstrip("\0").partition("::")[2].split(";")
    return {name for text in properties if text.startswith("features=") for name in text[len("features=") :].split(",")}

"""Which packets a stream of the device makes of what it has to send, and what it lets the other side send."""

from __future__ import annotations

import asyncio

import pytest

from bridge.virtual_device.adb.packets import MAX_PAYLOAD, MalformedPacket, PacketCommand
from bridge.virtual_device.adb.splice import splice
from bridge.virtual_device.adb.streams import READ_AHEAD_BYTES, Stream, grant
from bridge.virtual_device.android.sockets import stream_pair


class Wire:
    """What the stream sends, in order; nothing is acknowledged but by the test."""

    max_payload = MAX_PAYLOAD

    def __init__(self) -> None:
        self.packets: asyncio.Queue[tuple[PacketCommand, bytes]] = asyncio.Queue()

    def send(self, command: PacketCommand, arg0: int, arg1: int, payload: bytes | memoryview = b"") -> None:
        self.packets.put_nowait((command, bytes(payload)))

    async def drain(self) -> None: ...

    def forget(self, stream: Stream) -> None: ...


async def test_bytes_that_gather_during_a_packet_are_sent_as_one() -> None:
    wire, reader = Wire(), asyncio.StreamReader()
    stream = Stream(wire, 1, 2)
    (_, writer), _ = await stream_pair()
    splicing = asyncio.create_task(splice(stream, (reader, writer)))
    async with asyncio.timeout(10):
        reader.feed_data(b"first")
        assert await wire.packets.get() == (PacketCommand.WRTE, b"first")
        for piece in (b"second ", b"third ", b"fourth"):
            reader.feed_data(piece)
            for _ in range(5):
                await asyncio.sleep(0)  # whoever reads ahead does it now
        stream.on_okay()
        assert await wire.packets.get() == (PacketCommand.WRTE, b"second third fourth")
        reader.feed_data(b"last")
        reader.feed_eof()
        stream.on_okay()
        assert await wire.packets.get() == (PacketCommand.WRTE, b"last")
        stream.on_okay()
        assert await wire.packets.get() == (PacketCommand.CLSE, b"")
        await splicing


async def test_with_a_window_packets_follow_each_other_until_what_was_granted_is_under_way() -> None:
    wire = Wire()
    stream = Stream(wire, 1, 2, window=6)
    for piece in (b"one", b"two"):
        await stream.write(piece)
    last = asyncio.ensure_future(stream.write(b"three"))
    for _ in range(5):
        await asyncio.sleep(0)  # it would go out now
    assert [wire.packets.get_nowait() for _ in range(2)] == [(PacketCommand.WRTE, b"one"), (PacketCommand.WRTE, b"two")]
    assert wire.packets.empty()
    stream.on_okay(grant(1))  # the last packet may go beyond
    async with asyncio.timeout(10):
        await last
    assert wire.packets.get_nowait() == (PacketCommand.WRTE, b"three")
    with pytest.raises(MalformedPacket):
        stream.on_okay(b"")


async def test_what_was_read_is_granted_again_and_what_is_put_back_only_once() -> None:
    wire = Wire()
    stream = Stream(wire, 1, 2, window=1)
    stream.on_write(b"x" * MAX_PAYLOAD)
    assert await stream.read_exactly(10) == b"x" * 10
    assert await stream.read_exactly(MAX_PAYLOAD - 10) == b"x" * (MAX_PAYLOAD - 10)
    assert wire.packets.get_nowait() == (PacketCommand.OKAY, grant(MAX_PAYLOAD))
    assert wire.packets.empty()
    for _ in range(READ_AHEAD_BYTES // MAX_PAYLOAD):
        stream.on_write(b"x" * MAX_PAYLOAD)
    with pytest.raises(MalformedPacket):
        stream.on_write(b"x")

"""Which packets an ADB stream makes of what a socket of the device gives."""

from __future__ import annotations

import asyncio

from bridge.virtual_device.packets import MAX_PAYLOAD, Command
from bridge.virtual_device.sockets import stream_pair
from bridge.virtual_device.splice import splice
from bridge.virtual_device.streams import Stream


class Wire:
    """What the stream sends, in order; nothing is acknowledged but by the test."""

    max_payload = MAX_PAYLOAD

    def __init__(self) -> None:
        self.packets: asyncio.Queue[tuple[Command, bytes]] = asyncio.Queue()

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes | memoryview = b"") -> None:
        self.packets.put_nowait((command, bytes(payload)))

    async def drain(self) -> None: ...

    def forget(self, stream: Stream) -> None: ...


async def test_what_gathers_while_a_packet_is_under_way_goes_out_as_one() -> None:
    wire, reader = Wire(), asyncio.StreamReader()
    stream = Stream(wire, 1, 2)
    (_, writer), _ = await stream_pair()
    splicing = asyncio.create_task(splice(stream, (reader, writer)))
    async with asyncio.timeout(10):
        reader.feed_data(b"first")
        assert await wire.packets.get() == (Command.WRTE, b"first")
        for piece in (b"second ", b"third ", b"fourth"):
            reader.feed_data(piece)
            for _ in range(5):
                await asyncio.sleep(0)  # whoever reads ahead does it now
        stream.on_okay()
        assert await wire.packets.get() == (Command.WRTE, b"second third fourth")
        reader.feed_data(b"last")
        reader.feed_eof()
        stream.on_okay()
        assert await wire.packets.get() == (Command.WRTE, b"last")
        stream.on_okay()
        assert await wire.packets.get() == (Command.CLSE, b"")
        await splicing

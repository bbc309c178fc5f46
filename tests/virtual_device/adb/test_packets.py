"""ADB packets, whatever way TCP cuts them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.virtual_device.adb.packets import (
    HEADER_BYTES,
    MalformedPacket,
    Packet,
    PacketCommand,
    PacketDecoder,
    encode,
    encode_header,
)

words = st.integers(0, 0xFFFFFFFF)
packets = st.builds(Packet, st.sampled_from(PacketCommand), words, words, st.binary(max_size=300))


@given(st.lists(packets, max_size=6), st.lists(st.integers(1, 40), min_size=1))
def test_packets_do_not_depend_on_how_the_stream_is_cut(sent: list[Packet], cuts: list[int]) -> None:
    wire = b"".join(encode(packet) for packet in sent)
    decoder, at, turn = PacketDecoder(), 0, 0
    got: list[Packet] = []
    while at < len(wire):
        size = cuts[turn % len(cuts)]
        got += decoder.feed(wire[at : at + size])
        at, turn = at + size, turn + 1
    assert got == sent


@given(st.binary(min_size=HEADER_BYTES, max_size=200))
def test_whatever_arrives_is_packets_or_one_kind_of_error(noise: bytes) -> None:
    try:
        for packet in PacketDecoder().feed(noise):
            assert isinstance(packet.command, PacketCommand)
    except MalformedPacket:
        pass


def test_a_payload_above_the_limit_is_refused_before_it_is_buffered() -> None:
    decoder = PacketDecoder(max_payload=4096)
    with pytest.raises(MalformedPacket, match="4097 bytes is above the limit of 4096"):
        list(decoder.feed(encode_header(PacketCommand.WRTE, 1, 1, 4097)))


def test_a_wrong_magic_is_refused() -> None:
    header = bytearray(encode_header(PacketCommand.OKAY, 1, 2, 0))
    header[-1] ^= 1
    with pytest.raises(MalformedPacket, match="magic"):
        list(PacketDecoder().feed(header))


def test_the_limit_may_rise_between_two_packets_of_one_chunk() -> None:
    decoder = PacketDecoder(max_payload=10)
    big = Packet(PacketCommand.WRTE, 1, 1, b"x" * 100)
    feed = decoder.feed(encode(Packet(PacketCommand.OKAY, 1, 1)) + encode(big))
    next(feed)
    decoder.max_payload = 100
    assert list(feed) == [big]

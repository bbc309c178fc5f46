"""The packets of the ADB transport: a codec without I/O.

Source: AOSP packages/modules/adb, `protocol.txt` and `adb.h`. A packet is a 24-byte header, six little-endian words,
and a payload:

     0        4        8        12             16       20
    +--------+--------+--------+--------------+--------+--------+---------------------+
    | command| arg0   | arg1   | data_length  | check  | magic  | data_length bytes   |
    +--------+--------+--------+--------------+--------+--------+---------------------+

`magic` is `command ^ 0xffffffff`. `check` is the sum of the payload's bytes; it is ignored here, as by every peer since
version 0x01000001.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

VERSION = 0x01000001
MAX_PAYLOAD = 1024 * 1024
MAX_PAYLOAD_BEFORE_CONNECT = 4096

_HEADER = struct.Struct("<6I")
HEADER_BYTES = _HEADER.size
_WORD = 0xFFFFFFFF


class PacketCommand(IntEnum):
    """The commands; each value is its four ASCII letters, little-endian."""

    SYNC = 0x434E5953
    CNXN = 0x4E584E43
    AUTH = 0x48545541
    OPEN = 0x4E45504F
    OKAY = 0x59414B4F
    CLSE = 0x45534C43
    WRTE = 0x45545257
    STLS = 0x534C5453


class MalformedPacket(ValueError):
    """The peer violated the protocol; the stream cannot be parsed any further."""


@dataclass(frozen=True, slots=True)
class Packet:
    """One packet; the meaning of `arg0` and `arg1` depends on the command."""

    command: PacketCommand
    arg0: int
    arg1: int
    payload: bytes = b""


def encode_header(command: PacketCommand, arg0: int, arg1: int, payload_bytes: int) -> bytes:
    """The header for a payload of that many bytes."""
    return _HEADER.pack(command, arg0 & _WORD, arg1 & _WORD, payload_bytes, 0, command ^ _WORD)


def encode(packet: Packet) -> bytes:
    """The packet's bytes."""
    return encode_header(packet.command, packet.arg0, packet.arg1, len(packet.payload)) + packet.payload


class PacketDecoder:
    """Parses packets from a byte stream in pieces of any size.

    Raise `max_payload` after CNXN: no peer has a reason to send more than 4 KiB before.
    """

    def __init__(self, max_payload: int = MAX_PAYLOAD) -> None:
        self.max_payload = max_payload
        self._buffer = bytearray()
        self._header: tuple[PacketCommand, int, int, int] | None = None

    def feed(self, chunk: bytes | bytearray | memoryview) -> Iterator[Packet]:
        """Yields the packets that are complete, lazily: `max_payload` may change between two of them.

        Raises:
            MalformedPacket: A wrong magic, an unknown command or a payload above `max_payload`.
        """
        self._buffer += chunk
        while True:
            if self._header is None:
                if len(self._buffer) < HEADER_BYTES:
                    return
                self._header = self._parse_header()
                del self._buffer[:HEADER_BYTES]
            command, arg0, arg1, length = self._header
            if len(self._buffer) < length:
                return
            with memoryview(self._buffer) as view:
                payload = bytes(view[:length])
            del self._buffer[:length]
            self._header = None
            yield Packet(command, arg0, arg1, payload)

    def _parse_header(self) -> tuple[PacketCommand, int, int, int]:
        word, arg0, arg1, length, _check, magic = _HEADER.unpack_from(self._buffer)
        if magic != word ^ _WORD:
            raise MalformedPacket(f"magic {magic:#010x} does not belong to command {word:#010x}")
        if length > self.max_payload:
            raise MalformedPacket(f"payload of {length} bytes is above the limit of {self.max_payload}")
        try:
            command = PacketCommand(word)
        except ValueError:
            raise MalformedPacket(f"unknown command {word:#010x}") from None
        return command, arg0, arg1, length

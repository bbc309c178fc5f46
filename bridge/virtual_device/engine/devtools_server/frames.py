"""Parses WebSocket frames in a byte stream without copying payloads (RFC 6455 §5.2)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

CONTINUATION, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10
_UINT16 = struct.Struct(">H")
_UINT64 = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class FrameHead:
    """A frame header of `header_bytes` (with the masking key), followed by `payload_bytes`."""

    fin: bool
    opcode: int
    masked: bool
    header_bytes: int
    payload_bytes: int

    @property
    def frame_bytes(self) -> int:
        return self.header_bytes + self.payload_bytes


def parse_head(held: bytes | bytearray | memoryview, at: int = 0) -> FrameHead | None:
    """The header of the frame at offset `at`; None if it is incomplete."""
    available = len(held) - at
    if available < 2:
        return None
    first, second = held[at], held[at + 1]
    length, header_bytes = second & 0x7F, 2
    if length == 126:
        if available < 4:
            return None
        (length,) = _UINT16.unpack_from(held, at + 2)
        header_bytes = 4
    elif length == 127:
        if available < 10:
            return None
        (length,) = _UINT64.unpack_from(held, at + 2)
        header_bytes = 10
    masked = bool(second & 0x80)
    if masked:
        header_bytes += 4
        if available < header_bytes:
            return None
    return FrameHead(bool(first & 0x80), first & 0x0F, masked, header_bytes, length)


def unmask(payload: bytes | bytearray, key: bytes) -> bytes:
    """XORs with the repeated key as one big integer, which avoids a Python loop per byte."""
    if key == b"\0\0\0\0" or not payload:
        return bytes(payload)
    size = len(payload)
    stream = key * (size // 4 + 1)
    return (int.from_bytes(payload, "little") ^ int.from_bytes(stream[:size], "little")).to_bytes(size, "little")


def text_frame(payload: bytes, *, masked: bool) -> bytes:
    """One final text frame. The masking key is 0: no proxy between us and Chromium needs protection."""
    mask_bit = 0x80 if masked else 0
    size = len(payload)
    if size < 126:
        head = bytes([0x81, mask_bit | size])
    elif size < 65536:
        head = bytes([0x81, mask_bit | 126]) + _UINT16.pack(size)
    else:
        head = bytes([0x81, mask_bit | 127]) + _UINT64.pack(size)
    return head + (b"\0\0\0\0" if masked else b"") + payload


def pong_frame(payload: bytes) -> bytes:
    """The reply to a ping, unmasked; a control frame has at most 125 bytes (RFC 6455 §5.5)."""
    return bytes([0x80 | PONG, len(payload[:125])]) + payload[:125]


def close_frame(payload: bytes) -> bytes:
    """The reply to a close frame, unmasked, with the client's status code."""
    return bytes([0x80 | CLOSE, len(payload[:2])]) + payload[:2]

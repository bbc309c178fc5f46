"""The file service `sync:`, without I/O.

AOSP packages/modules/adb/SYNC.TXT and file_sync_protocol.h, version 1, which every device supports: a four-letter id, a
little-endian length, and that many bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Generator
from dataclasses import dataclass

from bridge.adb.smart_socket import NotAdb, Parser, Refused, encode_text

MAX_DATA_BYTES = 64 * 1024
MAX_PATH_BYTES = 1024
_REGULAR_FILE = 0o100000
_WORD = struct.Struct("<I")
_STAT = struct.Struct("<III")


@dataclass(frozen=True)
class RemoteStat:
    """The stat of a file; `mode` is 0 if it does not exist."""

    mode: int
    size_bytes: int
    mtime_s: int


def encode_path_request(request_id: bytes, path: str) -> bytes:
    """Encodes STAT or RECV; UsageError if the path is too long for adbd."""
    name = encode_text(path, MAX_PATH_BYTES, "a path on the device")
    return request_id + _WORD.pack(len(name)) + name


def encode_send(path: str, mode: int) -> bytes:
    return encode_path_request(b"SEND", f"{path},{_REGULAR_FILE | mode}")


def encode_data(piece: bytes) -> bytes:
    return b"DATA" + _WORD.pack(len(piece)) + piece


def encode_done(mtime_s: int) -> bytes:
    return b"DONE" + _WORD.pack(mtime_s & 0xFFFFFFFF)


QUIT = b"QUIT" + _WORD.pack(0)


def stat_reply() -> Parser[RemoteStat]:
    word = yield 4
    if word != b"STAT":
        raise NotAdb(word)
    return RemoteStat(*_STAT.unpack((yield _STAT.size)))


def send_reply() -> Parser[None]:
    """Reads the result of a SEND; Refused has the device's reason."""
    word = yield 4
    (size,) = _WORD.unpack((yield 4))
    if word == b"FAIL":
        raise Refused((yield from _text(size)))
    if word != b"OKAY":
        raise NotAdb(word)


def recv_piece() -> Parser[bytes | None]:
    """Reads one chunk of a RECV, None after the last."""
    word = yield 4
    (size,) = _WORD.unpack((yield 4))
    if word == b"FAIL":
        raise Refused((yield from _text(size)))
    if word == b"DONE":
        return None
    if word != b"DATA" or size > MAX_DATA_BYTES:
        raise NotAdb(word)
    return (yield size) if size else b""


def _text(size: int) -> Generator[int, bytes, str]:
    if not size:
        return ""
    if size > MAX_DATA_BYTES:
        raise NotAdb(b"FAIL" + _WORD.pack(size))
    return (yield size).decode("utf-8", "replace")

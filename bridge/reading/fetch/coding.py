"""Content codings (RFC 9110 §8.4.1) undone in small pieces, so that no bomb unfolds in memory. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

#: What a coding may hand out at once, however much its input unfolds to.
PIECE_BYTES = 64 * 1024
ACCEPT_ENCODING = "gzip, deflate, br"
_MOST_CODINGS = 3


class CodingError(ValueError):
    """The body is not what its Content-Encoding says."""


class Coding(Protocol):
    def decode(self, block: bytes) -> Iterator[bytes]: ...
    def end(self) -> None: ...


class _Zlib:
    """gzip (RFC 1952, also of several members) and deflate (RFC 1950; some servers send RFC 1951 without its frame)."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16) if name == "gzip" else None
        self._between = False

    def decode(self, block: bytes) -> Iterator[bytes]:
        while block:
            if self._stream is None:
                framed = block[0] & 0x0F == 8 and block[0] >> 4 <= 7
                self._stream = zlib.decompressobj(zlib.MAX_WBITS if framed else -zlib.MAX_WBITS)
            if self._between:
                if self._name != "gzip" or block[:1] != b"\x1f":
                    return  # padding behind the end, which browsers ignore too
                self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
                self._between = False
            while True:
                try:
                    piece = self._stream.decompress(block, PIECE_BYTES)
                except zlib.error as error:
                    raise CodingError(f"the body is not valid {self._name}: {error}") from error
                block = self._stream.unconsumed_tail
                if piece:
                    yield piece
                if self._stream.eof:
                    block, self._between = self._stream.unused_data, True
                    break
                if not block and len(piece) < PIECE_BYTES:
                    return

    def end(self) -> None:
        if self._stream is not None and not self._between:
            raise CodingError(f"the {self._name} body ends before it is complete")


class _Brotli:
    """br (RFC 7932)."""

    def __init__(self) -> None:
        import brotli

        self._error = brotli.error
        self._stream = brotli.Decompressor()

    def decode(self, block: bytes) -> Iterator[bytes]:
        while True:
            try:
                piece = self._stream.process(block, output_buffer_limit=PIECE_BYTES)
            except self._error as error:
                raise CodingError(f"the body is not valid br: {error}") from error
            if piece:
                yield piece
            if self._stream.is_finished() or self._stream.can_accept_more_data():
                return
            block = b""

    def end(self) -> None:
        if not self._stream.is_finished():
            raise CodingError("the br body ends before it is complete")


class Decoder:
    """Undoes all codings of a Content-Encoding header, the last applied first.

    Raises:
        CodingError: A content encoding that was not requested.
    """

    def __init__(self, content_encoding: str) -> None:
        names = [name.strip().lower() for name in content_encoding.split(",")]
        names = [name for name in names if name not in ("", "identity")]
        if len(names) > _MOST_CODINGS:
            raise CodingError(f"the body has {len(names)} content encodings")
        self._codings: list[Coding] = [_coding(name) for name in reversed(names)]

    def decode(self, block: bytes) -> Iterator[bytes]:
        """The plain pieces of the next block; stop asking when there is enough."""
        pieces: Iterable[bytes] = (block,)
        for coding in self._codings:
            pieces = _through(coding, pieces)
        yield from pieces

    def end(self) -> None:
        """Raises CodingError when the body ended in the middle."""
        for coding in self._codings:
            coding.end()


def _through(coding: Coding, blocks: Iterable[bytes]) -> Iterator[bytes]:
    for block in blocks:
        yield from coding.decode(block)


def _coding(name: str) -> Coding:
    if name in ("gzip", "x-gzip"):
        return _Zlib("gzip")
    if name == "deflate":
        return _Zlib("deflate")
    if name == "br":
        return _Brotli()
    raise CodingError(f"the body has the content encoding {name[:40]!r}, which was not requested")

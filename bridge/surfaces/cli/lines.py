"""Reads lines of any length from a pipe, a terminal or a file, at most one ahead of the consumer."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass

_PIECE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stands for a line that exceeded `limit_bytes` and was discarded."""

    limit_bytes: int


class LineCutter:
    """Splits pieces into stripped lines, however the pieces are cut. Holds at most one line."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held = bytearray()
        self._skipping = False

    def feed(self, piece: bytes) -> Iterator[bytes | TooLong]:
        """The lines that end in this piece."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._hold(part)
            yield from self.end()
        self._hold(rest)

    def end(self) -> Iterator[bytes | TooLong]:
        """The last line, when the input ends without a line feed."""
        line, skipping = bytes(self._held), self._skipping
        self._held.clear()
        self._skipping = False
        if skipping:
            yield TooLong(self._limit_bytes)
        else:
            yield line.strip()

    def _hold(self, part: bytes) -> None:
        if self._skipping or len(self._held) + len(part) > self._limit_bytes:
            self._skipping = True
            self._held.clear()
        else:
            self._held += part


async def typed_line(descriptor: int) -> str:
    """A line typed at a terminal, "" at its end. As in `lines_of`, a thread may remain blocked in the read."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[bytes] = loop.create_future()

    def take(line: bytes) -> None:
        if not typed.done():
            typed.set_result(line)

    def read() -> None:
        line = b""
        with contextlib.suppress(OSError):  # the terminal has hung up
            line = os.read(descriptor, _PIECE_BYTES)
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(take, line)

    threading.Thread(target=read, name="typed line", daemon=True).start()
    return (await typed).decode(errors="replace").strip()


async def lines_of(descriptor: int, *, limit_bytes: int) -> AsyncGenerator[bytes | TooLong, None]:
    """The lines that come from a file descriptor until its end.

    A thread of its own reads, because reading a terminal or a pipe cannot be cancelled; it may remain blocked there.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes | TooLong | OSError | None] = asyncio.Queue(maxsize=1)

    def put(item: bytes | TooLong | OSError | None) -> None:
        putting = queue.put(item)
        try:
            asyncio.run_coroutine_threadsafe(putting, loop).result()
        finally:
            putting.close()  # a loop that has ended never started it

    def read() -> None:
        cutter = LineCutter(limit_bytes)
        # The loop ends before the input if the consumer stops early.
        with contextlib.suppress(RuntimeError, CancelledError):
            try:
                while piece := os.read(descriptor, _PIECE_BYTES):
                    for line in cutter.feed(piece):
                        put(line)
                for line in cutter.end():
                    put(line)
            except OSError as error:
                put(error)
            put(None)

    threading.Thread(target=read, name="lines", daemon=True).start()
    while (item := await queue.get()) is not None:
        if isinstance(item, OSError):
            raise item
        yield item

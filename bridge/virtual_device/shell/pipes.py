"""The streams of a command: standard input, files and pipes."""

from __future__ import annotations

import asyncio
from typing import Protocol

from bridge.virtual_device.android import WriteHandle

PIPE_CHUNKS = 64


class ByteSource(Protocol):
    """Standard input; b"" marks its end."""

    async def read(self) -> bytes: ...


class ByteSink(Protocol):
    """Standard output or error. Raises BrokenPipeError when its reader is gone."""

    async def write(self, chunk: bytes) -> None: ...


class BytesSource:
    def __init__(self, content: bytes = b"") -> None:
        self._content = content

    async def read(self) -> bytes:
        content, self._content = self._content, b""
        return content


class NullSink:
    async def write(self, chunk: bytes) -> None:
        pass


class FileSink:
    def __init__(self, handle: WriteHandle) -> None:
        self._handle = handle

    async def write(self, chunk: bytes) -> None:
        self._handle.write(chunk)

    def close(self) -> None:
        self._handle.close()


class Pipe:
    """A bounded pipe: `logcat | grep` streams, and `… | head` ends its writer."""

    def __init__(self) -> None:
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue(PIPE_CHUNKS)
        self._reader_gone = asyncio.Event()
        self._ended = False

    async def write(self, chunk: bytes) -> None:
        if not chunk:
            return
        if self._reader_gone.is_set():
            raise BrokenPipeError("the reader of the pipe is gone")
        await self._chunks.put(chunk)

    async def read(self) -> bytes:
        if self._ended:
            return b""
        chunk = await self._chunks.get()
        self._ended = not chunk
        return chunk

    async def close_writer(self) -> None:
        if not self._reader_gone.is_set():
            await self._chunks.put(b"")

    def close_reader(self) -> None:
        """Makes writes fail from now on and wakes a writer that waits for room."""
        self._reader_gone.set()
        while not self._chunks.empty():
            self._chunks.get_nowait()

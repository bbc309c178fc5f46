"""Where a command's bytes come from and go to."""

from __future__ import annotations

import asyncio
from typing import Protocol

from bridge.virtual_device.android import WriteHandle

PIPE_CHUNKS = 64
CAPTURE_LIMIT_BYTES = 1024 * 1024


class Source(Protocol):
    """Standard input: some bytes, then b"" for ever."""

    async def read(self) -> bytes: ...


class Sink(Protocol):
    """Standard output or error. Raises BrokenPipeError when nobody reads any more."""

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


class CaptureSink:
    """Keeps the bytes, up to a limit, for `$(…)`."""

    def __init__(self) -> None:
        self.content = bytearray()

    async def write(self, chunk: bytes) -> None:
        if len(self.content) + len(chunk) > CAPTURE_LIMIT_BYTES:
            raise BrokenPipeError("command substitution is too long")
        self.content += chunk


class Pipe:
    """Both ends of `|`, bounded, so that `logcat | grep` streams and `… | head` ends its writer."""

    def __init__(self) -> None:
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue(PIPE_CHUNKS)
        self._reader_gone = asyncio.Event()
        self._ended = False

    async def write(self, chunk: bytes) -> None:
        if not chunk:
            return
        if self._reader_gone.is_set():
            raise BrokenPipeError("nobody reads the pipe")
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
        """Writers fail from now on; one that waits for room is let go."""
        self._reader_gone.set()
        while not self._chunks.empty():
            self._chunks.get_nowait()

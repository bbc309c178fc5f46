"""A real adb server of our own, and small TCP peers that are not one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from bridge.adb import AdbServer
from bridge.adb.program import find_adb_program
from tests.temp_devices import own_adb_server

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(scope="session")
def adb_program() -> Path:
    return asyncio.run(find_adb_program())


@pytest.fixture(scope="session")
def adb_server() -> Iterator[AdbServer]:
    with own_adb_server() as server:
        yield server


@pytest.fixture
def peer() -> Callable[[Handler], AbstractAsyncContextManager[AdbServer]]:
    """`async with peer(handler) as server`: a TCP server that answers as `handler` does, seen as an adb server."""

    @asynccontextmanager
    async def listen(handler: Handler) -> AsyncIterator[AdbServer]:
        conversations: set[asyncio.Task[None]] = set()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            conversations.add(task)
            try:
                await handler(reader, writer)
            except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                writer.close()
                conversations.discard(task)

        listener = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with listener:
            yield AdbServer(port=listener.sockets[0].getsockname()[1])
            for task in tuple(conversations):
                task.cancel()
            await asyncio.gather(*conversations, return_exceptions=True)

    return listen


@pytest.fixture
def open_files() -> Callable[[], set[str]]:
    """What this process has open now: sockets and pipes by their inode, files by name."""

    def targets() -> set[str]:
        found = set()
        for entry in Path("/proc/self/fd").iterdir():
            try:
                found.add(str(entry.readlink()))
            except FileNotFoundError:
                continue
        return found

    return targets

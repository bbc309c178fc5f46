"""An adb server that is given by name is found, whatever else this program has its threads do."""

from __future__ import annotations

import asyncio
import threading

import pytest

from bridge.adb.stream import Unreachable, open_adb_stream
from bridge.deadline import Deadline

LIMIT_S = 10


async def test_the_name_of_an_adb_server_is_looked_up_while_every_thread_of_the_loop_is_busy() -> None:
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    loop, free = asyncio.get_running_loop(), threading.Event()
    busy = [loop.run_in_executor(None, free.wait, LIMIT_S) for _ in range(64)]
    try:
        async with open_adb_stream("localhost", port, Deadline.after(LIMIT_S / 2), "connecting") as stream:
            assert await stream.read_piece() == b""
    finally:
        free.set()
        await asyncio.gather(*busy)
        server.close()


async def test_a_name_without_an_address_is_unreachable_and_says_which_reason() -> None:
    with pytest.raises(Unreachable, match=r"\w"):
        async with open_adb_stream("no-such-host.invalid", 5037, Deadline.after(LIMIT_S), "connecting"):
            pass

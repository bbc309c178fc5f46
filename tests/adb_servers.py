"""The real adb server, on a port of our own."""

from __future__ import annotations

import asyncio
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from bridge.adb import AdbServer
from bridge.adb.program import find_adb_program
from bridge.errors import AdbUnavailable


@contextmanager
def own_adb_server() -> Iterator[AdbServer]:
    """A server that our own code started; it is ours, so it is stopped at the end."""
    server = asyncio.run(_started_somewhere())
    yield server
    program = asyncio.run(find_adb_program())
    subprocess.run([program, "-P", str(server.port), "kill-server"], check=True, timeout=20)


async def _started_somewhere() -> AdbServer:
    for _ in range(5):
        server = AdbServer(port=random.randrange(20_000, 32_000))  # noqa: S311
        try:
            await server.ensure_running(timeout_s=30)
        except AdbUnavailable:  # the port is somebody's
            continue
        return server
    raise AssertionError("no adb server could be started on five ports")

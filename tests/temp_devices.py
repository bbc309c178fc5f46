"""Real adb servers on ports of our own, and virtual devices that one test has for itself."""

from __future__ import annotations

import asyncio
import random
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from bridge.adb import AdbServer
from bridge.adb.program import find_adb_program
from bridge.errors import AdbUnavailable
from bridge.virtual_device import VirtualDeviceHandle, start_virtual_device


def free_port() -> int:
    """A port for a server that starts later, or again: below those that the system hands out, it stays free till then
    (Linux, net.ipv4.ip_local_port_range: 32,768 and above)."""
    while True:
        port = random.randrange(20_000, 32_000)  # noqa: S311
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


@contextmanager
def own_adb_server() -> Iterator[AdbServer]:
    """A server that our own code started; it is ours, so it is stopped at the end."""
    server = asyncio.run(_started_somewhere())
    yield server
    program = asyncio.run(find_adb_program())
    subprocess.run([program, "-P", str(server.port), "kill-server"], check=True, timeout=20)


async def _started_somewhere() -> AdbServer:
    for _ in range(5):
        server = AdbServer(port=free_port())
        try:
            await server.ensure_running(timeout_s=30)
        except AdbUnavailable:  # the port is taken
            continue
        return server
    raise AssertionError("no adb server could be started on five ports")


@asynccontextmanager
async def own_device(**options: Any) -> AsyncIterator[VirtualDeviceHandle]:
    """A device at the suite's adb server while the block lasts; the options are those of `start_virtual_device`."""
    server = AdbServer.from_environment()
    await server.ensure_running(timeout_s=20)
    async with start_virtual_device(server=server, timeout_s=60, **options) as handle:
        yield handle

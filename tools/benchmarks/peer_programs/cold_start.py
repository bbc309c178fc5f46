"""One cold start, part by part, as JSON of milliseconds: cold_start.py TIME_OF_START PORT_OF_THE_DEMO_PAGES"""

from __future__ import annotations

import time

_first = time.time()

import asyncio  # noqa: E402 - the clock starts first
import json  # noqa: E402
import sys  # noqa: E402


async def main(started: float, port: int) -> None:
    marks = {"interpreter": (_first - started) * 1000}
    last = _first

    def mark(name: str) -> None:
        nonlocal last
        now = time.time()
        marks[name] = (now - last) * 1000
        last = now

    from bridge import Session, TestServerGrant
    from bridge.adb import AdbServer
    from bridge.surfaces.cli.app import all_commands
    from bridge.virtual_device import start_virtual_device

    assert all_commands()
    mark("imports")
    server = AdbServer.from_environment()
    await server.ensure_running(timeout_s=30)
    mark("adb server")
    async with start_virtual_device(server=server, timeout_s=60) as device:
        mark("virtual device")
        async with Session.open(device.serial, grants=[TestServerGrant("127.0.0.1", port)]) as session:
            mark("session")
            page = await session.new_page()
            mark("tab")
            await page.goto(f"http://127.0.0.1:{port}/shop.html")
            mark("page")
            await page.snapshot()
            mark("snapshot")
            print(json.dumps(marks))


asyncio.run(main(float(sys.argv[1]), int(sys.argv[2])))

#!/usr/bin/env python3
"""What the policy costs: microseconds per decision, and a page of 100 requests with and without it, in one run.

    PYTHONPATH=. python tools/bench/policy.py [--rounds 9] [--json FILE]

Both loads go through the same virtual device to the same server, interleaved: one session has gate and interception,
the other has neither (its host app is told to use no proxy). The ratio of the medians is what counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bridge import Session, TestServerGrant
from bridge.page.interception import Interception
from bridge.page.page import Page
from bridge.policy import BrowserPolicy, decide
from bridge.policy.pinning import PinnedEgress
from bridge.session import egress as session_egress

REQUESTS = 100
CORPUS = Path(__file__).parents[2] / "tests" / "policy" / "corpus"


def decisions() -> dict[str, float]:
    entries = [entry for name in ("refused", "allowed") for entry in json.loads((CORPUS / f"{name}.json").read_text())]
    urls = [entry["url"] for entry in entries]
    lists = [f"*.site{number}.example" for number in range(50)]
    policy = BrowserPolicy(default_action="allow", allowed_origins=lists, denied_origins=lists)
    spent_us = []
    for _ in range(20):
        for url in urls:
            began = time.thread_time_ns()  # not the clock: what the machine does meanwhile is no cost of ours
            decide(policy, url)
            spent_us.append((time.thread_time_ns() - began) / 1000)
    spent_us.sort()
    return {"median_us": statistics.median(spent_us), "p99_us": spent_us[int(len(spent_us) * 0.99)]}


@asynccontextmanager
async def page_server() -> AsyncIterator[int]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                target = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1]
                if target.startswith(b"/page"):
                    images = "".join(
                        f"<img src='/{number}.svg?{time.monotonic_ns()}'>" for number in range(REQUESTS - 1)
                    )
                    body, kind = images.encode(), b"text/html"
                else:
                    body, kind = (
                        b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>" + b" " * 8000,
                        b"image/svg+xml",
                    )
                head = b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
                writer.write(head % (kind, len(body)) + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


class _Without(session_egress.Containment):
    """A session whose traffic is left alone: what is compared with."""

    async def route(self, host) -> None:  # type: ignore[no-untyped-def]
        await host.set_proxy(None, timeout_s=10)

    async def install(self, attachment) -> None:  # type: ignore[no-untyped-def]
        self._interception = Interception(self.egress, closes_ways_around=False)


@asynccontextmanager
async def opened_page(device: str, port: int, *, held: bool) -> AsyncIterator[Page]:
    from bridge.session import session as module

    kept, module.Containment = module.Containment, module.Containment if held else _Without  # type: ignore[misc]
    try:
        egress = PinnedEgress(BrowserPolicy(default_action="allow"), [TestServerGrant("127.0.0.1", port)])
        async with Session.open(device, egress=egress) as session:
            yield await session.new_tab()
    finally:
        module.Containment = kept  # type: ignore[misc]


async def loads(rounds: int) -> dict[str, float]:
    from bridge.adb import AdbServer
    from bridge.virtual_device.client import start_virtual_device

    server = AdbServer.from_environment()
    await server.ensure_running(timeout_s=20)
    spent: dict[bool, list[float]] = {True: [], False: []}
    async with (
        page_server() as port,
        start_virtual_device(server=server, timeout_s=60) as first,
        start_virtual_device(server=server, timeout_s=60) as second,
        opened_page(first.serial, port, held=True) as held,
        opened_page(second.serial, port, held=False) as free,
    ):
        for number in range(rounds + 1):
            for is_held, page in ((True, held), (False, free)):
                began = time.perf_counter()
                await page.goto(f"http://127.0.0.1:{port}/page?{number}", timeout_s=60)
                if number:  # the first one warms up
                    spent[is_held].append(time.perf_counter() - began)
    held_s, free_s = statistics.median(spent[True]), statistics.median(spent[False])
    return {"with_ms": held_s * 1000, "without_ms": free_s * 1000, "ratio": held_s / free_s}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if "ANDROID_ADB_SERVER_PORT" not in os.environ:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            os.environ["ANDROID_ADB_SERVER_PORT"] = str(probe.getsockname()[1])
    found = {"decision": decisions(), "page_of_100_requests": asyncio.run(loads(arguments.rounds))}
    print(json.dumps(found, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()

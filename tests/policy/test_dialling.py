"""Names are resolved whatever else the process has its threads do."""

from __future__ import annotations

import asyncio
import threading

from bridge.policy.dialling import system_resolve


async def test_names_are_resolved_while_every_thread_of_the_loop_is_taken() -> None:
    over = threading.Event()
    taken = [asyncio.ensure_future(asyncio.to_thread(over.wait, 30)) for _ in range(40)]
    try:
        async with asyncio.timeout(30):
            assert "127.0.0.1" in await system_resolve("localhost")
    finally:
        over.set()
        await asyncio.gather(*taken)

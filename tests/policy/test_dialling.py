"""Names are resolved whatever the other threads of the process do."""

from __future__ import annotations

import asyncio
import threading

from bridge.policy.dialling import system_resolve


async def test_names_are_resolved_while_the_loops_executor_is_busy() -> None:
    over = threading.Event()
    taken = [asyncio.ensure_future(asyncio.to_thread(over.wait, 30)) for _ in range(40)]
    try:
        async with asyncio.timeout(30):
            assert "127.0.0.1" in await system_resolve("localhost")
    finally:
        over.set()
        await asyncio.gather(*taken)

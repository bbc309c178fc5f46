"""Work of a session that no operation waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable


class Background:
    """Holds what is under way until it is done, or until the session ends."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[None]] = set()

    @property
    def is_busy(self) -> bool:
        return bool(self._tasks)

    def begin(self, work: Awaitable[None]) -> None:
        """The work says itself what goes wrong in it."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def cancel(self) -> None:
        """Cancel all of it, and wait until it has ended."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

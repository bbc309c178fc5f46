"""Tasks of a session that no operation waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable


class Background:
    """Owns the tasks until they are done, or the session ends."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[None]] = set()

    @property
    def is_busy(self) -> bool:
        return bool(self._tasks)

    def begin(self, work: Awaitable[None]) -> None:
        """Start a task; it handles its own errors."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def cancel(self) -> None:
        """Cancel all tasks, and wait until they have ended."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

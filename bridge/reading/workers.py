"""Threads for reading what strangers wrote: few, and apart from those that resolve names and move files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

# A thread cannot be ended, so slow pages must only ever wait for each other. Who gives up waiting leaves the queue.
_READERS = ThreadPoolExecutor(2, "webview-bridge-reading")
#: Read on the spot; more than this in a thread.
_SMALL_CHARS = 100_000


async def in_reader(size: int, work: Callable[[], T]) -> T:
    """Runs `work` on a text of `size` characters or bytes without blocking the event loop on large ones."""
    if size < _SMALL_CHARS:
        return work()
    return await asyncio.get_running_loop().run_in_executor(_READERS, work)

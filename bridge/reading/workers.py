"""Threads for reading what strangers wrote: few, and apart from those that resolve names and move files.

They are daemons: a thread cannot be ended, and a process that has given up a page must not wait for it at its own end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

# Slow pages must only ever wait for each other.
_THREADS = 2


async def in_reader(work: Callable[[], T]) -> T:
    """Runs `work` in a thread. When the caller gives up waiting, work that has not begun is dropped.

    No size is small enough to read on the event loop: a wide table of 96 kB takes most of a second, and handing it over
    takes a tenth of a millisecond.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    _READERS.put(_Job(work, loop, future))
    return await future


class _Job:
    def __init__(self, work: Callable[[], Any], loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any]) -> None:
        self._work = work
        self._loop = loop
        self._future = future

    def run(self) -> None:
        if self._future.cancelled():
            return
        try:
            result = self._work()
        except BaseException as error:
            self._settle(self._future.set_exception, error)
        else:
            self._settle(self._future.set_result, result)

    def _settle(self, settle: Callable[[Any], None], value: Any) -> None:
        def set_unless_cancelled() -> None:
            if not self._future.done():
                settle(value)

        with contextlib.suppress(RuntimeError):  # the loop has been closed
            self._loop.call_soon_threadsafe(set_unless_cancelled)


class _Readers:
    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def put(self, job: _Job) -> None:
        self._jobs.put(job)
        while len(self._threads) < _THREADS:
            thread = threading.Thread(target=self._run, name="webview-bridge-reading", daemon=True)
            thread.start()
            self._threads.append(thread)

    def _run(self) -> None:
        while True:
            self._jobs.get().run()


_READERS = _Readers()


def _forget_threads() -> None:
    global _READERS
    _READERS = _Readers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)

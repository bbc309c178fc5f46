"""Reads what strangers wrote, beside the event loop: cheap documents in threads, costly ones in processes.

A thread does not block the loop, but the garbage collector does, for as long as it takes to walk through what the
thread has made: seconds for the elements of a few megabytes. A thread cannot be ended either. So a costly document is
read in a process of its own, which ends when its reader gives up.

The threads are daemons: a process that has given up a page must not wait for it at its own end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from bridge.errors import BridgeError

T = TypeVar("T")
Value = TypeVar("Value")
Item = TypeVar("Item")

# Of each kind. Slow pages must only ever wait for each other.
_THREADS = 2
#: Tags that are read in a thread: the collector needs about 25 ms at worst for what is made of them.
CHEAP_TAGS = 10_000


class ReaderEnded(Exception):
    """The process that read a document has ended without a result, for instance because it had no memory left."""


async def in_reader(work: Callable[[], T]) -> T:
    """Runs `work` in a thread. When the caller gives up waiting, work that has not begun is dropped.

    No size is small enough to read on the event loop: a wide table of 96 kB takes most of a second, and handing it over
    takes a tenth of a millisecond.
    """
    return await _POOL.threads.run(work)


async def read_document(
    document: str | bytes, work: Callable[..., tuple[Value, list[Item]]], *arguments: object
) -> tuple[Value, list[Item]]:
    """Runs `work(document, *arguments)`: in a process if the document is costly, else in a thread.

    The process is killed when the caller gives up waiting. For it, `work` is a function of a module, and its arguments
    and result can be pickled.

    Raises:
        ReaderEnded: There is no result.
    """
    tags = document.count(b"<") if isinstance(document, bytes) else document.count("<")
    if tags <= CHEAP_TAGS or not _has_interpreter():
        return await in_reader(lambda: work(document, *arguments))
    process = _Process(work, (document, *arguments))
    try:
        return await _POOL.processes.run(process.result)
    finally:
        process.kill()


def _has_interpreter() -> bool:
    """A frozen program is its own `sys.executable`."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


class _Process:
    """A process that reads one document."""

    def __init__(self, *request: object) -> None:
        self._request = request
        self._lock = threading.Lock()
        self._popen: subprocess.Popen[bytes] | None = None
        self._is_killed = False

    def result(self) -> tuple[Any, list[Any]]:
        """Return or raise the outcome of the work. Blocks."""
        with self._lock:
            if self._is_killed:
                raise ReaderEnded("it was given up")
            popen = self._popen = subprocess.Popen(
                [sys.executable, "-m", "bridge.reading.reader_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # The package may be importable only from the current directory.
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},  # noqa: PTH109
            )
        assert popen.stdin is not None
        assert popen.stdout is not None
        try:
            pickle.dump(self._request, popen.stdin)
            popen.stdin.flush()
            is_result, value = pickle.load(popen.stdout)  # noqa: S301  from our own process
            items: list[Any] = []
            while piece := pickle.load(popen.stdout):  # noqa: S301
                items += piece
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise ReaderEnded("its process was ended") from error
        finally:
            self.kill()
            popen.wait()
            with contextlib.suppress(OSError):
                popen.stdin.close()
            popen.stdout.close()
        if is_result:
            return value, items
        raise value if isinstance(value, BridgeError) else ReaderEnded(value)

    def kill(self) -> None:
        with self._lock:
            self._is_killed = True
            if self._popen is not None:
                self._popen.kill()  # which does nothing to a process that has been waited for


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


class _Threads:
    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    async def run(self, work: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put(_Job(work, loop, future))
        while len(self._threads) < _THREADS:
            thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            thread.start()
            self._threads.append(thread)
        return await future

    def _run(self) -> None:
        while True:
            self._jobs.get().run()


class _Pool:
    def __init__(self) -> None:
        self.threads = _Threads("webview-bridge-reading")
        self.processes = _Threads("webview-bridge-reading-processes")


_POOL = _Pool()


def _forget_threads() -> None:
    global _POOL
    _POOL = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)

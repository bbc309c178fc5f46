"""Traces of a session: from beginning to end, or of a part of it. The composition root implements the writing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bridge.errors import UsageError
from bridge.page.instrumentation import Observer

if TYPE_CHECKING:
    from bridge.session.attached.session import AttachedSession
    from bridge.session.session import Session


TracedSession: TypeAlias = "Session | AttachedSession"
#: Observes a session until the block ends, then writes the file.
TraceWriter: TypeAlias = Callable[[TracedSession, Path], AbstractAsyncContextManager[Observer]]


class Tracing:
    """`session.tracing`: traces what happens between `start` and `stop`."""

    def __init__(self, session: TracedSession, writer: TraceWriter | None) -> None:
        self._session = session
        self._writer = writer
        self._running: AsyncExitStack | None = None
        self._target: str | os.PathLike[str] | None = None

    async def start(self) -> None:
        """Observe every operation from now on, in open tabs and those that come.

        Raises:
            UsageError: The session is being traced already.
        """
        session = self._session
        if session.observer is not None:
            raise UsageError("the session is being traced already")
        if self._writer is None:
            raise UsageError("only bridge.Session can write a trace")
        async with AsyncExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="webview-bridge-trace-"))
            written = Path(folder, "trace.html")
            stack.callback(self._keep, written)
            observer = await stack.enter_async_context(self._writer(session, written))
            stack.callback(self._observe, None)
            self._observe(observer)
            self._running = stack.pop_all()

    async def stop(self, *, path: str | os.PathLike[str] | None = None) -> None:
        """Write the trace, one HTML file, or drop it without a path.

        Raises:
            UsageError: No trace was started, or the file cannot be written.
        """
        running = self._running
        if running is None:
            raise UsageError("no trace was started", hint="Call tracing.start() first.")
        if path is not None:
            check_writable(Path(path))
        self._target, self._running = path, None
        await running.aclose()

    async def close(self) -> None:
        """Drop a trace that was not stopped."""
        if self._running is not None:
            await self.stop()

    def _keep(self, written: Path) -> None:
        if self._target is not None:
            shutil.copyfile(written, self._target)

    def _observe(self, observer: Observer | None) -> None:
        self._session.observer = observer
        for page in self._session.pages:
            page.observer = observer


def check_writable(target: Path) -> None:
    """Raise UsageError if the file cannot be written, before the session starts."""
    if not target.parent.is_dir() or target.is_dir():
        raise UsageError(f"a trace cannot be written to {target}", hint="Name a file in an existing folder.")


@asynccontextmanager
async def traced(
    writer: TraceWriter | None, path: str | os.PathLike[str] | None, session: TracedSession
) -> AsyncIterator[Observer | None]:
    """The observer that traces to `path`; None without a path.

    Raises:
        UsageError: The file cannot be written.
    """
    if path is None:
        yield None
        return
    target = Path(path)
    if writer is None:
        raise UsageError("only bridge.Session can write a trace")
    check_writable(target)
    async with writer(session, target) as observer:
        yield observer

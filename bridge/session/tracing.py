"""The interface to traces; the composition root implements it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

from bridge.errors import UsageError
from bridge.page.instrumentation import Observer
from bridge.page.logs.session_logs import SessionLogs
from bridge.policy.pinning import PinnedEgress


class TracedSession(Protocol):
    """The parts of a session that a trace contains besides its operations."""

    @property
    def serial(self) -> str: ...

    @property
    def logs(self) -> SessionLogs: ...

    @property
    def egress(self) -> PinnedEgress: ...

    def notice(self, text: str) -> None: ...


class Tracing(Protocol):
    def start(self, session: TracedSession, path: Path) -> AbstractAsyncContextManager[Observer]:
        """Observe until the block ends, then write the file."""
        ...


def check_writable(target: Path) -> None:
    """Raise UsageError if the file cannot be written, before the session starts."""
    if not target.parent.is_dir() or target.is_dir():
        raise UsageError(f"a trace cannot be written to {target}", hint="Name a file in an existing folder.")


@asynccontextmanager
async def traced(
    tracing: Tracing | None, path: str | os.PathLike[str] | None, session: TracedSession
) -> AsyncIterator[Observer | None]:
    """The observer that traces to `path`; None without a path.

    Raises:
        UsageError: The file cannot be written.
    """
    if path is None:
        yield None
        return
    target = Path(path)
    if tracing is None:
        raise UsageError("only bridge.Session can write a trace")
    check_writable(target)
    async with tracing.start(session, target) as observer:
        yield observer

"""Traces as the composition root hands them in; this layer does not know how they are made."""

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
    """What a trace tells of a session besides its operations."""

    @property
    def serial(self) -> str: ...

    @property
    def logs(self) -> SessionLogs: ...

    @property
    def egress(self) -> PinnedEgress: ...

    def notice(self, text: str) -> None: ...


class Tracing(Protocol):
    def start(self, session: TracedSession, path: Path) -> AbstractAsyncContextManager[Observer]:
        """Observe until the block ends, and write the file then."""
        ...


def check_writable(target: Path) -> None:
    """Refuse a file that cannot be written, before anything is done for it."""
    if not target.parent.is_dir() or target.is_dir():
        raise UsageError(f"a trace cannot be written to {target}", hint="Name a file in a folder that is there.")


@asynccontextmanager
async def traced(
    tracing: Tracing | None, path: str | os.PathLike[str] | None, session: TracedSession
) -> AsyncIterator[Observer | None]:
    """The observer for `path`; None where no trace is wanted.

    Raises:
        UsageError: Nothing can be written there.
    """
    if path is None:
        yield None
        return
    target = Path(path)
    if tracing is None:
        raise UsageError("a trace needs bridge.Session, which knows how to write one")
    check_writable(target)
    async with tracing.start(session, target) as observer:
        yield observer

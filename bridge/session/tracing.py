"""The interface to traces; the composition root implements it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bridge.errors import UsageError
from bridge.page.instrumentation import Observer

if TYPE_CHECKING:
    from bridge.session.attached.session import AttachedSession
    from bridge.session.session import Session


TracedSession: TypeAlias = "Session | AttachedSession"
#: Observes a session until the block ends, then writes the file.
Tracing: TypeAlias = Callable[[TracedSession, Path], AbstractAsyncContextManager[Observer]]


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
    async with tracing(session, target) as observer:
        yield observer

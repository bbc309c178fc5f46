"""Deadlines of operations, and clean-up that runs to its end while a task is being cancelled."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from bridge.errors import DeadlineExceeded, UsageError

_log = logging.getLogger(__name__)

# The end of the innermost clean-up that is running, on the monotonic clock.
_finished_by: ContextVar[float] = ContextVar("finished_by", default=math.inf)
_LET_GO_S = 0.5


@dataclass(slots=True)
class Deadline:
    """The time when an operation has to be over. Made once per operation and passed down to every wait in it.

    Attributes:
        timeout_s: What the caller asked for; errors quote it. `math.inf` never ends.
        at: `time.monotonic()` at the end.
    """

    timeout_s: float
    at: float

    @classmethod
    def after(cls, timeout_s: float) -> Deadline:
        return cls(timeout_s, time.monotonic() + timeout_s)

    @property
    def remaining_s(self) -> float:
        """Seconds until the deadline, never negative."""
        return max(0.0, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        return self.remaining_s <= 0.0

    def restart(self) -> None:
        """Start again from now: what was waited for so far was not the operation's own."""
        self.at = time.monotonic() + self.timeout_s

    def at_most(self, seconds: float) -> Deadline:
        """The earlier of this deadline and `seconds` from now."""
        return self if self.remaining_s <= seconds else Deadline.after(seconds)

    def at_least(self, seconds: float) -> Deadline:
        """The later of this deadline and `seconds` from now."""
        return self if self.remaining_s >= seconds else Deadline.after(seconds)

    @asynccontextmanager
    async def bound(self, awaited: str, last_seen: Callable[[], str] | None = None) -> AsyncIterator[None]:
        """Cancel the block at the deadline and raise DeadlineExceeded, which quotes `last_seen()`.

        A TimeoutError from inside the block (ETIMEDOUT of a socket, another timeout) passes unchanged.
        """
        timer = asyncio.timeout(None if math.isinf(self.at) else self.remaining_s)
        try:
            async with timer:
                yield
        except TimeoutError as error:
            if not timer.expired():
                raise
            raise self.exceeded(awaited, last_seen() if last_seen else "") from error

    def exceeded(self, awaited: str, last_seen: str = "") -> DeadlineExceeded:
        return DeadlineExceeded(awaited, self.timeout_s, last_seen)


def checked_seconds(name: str, seconds: object) -> float:
    """Validate a timeout or pause that a caller passed as the argument `name`.

    Raises:
        UsageError: Not a finite number of seconds, or negative.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        raise UsageError(f"{name} is {seconds!r}; it must be a number of seconds, 0 or more.")
    return float(seconds)


async def finish(cleanup: Coroutine[Any, Any, object], *, at_most_s: float, what: str) -> None:
    """Run `cleanup` to its end even if this task is cancelled, but no longer than `at_most_s`.

    A nested clean-up gets no more time than the outer one has left. At the end of the time the clean-up is cancelled,
    and has a moment to release what it holds.

    Errors of the clean-up are logged and not raised: they would hide the reason for it. A cancellation that arrives
    during the clean-up is raised at its end.
    """
    deadline = Deadline.after(max(0.0, min(at_most_s, _finished_by.get() - time.monotonic())))
    token = _finished_by.set(deadline.at)
    task = asyncio.create_task(_logged(cleanup, what), name=f"finish: {what}")
    _finished_by.reset(token)
    cancelled = await _waited(task, deadline)
    if not task.done():
        _log.warning("%s did not finish within %.3g s", what, deadline.timeout_s)
        task.cancel()
        cancelled = await _waited(task, Deadline.after(_LET_GO_S)) or cancelled
    if cancelled is not None:
        raise cancelled


async def _waited(task: asyncio.Task[None], deadline: Deadline) -> asyncio.CancelledError | None:
    """Wait for the task to end; returns a cancellation that arrived during the wait."""
    cancelled: asyncio.CancelledError | None = None
    while True:
        try:
            await asyncio.wait({task}, timeout=deadline.remaining_s)
        except asyncio.CancelledError as error:
            cancelled = error
        if task.done() or deadline.passed:
            return cancelled


async def _logged(cleanup: Coroutine[Any, Any, object], what: str) -> None:
    try:
        await cleanup
    except Exception as error:  # raised, it would hide the reason for the clean-up
        _log.warning("%s failed: %s", what, error)

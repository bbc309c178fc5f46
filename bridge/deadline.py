"""One budget of time per operation, and clean-up that happens although we are being cancelled."""

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

# When the clean-up that we are in has to be over, on the monotonic clock.
_finished_by: ContextVar[float] = ContextVar("finished_by", default=math.inf)
_LET_GO_S = 0.5


@dataclass(frozen=True)
class Deadline:
    """A point on the monotonic clock that a whole operation shares, however many waits it is made of.

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
        """Seconds that are left, never negative."""
        return max(0.0, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        return self.remaining_s <= 0.0

    @asynccontextmanager
    async def bound(self, awaited: str, last_seen: Callable[[], str] | None = None) -> AsyncIterator[None]:
        """Cancel the block when the budget is spent and raise DeadlineExceeded, which quotes `last_seen()`.

        A TimeoutError from inside the block (ETIMEDOUT of a socket, somebody else's timeout) passes as it is.
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
    """A span of time that a caller asked for.

    Raises:
        UsageError: No finite number of seconds, or less than none; `name` is the argument's.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        raise UsageError(f"{name} is {seconds!r}; it must be a number of seconds, 0 or more.")
    return float(seconds)


async def finish(cleanup: Coroutine[Any, Any, object], *, at_most_s: float, what: str) -> None:
    """Run `cleanup` to its end even while we are cancelled, but no longer than `at_most_s`.

    A clean-up within a clean-up has no more time than that one has left, so `at_most_s` bounds both. When it is spent,
    what goes on is cancelled, and given a moment to let go of what it holds.

    What goes wrong in it is logged, not raised: it would hide why we are leaving. A cancellation that arrives meanwhile
    is raised when the clean-up is over.
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
    """Wait for the task, which begins in any case; the cancellation that arrived meanwhile."""
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
    except Exception as error:  # whatever it is, the caller is leaving for a reason of its own
        _log.warning("%s failed: %s", what, error)

"""One operation at a time on a page, and a second look at what went wrong before it is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from bridge.deadline import Deadline, checked_seconds
from bridge.errors import (
    BridgeError,
    DeadlineExceeded,
    DeviceError,
    HostError,
    NavigationFailed,
    TabLost,
    TransportError,
)

#: What the operation has left; told whether its time begins anew.
Budget = Callable[[bool], float | None]

# Errors behind which more may stand than they know: a page that hangs, a renderer, a host, a device that is gone.
_SUSPICIOUS = (DeadlineExceeded, DeviceError, HostError, TabLost, TransportError)
# A renderer that dies takes the navigation along, and the news of its death may come after it.
_ABORTED = "net::ERR_ABORTED"
# Below it nobody has waited, and errors quote what the caller asked for.
_AT_ONCE_S = 0.01


class Turn:
    """`async with turn.within(timeout_s) as timeout_s:` around an operation, with what is left of its time after it had
    to wait; two at once would tell each other's changes.

    An error that may be a symptom is shown to `diagnose`, which frees or finds out what it can and gives the error
    that the user is to see.
    """

    def __init__(self, diagnose: Callable[[BridgeError], Awaitable[BridgeError]]) -> None:
        self._lock = asyncio.Lock()
        self._diagnose = diagnose
        self._held_by: str | None = None
        self._waited: tuple[str, ...] = ()
        self._deadline: Deadline | None = None

    @asynccontextmanager
    async def within(self, timeout_s: float) -> AsyncIterator[float]:
        """The turn; yields how much of `timeout_s` is left.

        Raises:
            DeadlineExceeded: The page was in use all the time; says by whom.
            UsageError: `timeout_s` is no span of time.
        """
        timeout_s = checked_seconds("timeout_s", timeout_s)
        by, began, deadline = self._held_by, time.monotonic(), Deadline.after(timeout_s)
        async with deadline.bound("the page's turn", lambda: f"in use by {self._held_by or 'another operation'}"):
            await self._lock.acquire()
        waited_s = time.monotonic() - began
        try:
            self._waited = () if by is None else (f"waited {waited_s:.1f} s: in use by {by}",)
            self._deadline = deadline
            yield self.left(timeout_s)
        except (*_SUSPICIOUS, NavigationFailed) as error:
            if isinstance(error, NavigationFailed) and error.net_error != _ABORTED:
                raise
            told = await self._diagnose(error)
            if told is error:
                raise
            raise told from error
        finally:
            self._deadline = None
            self._lock.release()

    @property
    def remaining_s(self) -> float | None:
        """What the operation whose turn it is has left of its time; None where there is none."""
        return self._deadline.remaining_s if self._deadline else None

    def budget(self, begins_anew: bool) -> float | None:
        """`remaining_s`. Waiting for a device or an app to come back is not the operation's: its time begins anew."""
        if begins_anew and self._deadline is not None:
            self._deadline = Deadline.after(self._deadline.timeout_s)
        return self.remaining_s

    def check_left(self, done: str) -> None:
        """Raise DeadlineExceeded where `done` has taken all the time that the operation had."""
        if self._deadline is not None and self._deadline.passed:
            raise self._deadline.exceeded("the operation", done)

    def left(self, timeout_s: float) -> float:
        """`timeout_s`, or what is left where the operation has waited, for its turn or for its tab to be opened."""
        if self._deadline is None or self._deadline.timeout_s - self._deadline.remaining_s < _AT_ONCE_S:
            return timeout_s
        return round(self._deadline.remaining_s, 3)

    @asynccontextmanager
    async def held(self, by: str) -> AsyncIterator[None]:
        """Keep operations waiting while somebody else acts on the page; those that waited say so, with `by`."""
        await self._lock.acquire()
        self._held_by = by
        try:
            yield
        finally:
            self._held_by = None
            self._lock.release()

    def take_waited(self) -> tuple[str, ...]:
        """What the operation whose turn it is had to wait for; told once."""
        waited, self._waited = self._waited, ()
        return waited

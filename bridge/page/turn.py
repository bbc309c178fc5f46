"""One operation at a time on a page, and a second look at what went wrong before it is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import TracebackType

from bridge.errors import (
    BridgeError,
    DeadlineExceeded,
    DeviceError,
    HostError,
    NavigationFailed,
    TabLost,
    TransportError,
)

# Errors behind which more may stand than they know: a page that hangs, a renderer, a host, a device that is gone.
_SUSPICIOUS = (DeadlineExceeded, DeviceError, HostError, TabLost, TransportError)
# A renderer that dies takes the navigation along, and the news of its death may come after it.
_ABORTED = "net::ERR_ABORTED"


class Turn:
    """`async with turn:` around an operation; two at once would tell each other's changes.

    An error that may be a symptom is shown to `look_into`, which frees or finds out what it can and gives the error
    that the user is to see.
    """

    def __init__(self, look_into: Callable[[BridgeError], Awaitable[BridgeError]]) -> None:
        self._lock = asyncio.Lock()
        self._look_into = look_into
        self._held_by: str | None = None
        self._waited: tuple[str, ...] = ()

    async def __aenter__(self) -> None:
        by, began = self._held_by, time.monotonic()
        await self._lock.acquire()
        self._waited = () if by is None else (f"waited {time.monotonic() - began:.1f} s: {by}",)

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

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, _SUSPICIOUS) or (isinstance(error, NavigationFailed) and error.net_error == _ABORTED):
                told = await self._look_into(error)
                if told is not error:
                    raise told from error
        finally:
            self._lock.release()

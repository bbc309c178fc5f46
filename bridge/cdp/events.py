"""A queue of events for a listener that takes them at its own pace."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import Self

from bridge.cdp.protocol import CdpEvent
from bridge.deadline import Deadline
from bridge.errors import TransportError

_log = logging.getLogger(__name__)


class EventStream:
    """An asynchronous iterator over a bounded queue.

    A listener that falls behind loses the oldest events, with one line in the log, and does not delay replies. The
    iterator raises TransportError when the connection is closed and the queue is empty.

    Attributes:
        dropped: How many events were lost.
    """

    def __init__(self, methods: frozenset[str], session_id: str | None, maxlen: int) -> None:
        self.dropped = 0
        self._methods = methods
        self._session_id = session_id
        self._queue: deque[CdpEvent] = deque(maxlen=maxlen)
        self._arrived = asyncio.Event()
        self._closed_because: str | None = None

    def offer(self, event: CdpEvent) -> None:
        """Queue the event if it matches the methods and the session."""
        if self._methods and event.method not in self._methods:
            return
        if self._session_id is not None and event.session_id != self._session_id:
            return
        if len(self._queue) == self._queue.maxlen:
            if not self.dropped:
                names = ", ".join(sorted(self._methods)) or "all events"
                _log.warning(
                    "a listener for %s is too slow: more than %d events are queued, the oldest are dropped",
                    names,
                    len(self._queue),
                )
            self.dropped += 1
        self._queue.append(event)
        self._arrived.set()

    def close(self, reason: str) -> None:
        """End the stream after the queued events."""
        self._closed_because = reason
        self._arrived.set()

    async def next(self, *, timeout_s: float) -> CdpEvent:
        """The next event; DeadlineExceeded if there is none in time."""
        async with Deadline.after(timeout_s).bound(f"waiting for {', '.join(sorted(self._methods)) or 'an event'}"):
            return await self.__anext__()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> CdpEvent:
        while not self._queue:
            if self._closed_because is not None:
                raise TransportError(self._closed_because)
            self._arrived.clear()
            await self._arrived.wait()
        return self._queue.popleft()

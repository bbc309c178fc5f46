"""Events of the host app, kept for whoever reads them."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from bridge.host.protocol import Event

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class HostEvents:
    """A bounded queue of events, oldest first; the iterator ends when the connection does."""

    names: frozenset[str]
    maxlen: int
    queue: deque[Event] = field(default_factory=deque)
    dropped: int = 0
    ended: bool = False
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, event: Event) -> None:
        if self.names and event.name not in self.names:
            return
        if len(self.queue) >= self.maxlen:
            self.queue.popleft()
            self.dropped += 1
            if self.dropped == 1:
                _log.warning("host events are not read: the oldest are dropped beyond %d", self.maxlen)
        self.queue.append(event)
        self._news.set()

    def end(self) -> None:
        self.ended = True
        self._news.set()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        while not self.queue:
            if self.ended:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self.queue.popleft()

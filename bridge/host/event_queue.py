"""Events of the host app, queued for a reader."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from bridge.host.protocol import HostEvent

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class HostEventQueue:
    """A bounded queue of events; the iterator ends with the connection."""

    names: frozenset[str]
    maxlen: int
    queue: deque[HostEvent] = field(default_factory=deque)
    dropped: int = 0
    ended: bool = False
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, event: HostEvent) -> None:
        if self.names and event.name not in self.names:
            return
        if len(self.queue) >= self.maxlen:
            self.queue.popleft()
            self.dropped += 1
            if self.dropped == 1:
                _log.warning(
                    "host events are not read: more than %d are queued and the oldest are dropped", self.maxlen
                )
        self.queue.append(event)
        self._news.set()

    def end(self) -> None:
        self.ended = True
        self._news.set()

    def __aiter__(self) -> AsyncIterator[HostEvent]:
        return self

    async def __anext__(self) -> HostEvent:
        while not self.queue:
            if self.ended:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self.queue.popleft()

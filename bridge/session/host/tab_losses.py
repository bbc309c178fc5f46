"""A tab that is lost while it is being opened: the host app tells at once, what was asked in devtools may never answer.

WebViews share a renderer: one that dies for another tab's sake takes along what is being opened in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from bridge.deadline import Deadline
from bridge.errors import TabLost
from bridge.host.client import HostClient
from bridge.page.target.condition import Condition

T = TypeVar("T")


class TabLosses:
    """Which tabs the host app has lost; made by `losses_of`, before there is a tab to lose."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}
        self._watch = Condition()

    def take_event(self, event: str, fields: Mapping[str, Any]) -> None:
        if event == "tab.lost":
            self._said[str(fields.get("tab"))] = str(fields.get("message") or fields.get("reason") or "")
            self._watch.notify()

    async def unless_lost(self, tab: str, work: Coroutine[Any, Any, T], deadline: Deadline) -> T:
        """What `work` gives; it is cancelled when the tab is lost.

        Raises:
            TabLost: With what the host app said.
        """
        working = asyncio.ensure_future(work)
        losing = asyncio.ensure_future(self._watch.wait(lambda: tab in self._said, timeout_s=deadline.remaining_s))
        try:
            await asyncio.wait((working, losing), return_when=asyncio.FIRST_COMPLETED)
            if tab in self._said:
                raise TabLost(f"the tab was lost while it was opened: {self._said[tab]}")
            return await working
        finally:
            working.cancel()
            losing.cancel()
            await asyncio.gather(working, losing, return_exceptions=True)


@contextmanager
def losses_of(host: HostClient) -> Iterator[TabLosses]:
    """From now on, until the block ends."""
    losses = TabLosses()
    remove = host.on_event(losses.take_event)
    try:
        yield losses
    finally:
        remove()

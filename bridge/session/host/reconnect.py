"""What is lost of a session, and how it comes back: the host app first, then its tabs."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeviceLost
from bridge.session.devices import Notice
from bridge.session.host.connection import HostConnection
from bridge.session.tab import SessionTab

_REJOIN_S = 5.0
# How long after the ladder's blow the news of dead tabs still comes from it.
_KILL_NEWS_S = 10.0


class Recovery:
    """Finds out and restores what one session has lost."""

    def __init__(
        self,
        serial: str,
        link: HostConnection,
        open_tabs: Callable[[], tuple[SessionTab, ...]],
        notice: Notice,
        closed_by_page: Callable[[SessionTab], None],
    ) -> None:
        self._serial = serial
        self._link = link
        self._open_tabs = open_tabs
        self._notice = notice
        self._closed_by_page = closed_by_page
        self._lost: BridgeError | None = None
        self._killed_at = -math.inf
        self._turn = asyncio.Lock()

    @property
    def seems_whole(self) -> bool:
        """Nothing is known to be lost; nobody is asked."""
        return self._lost is None and not self._link.host.closed.is_set()

    async def diagnose(self, is_heard: Callable[[], bool] = lambda: False) -> BridgeError | None:
        """What is lost and why, by asking device and host app. See `HostConnection.diagnose`."""
        self._lost = await self._link.diagnose(is_heard)
        return self._lost

    def renderer_killed(self) -> None:
        """The ladder has just killed it: the tabs that are lost now are lost by that."""
        self._killed_at = time.monotonic()

    def take_loss(self, event: str, fields: Mapping[str, Any]) -> None:
        """The host app's news of a tab that is no more."""
        reason = "idle" if event == "idle_destroyed" else str(fields.get("reason", "lost"))
        for tab in self._open_tabs():
            if tab.host_tab != fields.get("tab"):
                continue
            if reason == "closed_by_page":
                self._closed_by_page(tab)
            elif reason == "renderer_crashed" and time.monotonic() - self._killed_at < _KILL_NEWS_S:
                tab.lose_to_ladder()
            else:
                tab.lose(reason)

    async def reconnect(self, *, timeout_s: float) -> tuple[str, ...]:
        """Restore what is lost; what was done, one sentence each. See `Session.reconnect`."""
        deadline = Deadline.after(timeout_s)
        async with self._turn:
            said: list[str] = []
            lost = await self.diagnose()
            if lost is not None:
                said += await self._renew(lost, deadline)
            gone = [tab for tab in self._open_tabs() if tab.is_lost]
            said += await asyncio.gather(*(self._restore(tab, deadline) for tab in gone))
            return tuple(said)

    async def _renew(self, lost: BridgeError, deadline: Deadline) -> list[str]:
        """The connection is made anew, and the tabs that outlived it are joined again."""
        before = self._link.host.hello.pid
        if isinstance(lost, DeviceLost) and not lost.details.get("has_ended"):
            self._notice(f"{lost.message} Waiting up to {deadline.remaining_s:.0f} s for it to come back.")
        await self._link.renew(timeout_s=deadline.remaining_s)
        self._lost = None
        said = [f"reconnected to {self._serial}: {lost.message}"]
        self._notice(said[0])
        outlived: frozenset[str] = frozenset()
        gone = "its host app was lost"
        if self._link.host.hello.pid == before:
            gone = "it had gone from the host app while that was not connected"
            listed = await self._link.host.list_tabs(timeout_s=deadline.remaining_s)
            outlived = frozenset(str(tab.get("tab")) for tab in listed)
        there = [tab for tab in self._open_tabs() if not tab.is_lost and tab.host_tab in outlived]
        for tab in self._open_tabs():
            if tab in there:
                continue
            # A dead renderer, or too long a time, would have taken its opener and the others along.
            if tab.opener_id is not None and not tab.is_lost and outlived:
                self._closed_by_page(tab)
                said.append(f"{tab.tab_id} is no more: its page closed its own window meanwhile")
            else:
                tab.lose(gone)
        return said + await asyncio.gather(*(self._rejoin(tab, deadline) for tab in there))

    async def _rejoin(self, tab: SessionTab, deadline: Deadline) -> str:
        try:
            return await tab.rejoin(timeout_s=min(_REJOIN_S, deadline.remaining_s))
        except BridgeError as error:
            tab.lose(error.message)
            return f"{tab.tab_id} was still there and did not answer"

    async def _restore(self, tab: SessionTab, deadline: Deadline) -> str:
        try:
            return await tab.restore(timeout_s=deadline.remaining_s)
        except BridgeError as error:
            said = f"{tab.tab_id} could not be opened again: {error.message}"
            self._notice(said)
            return said

"""Finds out what a session has lost and restores it: the host app first, then its tabs."""

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
# Reports of crashed tabs that arrive this long after hang recovery killed a renderer are its doing.
_KILL_REPORTS_S = 10.0


class Reconnect:
    """The losses of one session."""

    def __init__(
        self,
        serial: str,
        connection: HostConnection,
        open_tabs: Callable[[], tuple[SessionTab, ...]],
        notice: Notice,
        closed_by_page: Callable[[SessionTab], None],
    ) -> None:
        self._serial = serial
        self._connection = connection
        self._open_tabs = open_tabs
        self._notice = notice
        self._closed_by_page = closed_by_page
        self._lost: BridgeError | None = None
        self._killed_at = -math.inf
        self._lock = asyncio.Lock()

    @property
    def is_connected(self) -> bool:
        """True unless a loss of device or host app is known; nothing is probed."""
        return self._lost is None and not self._connection.host.closed.is_set()

    async def diagnose(self, is_heard: Callable[[], bool] = lambda: False) -> BridgeError | None:
        """Probe device and host app for a loss. See `HostConnection.diagnose`."""
        self._lost = await self._connection.diagnose(is_heard)
        return self._lost

    def renderer_killed(self) -> None:
        """Hang recovery has just killed a renderer: the tabs that crash now are its doing."""
        self._killed_at = time.monotonic()

    def take_loss(self, event: str, fields: Mapping[str, Any]) -> None:
        """Take the host app's report of a tab that is gone."""
        reason = "idle" if event == "idle_destroyed" else str(fields.get("reason", "lost"))
        for tab in self._open_tabs():
            if tab.host_tab != fields.get("tab"):
                continue
            if reason == "closed_by_page":
                self._closed_by_page(tab)
            elif reason == "renderer_crashed" and time.monotonic() - self._killed_at < _KILL_REPORTS_S:
                tab.killed_by_recovery()
            else:
                tab.lose(reason)

    async def reconnect(self, *, timeout_s: float) -> tuple[str, ...]:
        """Restore what is lost; notices of what was done. See `Session.reconnect`."""
        deadline = Deadline.after(timeout_s)
        async with self._lock:
            notices: list[str] = []
            lost = await self.diagnose()
            if lost is not None:
                notices += await self._renew(lost, deadline)
            gone = [tab for tab in self._open_tabs() if tab.is_lost]
            notices += await asyncio.gather(*(self._restore(tab, deadline) for tab in gone))
            return tuple(notices)

    async def _renew(self, lost: BridgeError, deadline: Deadline) -> list[str]:
        """Renew the connection, attach again to the tabs that outlived it, and mark the others as lost."""
        pid_before = self._connection.host.hello.pid
        if isinstance(lost, DeviceLost) and not lost.details.get("has_ended"):
            self._notice(f"{lost.message} Waiting up to {deadline.remaining_s:.0f} s for it to come back.")
        await self._connection.renew(timeout_s=deadline.remaining_s)
        self._lost = None
        notices = [f"reconnected to {self._serial}: {lost.message}"]
        self._notice(notices[0])
        outlived: frozenset[str] = frozenset()
        reason = "its host app was lost"
        if self._connection.host.hello.pid == pid_before:
            reason = "the host app closed it while disconnected"
            listed = await self._connection.host.list_tabs(timeout_s=deadline.remaining_s)
            outlived = frozenset(str(tab.get("tab")) for tab in listed)
        there = [tab for tab in self._open_tabs() if not tab.is_lost and tab.host_tab in outlived]
        for tab in self._open_tabs():
            if tab in there:
                continue
            # A crashed renderer, or an idle host app, would have taken its opener and the others along.
            if tab.opener_id is not None and not tab.is_lost and outlived:
                self._closed_by_page(tab)
                notices.append(f"{tab.tab_id} is gone: its page closed its own window while disconnected")
            else:
                tab.lose(reason)
        return notices + await asyncio.gather(*(self._rejoin(tab, deadline) for tab in there))

    async def _rejoin(self, tab: SessionTab, deadline: Deadline) -> str:
        try:
            return await tab.rejoin(timeout_s=min(_REJOIN_S, deadline.remaining_s))
        except BridgeError as error:
            tab.lose(error.message)
            return f"{tab.tab_id} was still open but did not respond"

    async def _restore(self, tab: SessionTab, deadline: Deadline) -> str:
        try:
            return await tab.restore(timeout_s=deadline.remaining_s)
        except BridgeError as error:
            notice = f"{tab.tab_id} could not be reopened: {error.message}"
            self._notice(notice)
            return notice

"""What pages have stored ends with their session: the host app's process, and what its WebViews keep, may outlive it.

Cookies, web storage, cache and history of a profile go by the host app's `tab.reset` of one of its tabs; what that
leaves (IndexedDB, service workers) by CDP, origin by origin.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Protocol

from bridge.cdp import PendingCall
from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError
from bridge.page.target.attachment import Attachment
from bridge.session.tab import SessionTab
from bridge.session.tab_host import Home

_CLOSE_S = 2.0


class LeavingHome(Home, Protocol):
    """What clearing needs of the session."""

    def open_tabs(self) -> tuple[SessionTab, ...]: ...


async def clear_state(
    home: LeavingHome, profiles: Iterable[str | None], origins: Iterable[str], *, timeout_s: float
) -> None:
    """Clear these profiles; one of which no tab is there gets one for it.

    Raises:
        BridgeError: Something could not be cleared.
    """
    deadline = Deadline.after(timeout_s)
    there = [tab for tab in home.open_tabs() if tab.host_tab is not None and not tab.is_lost and tab.present]
    # Every page is left first: one that is still there writes again what was cleared.
    await asyncio.gather(*(_reset(home, tab, deadline) for tab in there))
    by_profile = {tab.profile: tab for tab in there}
    for profile in profiles:
        if (tab := by_profile.get(profile)) is not None and tab.present is not None:
            await cleared(start_clearing(tab.present, origins), deadline)
        else:
            await _clear_by_a_tab_of_ours(home, profile, origins, deadline)


async def _clear_by_a_tab_of_ours(
    home: LeavingHome, profile: str | None, origins: Iterable[str], deadline: Deadline
) -> None:
    tab = SessionTab("the tab that clears", home, profile=profile)
    try:
        attachment = await tab.open(timeout_s=deadline.remaining_s)
        await _reset(home, tab, deadline)
        await cleared(start_clearing(attachment, origins), deadline)
    finally:
        await finish(tab.close(timeout_s=_CLOSE_S), at_most_s=_CLOSE_S, what="closing the tab that clears")


async def _reset(home: LeavingHome, tab: SessionTab, deadline: Deadline) -> None:
    assert tab.host_tab is not None
    await home.host_client.reset_tab(tab.host_tab, timeout_s=deadline.remaining_s)


def start_clearing(attachment: Attachment, origins: Iterable[str]) -> list[PendingCall]:
    """Ask at once for everything to be cleared that these origins have stored in the tab's profile."""
    return [
        attachment.connection.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        for origin in sorted(origins)
    ]


async def cleared(clearing: Iterable[PendingCall], deadline: Deadline) -> None:
    """Wait for all of it; raises the first BridgeError when each has had its answer."""
    failed: list[BridgeError] = []
    for call in clearing:
        try:
            await call.result(timeout_s=deadline.remaining_s)
        except BridgeError as error:
            failed.append(error)
    if failed:
        raise failed[0]

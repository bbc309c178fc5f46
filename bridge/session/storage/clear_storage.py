"""Clears what pages have stored: the host app's process, and what its WebViews keep, may outlive the session.

The host app's `tab.reset` clears cookies, web storage, cache and history of a tab's profile. CDP clears what is left
(IndexedDB, service workers), origin by origin.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from bridge.cdp import PendingCall
from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError
from bridge.page.target.attachment import Attachment
from bridge.session.tab import SessionTab
from bridge.session.tab_host import TabHost
from bridge.session.tabs import Tabs

_CLOSE_S = 2.0


async def clear_browsing_data(
    tabs: Tabs, profiles: Iterable[str | None], origins: Iterable[str], *, timeout_s: float
) -> None:
    """Clear these profiles; a profile without an open tab gets one for it.

    Raises:
        BridgeError: Something could not be cleared.
    """
    deadline = Deadline.after(timeout_s)
    there = [tab for tab in tabs.open_tabs() if tab.host_tab is not None and not tab.is_lost and tab.present]
    # Leave every page first: a page that is still there could write again what was cleared.
    await asyncio.gather(*(_reset(tabs, tab, deadline) for tab in there))
    by_profile = {tab.profile: tab for tab in there}
    for profile in profiles:
        if (tab := by_profile.get(profile)) is not None and tab.present is not None:
            await cleared(start_clearing(tab.present, origins), deadline)
        else:
            await _clear_in_new_tab(tabs, profile, origins, deadline)


async def _clear_in_new_tab(host: TabHost, profile: str | None, origins: Iterable[str], deadline: Deadline) -> None:
    tab = SessionTab("the tab for clearing data", host, profile=profile)
    try:
        attachment = await tab.open(timeout_s=deadline.remaining_s)
        await _reset(host, tab, deadline)
        await cleared(start_clearing(attachment, origins), deadline)
    finally:
        await finish(tab.close(timeout_s=_CLOSE_S), at_most_s=_CLOSE_S, what="closing the tab for clearing data")


async def _reset(host: TabHost, tab: SessionTab, deadline: Deadline) -> None:
    assert tab.host_tab is not None
    await host.host_client.reset_tab(tab.host_tab, timeout_s=deadline.remaining_s)


def start_clearing(attachment: Attachment, origins: Iterable[str]) -> list[PendingCall]:
    """Send the commands that clear everything that these origins have stored in the tab's profile."""
    return [
        attachment.connection.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        for origin in sorted(origins)
    ]


async def cleared(clearing: Iterable[PendingCall], deadline: Deadline) -> None:
    """Wait for all replies, then raise the first BridgeError among them."""
    failed: list[BridgeError] = []
    for call in clearing:
        try:
            await call.result(timeout_s=deadline.remaining_s)
        except BridgeError as error:
            failed.append(error)
    if failed:
        raise failed[0]

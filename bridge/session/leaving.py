"""What pages have stored ends with their session: the host app's process, and what its WebViews keep, may outlive it.

Cookies, web storage, cache and history of a profile go by the host app's `tab.reset` of one of its tabs; what that
leaves (IndexedDB, service workers) by CDP, origin by origin.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from bridge.deadline import Deadline
from bridge.errors import BridgeError
from bridge.host.client import HostClient
from bridge.page.attachment import Attachment
from bridge.session.tab import SessionTab, View


async def clear_state(
    host: HostClient, tabs: Iterable[SessionTab], origins: Iterable[str], view: View, *, timeout_s: float
) -> None:
    """Clear every profile that the tabs are in, and the default one.

    Raises:
        BridgeError: Something could not be cleared.
    """
    deadline = Deadline.after(timeout_s)
    there = [tab for tab in tabs if tab.host_tab is not None and not tab.is_lost]
    # Every page is left first: one that is still there writes again what was cleared.
    await asyncio.gather(
        *(host.reset_tab(tab.host_tab, timeout_s=deadline.remaining_s) for tab in there if tab.host_tab is not None)
    )
    profiles = {tab.profile: tab for tab in there}
    for tab in profiles.values():
        if (attachment := tab.present) is not None:
            await clear_origins(attachment, origins, deadline)
    if None not in profiles:
        made = await host.open_tab(
            width_px=view.width_px,
            height_px=view.height_px,
            density_dpi=view.density_dpi,
            timeout_s=deadline.remaining_s,
        )
        await host.reset_tab(made.tab, timeout_s=deadline.remaining_s)
        await host.close_tab(made.tab, timeout_s=deadline.remaining_s)


async def clear_origins(attachment: Attachment, origins: Iterable[str], deadline: Deadline) -> None:
    """Everything that these origins have stored in the tab's profile, all asked for at once."""
    clearing = [
        attachment.connection.send("Storage.clearDataForOrigin", storage_of(origin)) for origin in sorted(origins)
    ]
    failed: list[BridgeError] = []
    for call in clearing:
        try:
            await call.result(timeout_s=deadline.remaining_s)
        except BridgeError as error:
            failed.append(error)
    if failed:
        raise failed[0]


def storage_of(origin: str) -> Mapping[str, str]:
    return {"origin": origin, "storageTypes": "all"}

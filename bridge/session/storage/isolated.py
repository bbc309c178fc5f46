"""A tab for one block, which leaves nothing for the next one.

If the WebView has profiles, the tab gets one of its own, so the session's other tabs keep their storage. If not, it
shares theirs, and is refused while others are open. The host app's `tab.reset` clears cookies, cache and history; CDP
clears service workers and the storage of every visited origin; session storage goes with the tab, which is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from bridge.deadline import Deadline, finish
from bridge.errors import Unsupported
from bridge.page.page import Page
from bridge.session.storage.clear_storage import cleared, start_clearing
from bridge.session.tabs import Tabs

ISOLATED_TIMEOUT_S = 30.0
PROFILE = "one-shot"
_RESET_S = 10.0


@dataclass(slots=True)
class Isolation:
    """One isolated tab at a time.

    Attributes:
        left_behind: Set while data of an isolated tab may not have been cleared.
        origins: The origins whose data is still to be cleared.
    """

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    left_behind: bool = True
    origins: set[str] = field(default_factory=set)


@asynccontextmanager
async def isolated(tabs: Tabs, state: Isolation, *, timeout_s: float) -> AsyncIterator[Page]:
    """The tab; cleared when the block ends, also if it is cancelled, and closed right after.

    Raises:
        Unsupported: There are no profiles, and other tabs are open.
        BridgeError: Data of an earlier block could not be cleared: no tab is given then.
    """
    deadline = Deadline.after(timeout_s)
    async with AsyncExitStack() as stack:
        async with deadline.bound("waiting for another one-shot page to end"):
            await stack.enter_async_context(state.lock)
        profile = PROFILE if tabs.host_client.hello.features.get("profiles") else None
        if profile is None and tabs.pages:
            raise Unsupported(
                "this WebView has no profiles, so a one-shot page would share its cookies with the open tabs",
                hint="Close the other tabs, or use a session of its own.",
            )
        before = set(tabs.by_id)
        async with deadline.bound("opening a one-shot page"):
            page = await tabs.new_page(None, profile=profile)
        try:
            if state.left_behind:
                await _clear(tabs, state, page, deadline)
            state.left_behind = True
            yield page
        finally:
            await finish(_end(tabs, state, page, before, profile), at_most_s=_RESET_S, what="clearing a one-shot page")


async def _end(tabs: Tabs, state: Isolation, page: Page, before: set[str], profile: str | None) -> None:
    for tab_id, other in list(tabs.by_id.items()):
        if tab_id not in before and other is not page and tabs.profiles.get(tab_id) == profile:
            await tabs.close_by_id(other.tab_id)
    try:
        await _clear(tabs, state, page, Deadline.after(_RESET_S / 2))
    except BaseException:
        await tabs.close_by_id(page.tab_id)
        raise
    tabs.close_tab_in_background(page)  # it is blank and holds no data any more


async def _clear(tabs: Tabs, state: Isolation, page: Page, deadline: Deadline) -> None:
    """Everything but the session storage, which goes with the tab."""
    own = tabs.profiles.get(page.tab_id)
    for tab_id in [tab_id for tab_id in tabs.logs.origins if tabs.profiles.get(tab_id) == own]:
        state.origins |= tabs.logs.origins.pop(tab_id)
    attachment = await page.attached()
    host_tab = tabs.host_tab_of(page)
    # Twice: the page, and its workers, may write until `tab.reset` has left it.
    before = start_clearing(attachment, state.origins)
    if host_tab is not None:
        await tabs.host_client.reset_tab(host_tab, timeout_s=deadline.remaining_s)
    await cleared(before, deadline)
    also = ("Network.clearBrowserCookies", "Network.clearBrowserCache")
    await cleared([*map(attachment.connection.send, also), *start_clearing(attachment, state.origins)], deadline)
    state.origins.clear()
    state.left_behind = False

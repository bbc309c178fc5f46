"""A tab for one call, of which nothing is left for the next one.

Where the WebView has profiles, the tab is in one of its own, so the session's other tabs keep their state; else it
shares theirs, and is given only when there are none. Cookies, cache and history go by the host app's `tab.reset`;
service workers and the storage of every origin that was visited by CDP; session storage with the tab, which is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from bridge.adb import AdbDevice
from bridge.deadline import Deadline, finish
from bridge.errors import Unsupported
from bridge.host.client import HostClient
from bridge.page.logs.session_logs import SessionLogs
from bridge.page.page import Page
from bridge.session.storage.clear_storage import cleared, start_clearing

ISOLATED_TIMEOUT_S = 30.0
PROFILE = "one-shot"
_RESET_S = 10.0


class IsolatingHome(Protocol):
    """What isolation needs of the session."""

    @property
    def device(self) -> AdbDevice: ...

    @property
    def host_client(self) -> HostClient: ...

    @property
    def logs(self) -> SessionLogs: ...

    @property
    def tabs(self) -> Mapping[str, Page]: ...

    def host_tab_of(self, page: Page) -> str | None: ...

    def profile_of(self, tab_id: str) -> str | None:
        """Also of a tab that is closed."""
        ...

    async def new_tab(self, url: str | None = None, *, profile: str | None = None) -> Page: ...

    async def close_tab(self, page: Page) -> None: ...

    def close_tab_soon(self, page: Page) -> None:
        """Nobody waits for it but the end of the session."""
        ...


@dataclass(slots=True)
class Isolation:
    """One call at a time; `left_behind` is set while a call's state may not have been cleared."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    left_behind: bool = True
    origins: set[str] = field(default_factory=set)


@asynccontextmanager
async def isolated(home: IsolatingHome, state: Isolation, *, timeout_s: float) -> AsyncIterator[Page]:
    """The tab, clean; cleared when the block ends, also when it is cancelled, and closed right after.

    Raises:
        Unsupported: There are no profiles, and other tabs are open.
        BridgeError: What an earlier call left could not be cleared: no tab is given then.
    """
    deadline = Deadline.after(timeout_s)
    async with AsyncExitStack() as stack:
        async with deadline.bound("waiting for another one-shot page to end"):
            await stack.enter_async_context(state.turn)
        profile = PROFILE if home.host_client.hello.features.get("profiles") else None
        if profile is None and home.tabs:
            raise Unsupported(
                "this WebView has no profiles, so a one-shot page would share its cookies with the open tabs",
                hint="Close the other tabs, or use a session of its own.",
            )
        before = set(home.tabs)
        async with deadline.bound("opening a one-shot page"):
            page = await home.new_tab(profile=profile)
        try:
            if state.left_behind:
                await _clear(home, state, page, deadline)
            state.left_behind = True
            yield page
        finally:
            await finish(_end(home, state, page, before, profile), at_most_s=_RESET_S, what="clearing a one-shot page")


async def _end(home: IsolatingHome, state: Isolation, page: Page, before: set[str], profile: str | None) -> None:
    for tab_id, other in list(home.tabs.items()):
        if tab_id not in before and other is not page and home.profile_of(tab_id) == profile:
            await home.close_tab(other)
    try:
        await _clear(home, state, page, Deadline.after(_RESET_S / 2))
    except BaseException:
        await home.close_tab(page)
        raise
    # It is blank, and nothing is left for it to hold.
    home.close_tab_soon(page)


async def _clear(home: IsolatingHome, state: Isolation, page: Page, deadline: Deadline) -> None:
    """Everything but the session storage, which the tab takes along."""
    own = home.profile_of(page.tab_id)
    for tab_id in [tab_id for tab_id in home.logs.origins if home.profile_of(tab_id) == own]:
        state.origins |= home.logs.origins.pop(tab_id)
    attachment = await page.attached()
    host_tab = home.host_tab_of(page)
    # While the page is left, so that its workers are gone with it: both may have written until then.
    before = start_clearing(attachment, state.origins)
    if host_tab is not None:
        await home.host_client.reset_tab(host_tab, timeout_s=deadline.remaining_s)
    await cleared(before, deadline)
    also = ("Network.clearBrowserCookies", "Network.clearBrowserCache")
    await cleared([*map(attachment.connection.send, also), *start_clearing(attachment, state.origins)], deadline)
    state.origins.clear()
    state.left_behind = False

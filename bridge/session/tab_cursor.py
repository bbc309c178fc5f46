"""The current tab of one client of a session, and the tabs that belong to that client.

Commands, operations and model tools all act on "the current tab". A page changes which one that is: it opens popups,
and it closes its own window. An action that was meant for a closed window must not reach the tab behind it, so the
cursor reports a closed current tab once before it hands out the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bridge.errors import TabLost

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.session.session import Session

_TAB_ID_CHARS = 20


class TabCursor:
    """The tabs of one client, least recently chosen first; the last one is current.

    Args:
        session: Its open tabs; a cursor ends with its session.
        owns: "opened" limits the client to the tabs that it opened and to their popups. "all" gives it every tab.
        popups: "follow" makes a popup the current tab. "stay" puts it right behind the current tab.
        open_hint: How this client opens a tab: "navigate opens one."
    """

    def __init__(
        self,
        session: Session,
        *,
        owns: Literal["opened", "all"],
        popups: Literal["follow", "stay"],
        open_hint: str,
    ) -> None:
        self._session = session
        self._owns_all = owns == "all"
        self._follows = popups == "follow"
        self._open_hint = open_hint
        self._tabs: list[Page] = []
        self._all_tab_ids: set[str] = set()
        self._closed: Page | None = None

    @property
    def current(self) -> Page | None:
        """The current tab as of the last `sync`, or None."""
        return self._tabs[-1] if self._tabs else None

    @property
    def pages(self) -> tuple[Page, ...]:
        """The client's open tabs, oldest first."""
        return tuple(page for page in self._session.pages if page in self._tabs)

    @property
    def all_tab_ids(self) -> frozenset[str]:
        """The ids of the client's tabs, closed ones included."""
        return frozenset(self._all_tab_ids)

    def sync(self) -> tuple[Page, ...]:
        """Drop closed tabs and adopt new popups; returns the popups, oldest first.

        A current tab that was closed is remembered until `page` or `take_closed` reports it; its newest popup, if any,
        is current then.
        """
        there, before = self._session.pages, self.current
        self._tabs = [page for page in self._tabs if page in there]
        if before is not None and before not in there:
            self._closed = before
        adopted: list[Page] = []
        for page in there:  # oldest first: a popup of a popup comes after its opener
            if page not in self._tabs and (self._owns_all or self._session.opener_of(page) in self._all_tab_ids):
                self._all_tab_ids.add(page.tab_id)
                adopted.append(page)
        stays = not self._follows and before is not None and self.current is before
        at = len(self._tabs) - 1 if stays else len(self._tabs)
        self._tabs[at:at] = adopted
        return tuple(adopted)

    async def adopt_popups(self) -> tuple[Page, ...]:
        """`sync`, once every popup that a page has opened so far is attached or refused."""
        await self._session.wait_for_popups()
        return self.sync()

    def page(self) -> Page:
        """The current tab.

        Raises:
            TabLost: No tab is open; or, once, the page of the current tab has closed its window.
        """
        self.sync()
        self.check_current()
        if self.current is None:
            raise TabLost("no tab is open.", hint=self._open_hint)
        return self.current

    def check_current(self) -> None:
        """Raise TabLost, once, if the page of the current tab has closed its window."""
        if (closed := self.take_closed()) is not None:
            raise TabLost(f"{closed.tab_id} is gone: its page closed its own window.", hint=self.describe_current())

    def take_closed(self) -> Page | None:
        """The tab that was current until its page closed it, once; for a caller that reports it in its own words."""
        closed, self._closed = self._closed, None
        return closed

    def describe_current(self) -> str:
        """One sentence: which tab is current now, or how to open one."""
        current = self.current
        return f"The current tab is {current.tab_id} now." if current else f"No tab is open; {self._open_hint}"

    def add(self, page: Page) -> None:
        """Make a tab that the client has opened the current one."""
        self._tabs = [*(tab for tab in self._tabs if tab is not page), page]  # a concurrent `sync` may have found it
        self._all_tab_ids.add(page.tab_id)
        self._closed = None  # the next action is meant for the tab chosen now, not for the closed one

    def find(self, tab_id: str) -> Page:
        """One of the client's tabs; TabLost names those that are open."""
        self.sync()
        for page in self._tabs:
            if page.tab_id == tab_id:
                return page
        there = ", ".join(page.tab_id for page in self.pages) or "none"
        raise TabLost(f"unknown tab {tab_id[:_TAB_ID_CHARS]!r} (open: {there}).")

    def choose(self, tab_id: str) -> Page:
        """Make one of the client's tabs the current one. Raises as `find`."""
        page = self.find(tab_id)
        self.add(page)
        return page

    async def close(self, page: Page) -> None:
        """Close one of the client's tabs; its popups stay."""
        self._tabs = [tab for tab in self._tabs if tab is not page]
        await page.close()

    async def close_all(self) -> None:
        """Close the client's tabs, popups included."""
        await self.adopt_popups()
        for page in self._tabs[:]:
            await self.close(page)
        self._closed = None

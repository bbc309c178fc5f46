"""The methods of a page that go somewhere: to an address, through the history, again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import suppress

from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, NavigationFailed, TransportError
from bridge.page.acting import ACTION_TIMEOUT_S
from bridge.page.navigation.navigate import (
    NotLetGo,
    WaitUntil,
    check_arrived,
    checked_url,
    go,
    go_to_entry,
    history_entry,
    present_entry,
    reload,
    stop,
    told_title,
    wait_loaded,
)
from bridge.page.navigation.unload import AsksForEver, Move, depart
from bridge.page.results import NavigationResult, PageLocation
from bridge.page.tab_handle import TabHandle
from bridge.page.target.attachment import Attachment, WorldGone
from bridge.page.turn import Turn

NAVIGATION_TIMEOUT_S = 30.0
_TITLE_S = 1.0
_KILL_S = 1.0
_NEW_HISTORY = "the document that was left opened dialogs without end: its tab was opened anew, and has a new history"

Where = Callable[[Attachment, Deadline], Awaitable[str]]


class NavigatingPage(ABC):
    """Each move has its own deadline, and frees an old document that does not let go."""

    _tab: TabHandle
    _turn: Turn

    @property
    @abstractmethod
    def url(self) -> str: ...

    @abstractmethod
    async def _ready(self, *, revisit: bool = True) -> tuple[Attachment, tuple[str, ...]]: ...

    @abstractmethod
    def _take_side_effects(self) -> tuple[str, ...]: ...

    @abstractmethod
    async def _here(self) -> Attachment: ...

    async def goto(
        self, url: str, *, wait_until: WaitUntil = "load", timeout_s: float = NAVIGATION_TIMEOUT_S
    ) -> NavigationResult:
        """Open an address and wait until it has come as far as `wait_until` says.

        An HTTP error page is a page: its status is in the result.

        Raises:
            UsageError: Not a URL.
            PolicyRefused: A rule forbids it; nothing was sent.
            NavigationFailed: DNS, TLS, refused, aborted: with Chromium's net error.
            DeadlineExceeded: Says how far the page came.
        """
        address = await self._tab.check_url(checked_url(url))

        async def there(_attachment: Attachment, _deadline: Deadline) -> str:
            return address

        return await self._navigate(
            lambda tab, deadline: go(tab, address, wait_until, deadline),
            there,
            wait_until,
            timeout_s,
            is_fetched=_is_fetched(address),
            revisit=False,
        )

    async def back(
        self, *, wait_until: WaitUntil = "load", timeout_s: float = NAVIGATION_TIMEOUT_S
    ) -> NavigationResult:
        """The page before this one in the tab's history; UsageError where there is none. Else as `goto`."""
        return await self._travel(-1, wait_until, timeout_s)

    async def forward(
        self, *, wait_until: WaitUntil = "load", timeout_s: float = NAVIGATION_TIMEOUT_S
    ) -> NavigationResult:
        """The page after this one in the tab's history; UsageError where there is none. Else as `goto`."""
        return await self._travel(+1, wait_until, timeout_s)

    async def reload(
        self,
        *,
        ignore_cache: bool = False,
        wait_until: WaitUntil = "load",
        timeout_s: float = NAVIGATION_TIMEOUT_S,
    ) -> NavigationResult:
        """Load the document again. Raises as `goto`."""

        async def here(_attachment: Attachment, _deadline: Deadline) -> str:
            return await self._tab.check_url(self.url)

        return await self._navigate(
            lambda tab, deadline: reload(tab, wait_until, deadline, ignore_cache=ignore_cache),
            here,
            wait_until,
            timeout_s,
            is_fetched=_is_fetched(self.url),
        )

    async def get_state(self, *, timeout_s: float = ACTION_TIMEOUT_S) -> PageLocation:
        """Address and title as the browser has them; the page's DOM is not touched."""
        async with self._turn.within(timeout_s) as timeout_s:
            attachment = await self._here()
            timeout_s = self._turn.left(timeout_s)
            with attachment.connection.measure() as meter:
                url, title = await present_entry(attachment, timeout_s=timeout_s)
            return PageLocation(url, title, meter.cost())

    async def stop(self, *, timeout_s: float = ACTION_TIMEOUT_S) -> None:
        """Stop loading; what has arrived stays."""
        async with self._turn.within(timeout_s) as timeout_s:
            attachment = await self._here()
            timeout_s = self._turn.left(timeout_s)
            await stop(attachment, timeout_s=timeout_s)

    async def _navigate(
        self,
        move: Move,
        where: Where,
        wait_until: WaitUntil,
        timeout_s: float,
        *,
        is_fetched: bool,
        revisit: bool = True,
    ) -> NavigationResult:
        async with self._turn.within(timeout_s) as left:
            deadline = Deadline.after(left)
            attachment, first = await self._ready(revisit=revisit)
            notices, left_document = list(first), attachment.titles.document
            with attachment.connection.measure() as meter:
                try:
                    attachment = await self._moved(
                        attachment, move, where, wait_until, deadline, notices, is_fetched=is_fetched, revisit=revisit
                    )
                    check_arrived(attachment)
                except NavigationFailed as error:
                    if (behind := self._tab.explain(error)) is error:
                        raise
                    raise behind from error
                title = await told_title(attachment, wait_until, left_document)
                if title is None:
                    title = await self._title(attachment, Deadline.after(_TITLE_S))
            if title is None:
                notices.append("the page has not told its title: it moved on, or its script keeps it busy")
            state = attachment.state
            if broken := state.failures.get(state.main.loader_id if state.main else ""):
                notices.append(f"the document broke off before its end: {broken}")
            answer = state.responses.get(state.main.loader_id) if state.main else None
            return NavigationResult(
                url=self.url,
                title=title or "",
                status=answer.status if answer else None,
                waited_for=wait_until,
                cost=meter.cost(),
                notices=(*notices, *attachment.dialogs.take_untold(), *self._take_side_effects()),
            )

    async def _moved(
        self,
        attachment: Attachment,
        move: Move,
        where: Where,
        wait_until: WaitUntil,
        deadline: Deadline,
        notices: list[str],
        *,
        is_fetched: bool,
        revisit: bool,
    ) -> Attachment:
        """Make the move; where the old document does not let go, the tab is opened anew, if it is ours to open.

        Args:
            where: The address that the move leads to, for a tab that is opened anew: it has no history.
        """
        state = attachment.state
        shown = state.navigations
        try:
            await depart(attachment, move, deadline, is_fetched=is_fetched, may_detour=not revisit, tell=notices.append)
            return attachment
        except TransportError:
            # Lost before anything was heard of the navigation: nobody knows of it.
            if not attachment.connection.closed.is_set() or state.navigating_to or state.navigations > shown:
                raise
        except AsksForEver:
            address = await where(attachment, deadline)
            if not await self._tab.kill_renderer(timeout_s=_KILL_S):
                await move(attachment, deadline)
                return attachment
            attachment, anew = await self._ready(revisit=False)
            notices.extend((*anew, *((_NEW_HISTORY,) if revisit else ())))
            await go(attachment, address, wait_until, deadline)
            return attachment
        except NotLetGo as stuck:
            if not await self._tab.kill_renderer(timeout_s=_KILL_S):
                await wait_loaded(attachment, stuck.loader_id, wait_until, deadline, stuck.url)
                return attachment
        attachment, anew = await self._ready(revisit=revisit)
        notices.extend(anew)
        await move(attachment, deadline)
        return attachment

    async def _travel(self, steps: int, wait_until: WaitUntil, timeout_s: float) -> NavigationResult:
        async def entry(attachment: Attachment, deadline: Deadline) -> tuple[int, str]:
            entry_id, url = await history_entry(attachment, steps, timeout_s=deadline.remaining_s)
            return entry_id, await self._tab.check_url(url)

        async def there(attachment: Attachment, deadline: Deadline) -> str:
            return (await entry(attachment, deadline))[1]

        async def move(attachment: Attachment, deadline: Deadline) -> None:
            entry_id, url = await entry(attachment, deadline)
            await go_to_entry(attachment, entry_id, url, wait_until, deadline)

        # The history is asked first, so a document that hangs is known before the move begins.
        return await self._navigate(move, there, wait_until, timeout_s, is_fetched=True)

    async def _title(self, attachment: Attachment, deadline: Deadline) -> str | None:
        """As the document has it, else as it has told the browser; None when the page moved on or nobody answers."""
        main = attachment.state.main
        try:
            async with deadline.bound("the title"):
                found = await attachment.evaluate(main.frame_id if main else "", "document.title", timeout_s=_TITLE_S)
        except DeadlineExceeded:
            with suppress(BridgeError):
                url, title = await present_entry(attachment, timeout_s=_TITLE_S)
                return title if main and url == main.url and title != url else None
            return None
        except WorldGone:
            return None
        return str(found or "")


def _is_fetched(url: str) -> bool:
    return url.startswith(("http://", "https://"))

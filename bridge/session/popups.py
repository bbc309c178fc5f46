"""Windows that pages open become tabs of the session.

The host app makes the WebView and tells of it (android_host_app/PROTOCOL.md §6); its devtools target is the one that is
new and names its opener.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from bridge.adb import AdbDevice
from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, PolicyRefused, TabLost
from bridge.host.client import HostClient
from bridge.page.page import Page
from bridge.page.popups import PopupQueue
from bridge.page.target.attachment import Attachment
from bridge.session.host.find_target import find_popup, host_service

if TYPE_CHECKING:
    from bridge.session.tab import SessionTab

_log = logging.getLogger(__name__)

_ADOPT_S = 10.0
_CLOSE_S = 2.0
# A window that is written into by script stays at about:blank; others have left it by then.
_BLANK_S = 0.3
Outcome = Page | BridgeError


class PopupHome(Protocol):
    """What popups need of the session."""

    @property
    def device(self) -> AdbDevice: ...

    @property
    def host_client(self) -> HostClient: ...

    async def check_url(self, url: str) -> str: ...

    def open_tabs(self) -> tuple[SessionTab, ...]: ...

    def make_tab(self, *, profile: str | None) -> tuple[SessionTab, Page]:
        """A tab with a number of its own, not attached to anything."""
        ...

    def drop_tab(self, tab_id: str) -> None: ...


class Popups:
    """Takes the host app's events and makes tabs of them, one after the other."""

    def __init__(self, home: PopupHome) -> None:
        self._home = home
        self._queues: list[tuple[str, PopupQueue]] = []
        # Two at once could not be told apart by their opener.
        self._turn = asyncio.Lock()
        self._underway = 0
        self._changed = asyncio.Event()

    async def taken(self) -> None:
        """Wait until every window that was told of is a page, or is gone again."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_ADOPT_S):
                while self._underway:
                    self._changed.clear()
                    await self._changed.wait()

    @contextmanager
    def listen(self, opener_id: str) -> Iterator[PopupQueue]:
        """Windows that this tab opens inside the block."""
        entry = (opener_id, PopupQueue())
        self._queues.append(entry)
        try:
            yield entry[1]
        finally:
            self._queues.remove(entry)

    def take(self, fields: Mapping[str, Any]) -> Awaitable[None] | None:
        """One `popup` event: what is still to be done about it, None where it is not ours.

        The window is a tab of the session from here on, so that it is closed with it however far its adoption came.
        """
        opener = next((tab for tab in self._home.open_tabs() if tab.host_tab == fields.get("opener")), None)
        if opener is None:
            return None  # another session's of the same host process, or its opener has gone meanwhile
        host_tab, url = fields.get("tab"), str(fields.get("url") or "")
        if not isinstance(host_tab, str):
            refused = TabLost("the page opened a window, and no more tabs can be", hint="Close one first.")
            opener.side_effects.refused_window(refused.message)
            self._tell(opener, refused)
            return None
        tab, page = self._home.make_tab(profile=opener.profile)
        tab.host_tab, tab.opener_id = host_tab, opener.tab_id
        opener.side_effects.window(tab.tab_id)
        self._underway += 1
        return self._adopt(opener, tab, page, url)

    async def _adopt(self, opener: SessionTab, tab: SessionTab, page: Page, url: str) -> None:
        try:
            async with self._turn:
                outcome = await self._unless_closed(tab, self._adopted(opener, tab, page, url))
            self._tell(opener, outcome)
        finally:
            self._underway -= 1
            self._changed.set()

    async def _unless_closed(self, tab: SessionTab, adopted: Coroutine[Any, Any, Outcome]) -> Outcome:
        """A page may close its window before anybody has come to see it: nobody would find its target."""
        adopting, closing = asyncio.ensure_future(adopted), asyncio.ensure_future(tab.side_effects.closed())
        try:
            await asyncio.wait((adopting, closing), return_when=asyncio.FIRST_COMPLETED)
            return tab.closed_error() if closing.done() else await adopting
        finally:
            adopting.cancel()
            closing.cancel()
            await asyncio.gather(adopting, closing, return_exceptions=True)

    def _tell(self, opener: SessionTab, outcome: Outcome) -> None:
        for opener_id, queue in list(self._queues):
            if opener_id == opener.tab_id:
                queue.put(outcome)

    async def _adopted(self, opener: SessionTab, tab: SessionTab, page: Page, url: str) -> Outcome:
        deadline = Deadline.after(_ADOPT_S)
        try:
            await self._judge(url)
            target_id = await self._target(opener, deadline)
            attachment = await tab.adopt(target_id, timeout_s=deadline.remaining_s)
            await self._judge(await _address(attachment, deadline))
        except BridgeError as error:
            if not isinstance(error, PolicyRefused) and await tab.side_effects.closes():
                return tab.closed_error()
            _log.debug("a popup of %s was not kept: %s", opener.tab_id, error)
            opener.side_effects.refused_window(f"{tab.tab_id}: {error.message}")
            self._home.drop_tab(tab.tab_id)
            # The session may be ending, and cancel us: nobody else knows of this tab any more.
            await finish(tab.close(timeout_s=_CLOSE_S), at_most_s=_CLOSE_S, what=f"closing the popup {tab.tab_id}")
            return (
                error if isinstance(error, PolicyRefused | TabLost) else TabLost(f"the popup is gone: {error.message}")
            )
        return page

    async def _target(self, opener: SessionTab, deadline: Deadline) -> str:
        known = {tab.target_id for tab in self._home.open_tabs()}
        service = host_service(self._home.host_client.hello.pid)
        return await find_popup(self._home.device, service, opener.target_id, known, deadline)

    async def _judge(self, url: str) -> None:
        """WebView's onCreateWindow knows no address, so it is looked at again when the window shows one."""
        if url and not url.startswith("about:"):
            await self._home.check_url(url)


async def _address(attachment: Attachment, deadline: Deadline) -> str:
    """Where the window has gone, or tried to; "" for one that stays blank."""
    blank = ("", ":", "about:blank")
    state = attachment.state
    await attachment.watch.wait(
        lambda: state.main is not None and state.main.url not in blank, timeout_s=min(_BLANK_S, deadline.remaining_s)
    )
    reply = await attachment.call("Page.getFrameTree", timeout_s=deadline.remaining_s)
    frame = reply["frameTree"]["frame"]
    address = str(frame.get("unreachableUrl") or frame.get("url", ""))
    return "" if address in blank else address

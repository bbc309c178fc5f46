"""Windows that pages open become tabs of the session.

The host app makes the WebView and reports it (android_host_app/PROTOCOL.md §6). Its devtools target is the one that is
new and names its opener.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, PolicyRefused, TabLost
from bridge.page.page import Page
from bridge.page.popups import PopupQueue
from bridge.page.target.attachment import Attachment
from bridge.session.host.find_target import find_popup, host_service
from bridge.session.tab import SessionTab

if TYPE_CHECKING:
    from bridge.session.tabs import Tabs

_log = logging.getLogger(__name__)

_ADOPT_S = 10.0
_CLOSE_S = 2.0
# A popup that a script writes into stays at about:blank; any other has left it by then.
_BLANK_S = 0.3
_BLANK = ("", ":", "about:blank")


class Popups:
    """Takes the host app's popup events and makes tabs of them, one after the other."""

    def __init__(self, tabs: Tabs) -> None:
        self._tabs = tabs
        self._queues: list[tuple[str, PopupQueue]] = []
        # One at a time: two new targets of one opener could not be distinguished.
        self._adopt_lock = asyncio.Lock()
        self._adopting = 0
        self._adopted = asyncio.Event()

    async def wait_until_adopted(self) -> None:
        """Wait until every reported popup is a page, or is gone again."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_ADOPT_S):
                while self._adopting:
                    self._adopted.clear()
                    await self._adopted.wait()

    @contextmanager
    def listen(self, opener_id: str) -> Iterator[PopupQueue]:
        """Collect the popups that this tab opens inside the block."""
        entry = (opener_id, PopupQueue())
        self._queues.append(entry)
        try:
            yield entry[1]
        finally:
            self._queues.remove(entry)

    def take_event(self, fields: Mapping[str, Any]) -> Awaitable[None] | None:
        """Take one `popup` event; the adoption that is still to be run, or None if there is nothing to adopt.

        The popup is a tab of the session from here on, so that the session closes it however far its adoption came.
        """
        opener = next((tab for tab in self._tabs.open_tabs() if tab.host_tab == fields.get("opener")), None)
        if opener is None:
            return None  # another session of the same host process has opened it, or its opener is closed by now
        host_tab, url = fields.get("tab"), str(fields.get("url") or "")
        if not isinstance(host_tab, str):
            refused = TabLost("the page opened a window, but no more tabs can be open", hint="Close one first.")
            opener.side_effects.refused_window(refused.message)
            self._put(opener, refused)
            return None
        tab, page = self._tabs.make_tab(profile=opener.profile)
        tab.host_tab, tab.opener_id = host_tab, opener.tab_id
        opener.side_effects.window(tab.tab_id)
        self._adopting += 1
        return self._adopt(opener, tab, page, url)

    async def _adopt(self, opener: SessionTab, tab: SessionTab, page: Page, url: str) -> None:
        try:
            async with self._adopt_lock:
                outcome = await self._unless_closed(tab, self._attach(opener, tab, page, url))
            self._put(opener, outcome)
        finally:
            self._adopting -= 1
            self._adopted.set()

    async def _unless_closed(
        self, tab: SessionTab, attaching: Coroutine[Any, Any, Page | BridgeError]
    ) -> Page | BridgeError:
        """Stop attaching when the page closes its window: its target would never be found."""
        adopting, closing = asyncio.ensure_future(attaching), asyncio.ensure_future(tab.side_effects.closed())
        try:
            await asyncio.wait((adopting, closing), return_when=asyncio.FIRST_COMPLETED)
            return tab.closed_error() if closing.done() else await adopting
        finally:
            adopting.cancel()
            closing.cancel()
            await asyncio.gather(adopting, closing, return_exceptions=True)

    def _put(self, opener: SessionTab, outcome: Page | BridgeError) -> None:
        for opener_id, queue in list(self._queues):
            if opener_id == opener.tab_id:
                queue.put(outcome)

    async def _attach(self, opener: SessionTab, tab: SessionTab, page: Page, url: str) -> Page | BridgeError:
        deadline = Deadline.after(_ADOPT_S)
        try:
            await self._check_url(url)
            target_id = await self._target_id(opener, deadline)
            attachment = await tab.adopt(target_id, timeout_s=deadline.remaining_s)
            await self._check_url(await _address(attachment, deadline))
            await self._tabs.page_defaults.apply(page)
        except BridgeError as error:
            if not isinstance(error, PolicyRefused) and await tab.side_effects.closes():
                return tab.closed_error()
            _log.debug("a popup of %s was not kept: %s", opener.tab_id, error)
            opener.side_effects.refused_window(f"{tab.tab_id}: {error.message}")
            self._tabs.drop_tab(tab.tab_id)
            # The session may be closing and cancel this task, which is the last one to know the tab.
            await finish(tab.close(timeout_s=_CLOSE_S), at_most_s=_CLOSE_S, what=f"closing the popup {tab.tab_id}")
            return (
                error if isinstance(error, PolicyRefused | TabLost) else TabLost(f"the popup is gone: {error.message}")
            )
        return page

    async def _target_id(self, opener: SessionTab, deadline: Deadline) -> str:
        known = {tab.target_id for tab in self._tabs.open_tabs()}
        service = host_service(self._tabs.host_client.hello.pid)
        return await find_popup(self._tabs.device, service, opener.target_id, known, deadline)

    async def _check_url(self, url: str) -> None:
        """WebView's onCreateWindow does not know the address, so it is checked again once the popup shows one."""
        if url and not url.startswith("about:"):
            await self._tabs.check_url(url)


async def _address(attachment: Attachment, deadline: Deadline) -> str:
    """The address that the popup navigated to, or tried to; "" if it stays blank."""
    state = attachment.state
    await attachment.condition.wait(
        lambda: state.main is not None and state.main.url not in _BLANK, timeout_s=min(_BLANK_S, deadline.remaining_s)
    )
    reply = await attachment.call("Page.getFrameTree", timeout_s=deadline.remaining_s)
    frame = reply["frameTree"]["frame"]
    address = str(frame.get("unreachableUrl") or frame.get("url", ""))
    return "" if address in _BLANK else address

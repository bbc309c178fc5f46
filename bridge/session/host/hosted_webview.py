"""A tab's WebView in the host app: opened, found by its nonce, connected to, crashed, closed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from bridge.cdp import CdpConnection, open_cdp
from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, DeadlineExceeded, HostFailed, TabLost, TransportError
from bridge.page.target.attachment import Attachment
from bridge.page.target.condition import Condition
from bridge.session.attachment_slot import AttachmentSlot
from bridge.session.host.find_target import find_new_tab, host_service
from bridge.session.tab_host import TabHost

logger = logging.getLogger(__name__)

T = TypeVar("T")

_DISCARD_S = 5.0
# Opening a tab takes less than this in a renderer that answers.
_ANSWERS_S = 4.0
_CRASH_S = 1.0
# Above this latency a link is slow, and hang recovery gives the page four round trips more.
_FAST_LINK_S = 0.05


class HostedWebView:
    """
    Attributes:
        host_tab: The host app's name for the WebView; None if there is none.
        target_id: Its CDP target, also after it is gone.
    """

    def __init__(self, tab_id: str, host: TabHost, profile: str | None) -> None:
        self.host_tab: str | None = None
        self.target_id = ""
        self._tab_id = tab_id
        self._host = host
        self._profile = profile
        self._latency_s = 0.0

    @property
    def slack_s(self) -> float:
        """Extra time for bounds that are meant for a fast link."""
        return 4 * self._latency_s if self._latency_s > _FAST_LINK_S else 0.0

    async def open(self, slot: AttachmentSlot, deadline: Deadline, *, is_after_kill: bool = False) -> Attachment:
        """Have the host app make a WebView, and attach to it.

        Args:
            is_after_kill: The renderer that the WebView would share was crashed. While other WebViews keep it alive, a
                new one does not answer either: it is crashed in turn and another one opened, with more time each try.

        Raises:
            TabLost: The WebView was lost while it was opened, such as with a renderer that it shares.
            HostFailed, TransportError: The same, as the host app or the connection reported it.
            DeadlineExceeded
        """
        answers_s = _ANSWERS_S
        while is_after_kill and answers_s < deadline.remaining_s:
            try:
                return await self._open(slot, Deadline.after(answers_s), is_after_kill=True)
            except (DeadlineExceeded, HostFailed, TabLost, TransportError) as error:
                logger.debug("%s: %s", self._tab_id, error)
            answers_s *= 2
        return await self._open(slot, deadline, is_after_kill=is_after_kill)

    async def _open(self, slot: AttachmentSlot, deadline: Deadline, *, is_after_kill: bool) -> Attachment:
        view, host = self._host.view, self._host.host_client
        losses = _LossReports()
        stop_listening = host.on_event(losses.take_event)
        try:
            opened = await host.open_tab(
                width_px=view.width_px,
                height_px=view.height_px,
                density_dpi=view.density_dpi,
                profile=self._profile,
                timeout_s=deadline.remaining_s,
            )
            self.host_tab = opened.tab
            try:
                return await losses.unless_lost(opened.tab, self._attach(slot, opened.nonce, deadline), deadline)
            except BaseException as error:
                if is_after_kill and isinstance(error, DeadlineExceeded):
                    # Page.crash does not reach a renderer that waits to commit a document (unblock_navigation), and it
                    # stays alive while other WebViews are in it. Over this WebView's page it does arrive.
                    await self.crash(timeout_s=_CRASH_S)
                what = f"closing the WebView that was to be {self._tab_id}"
                await finish(self.discard(timeout_s=_DISCARD_S), at_most_s=_DISCARD_S, what=what)
                raise
        finally:
            stop_listening()

    async def _attach(self, slot: AttachmentSlot, nonce: str, deadline: Deadline) -> Attachment:
        self.target_id = await find_new_tab(self._host.device, self._service(), nonce, deadline)
        return await slot.make(self.connection(deadline), deadline)

    @asynccontextmanager
    async def connection(self, deadline: Deadline) -> AsyncIterator[CdpConnection]:
        """A CDP connection of its own for the length of the block."""
        began = time.monotonic()
        sock = await self._host.device.open_stream(self._service(), timeout_s=deadline.remaining_s)
        self._latency_s = time.monotonic() - began
        async with open_cdp(sock, f"/devtools/page/{self.target_id}", timeout_s=deadline.remaining_s) as connection:
            yield connection

    async def crash(self, *, timeout_s: float) -> bool:
        """Crash its renderer, and with it every WebView in it. True if that was sent, or it was gone already."""
        deadline = Deadline.after(timeout_s)
        try:
            async with self.connection(deadline) as connection:
                # A dying renderer writes its dump before the reply, which takes longer than this may wait.
                call = connection.send("Page.crash")
                with suppress(DeadlineExceeded):
                    await call.result(timeout_s=deadline.remaining_s)
        except BridgeError as error:
            logger.debug("%s: %s", self._tab_id, error)
            if not isinstance(error, TransportError):
                return False
        self._host.renderer_killed()
        return True

    async def discard(self, *, timeout_s: float) -> None:
        """Close it in the host app, where it may have gone with its renderer."""
        host_tab, self.host_tab = self.host_tab, None
        if host_tab is None:
            return
        try:
            await self._host.host_client.close_tab(host_tab, timeout_s=timeout_s)
        except BridgeError as error:
            logger.debug("%s: %s", self._tab_id, error)

    def _service(self) -> str:
        return host_service(self._host.host_client.hello.pid)


class _LossReports:
    """The host app's `tab.lost` events while a tab is opened.

    WebViews share a renderer. One that dies for another tab's sake takes the new tab along; the host app reports that
    at once, while CDP commands to the new tab would wait for a reply until their deadline.
    """

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}
        self._changed = Condition()

    def take_event(self, event: str, fields: Mapping[str, Any]) -> None:
        if event == "tab.lost":
            self._reasons[str(fields.get("tab"))] = str(fields.get("message") or fields.get("reason") or "")
            self._changed.notify()

    async def unless_lost(self, tab: str, work: Coroutine[Any, Any, T], deadline: Deadline) -> T:
        """The result of `work`, which is cancelled when the tab is lost.

        Raises:
            TabLost: With the host app's reason.
        """
        working = asyncio.ensure_future(work)
        losing = asyncio.ensure_future(self._changed.wait(lambda: tab in self._reasons, timeout_s=deadline.remaining_s))
        try:
            await asyncio.wait((working, losing), return_when=asyncio.FIRST_COMPLETED)
            if tab in self._reasons:
                raise TabLost(f"the tab was lost while it was opened: {self._reasons[tab]}")
            return await working
        finally:
            working.cancel()
            losing.cancel()
            await asyncio.gather(working, losing, return_exceptions=True)

"""What a session is to its tabs: the home that makes, counts, keeps awake, restores and closes them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any

from bridge.adb import AdbDevice
from bridge.deadline import finish
from bridge.errors import (
    BridgeError,
    DeadlineExceeded,
    DeviceError,
    HostError,
    NavigationFailed,
    TabLost,
    TransportError,
)
from bridge.host.client import HostClient
from bridge.host.replies import HostHello
from bridge.page.files.safe_folder import DOWNLOADS_KEY, UPLOADS_KEY, SafeFolder
from bridge.page.instrumentation import Observer
from bridge.page.logs.session_logs import SessionLogs
from bridge.page.page import Page
from bridge.page.popups import PopupQueue
from bridge.page.target.attachment import Attachment
from bridge.page.target.dialogs import DialogAnswer
from bridge.policy.pinning import PinnedEgress
from bridge.session.attachment_slot import OnAttach
from bridge.session.background import Background
from bridge.session.capabilities import Capabilities, probe, require_supported
from bridge.session.devices import Notice
from bridge.session.egress import Containment
from bridge.session.host.connection import HostConnection
from bridge.session.host.reconnect import Recovery
from bridge.session.popups import Popups
from bridge.session.tab import SessionTab
from bridge.session.tab_host import View

logger = logging.getLogger(__name__)

RECONNECT_S = 60.0
# How much longer an operation may take that begins by reconnecting.
_RECONNECT_FIRST_S = 30.0
# The host app destroys a WebView 300 s after the last sign of life; CDP traffic does not pass it, so we tell it.
_TOUCH_EVERY_S = 20.0
_TOUCH_TIMEOUT_S = 5.0
_PROBE_S = 5.0
_CLOSE_TAB_S = 2.0
_BURY_S = 6.0


class SessionTabs:
    """The tabs of one host app, and what is between it and them; `Session` is this with the beginning and the end."""

    def __init__(
        self,
        serial: str,
        link: HostConnection,
        view: View,
        egress: PinnedEgress,
        notice: Notice,
        *,
        reconnect: bool,
        dialogs: DialogAnswer,
    ) -> None:
        self.serial = serial
        self.view = view
        self.notice = notice
        # Awaited with every tab's fresh attachment, in this order: the policy's gate comes first.
        self.on_attach: list[OnAttach] = []
        self.restores_tabs = reconnect
        self.containment = Containment(egress, lambda: link.device, notice)
        self.logs = SessionLogs()
        self.observer: Observer | None = None
        self.uploads = SafeFolder.at(None, UPLOADS_KEY)
        self.downloads = SafeFolder.at(None, DOWNLOADS_KEY)
        self._link = link
        self._dialogs = dialogs
        self._tabs: dict[str, tuple[SessionTab, Page]] = {}
        self._last_tab = 0
        # Of all tabs that there ever were: what a closed one has stored is still there.
        self._profiles: dict[str, str | None] = {}
        self._popups = Popups(self)
        self._last_touch = time.monotonic()
        self._background = Background()
        self._capabilities: Capabilities | None = None
        self._recovery = Recovery(serial, link, self.open_tabs, notice, self._closed_by_page)
        link.on_connected += [self._take_host, self.containment.route]
        self.on_attach.append(self.containment.install)

    @property
    def host(self) -> HostHello:
        """What the host app said of itself: version, WebView, API level, pid."""
        return self._link.host.hello

    @property
    def device(self) -> AdbDevice:
        return self._link.device

    @property
    def host_client(self) -> HostClient:
        """The present connection to the host app; another one after a reconnect."""
        return self._link.host

    @property
    def egress(self) -> PinnedEgress:
        """What this session's connections go through: policy, pins, audit."""
        return self.containment.egress

    @property
    def capabilities(self) -> Capabilities | None:
        """What the WebView can do; known once the first tab is open."""
        return self._capabilities

    @property
    def pages(self) -> tuple[Page, ...]:
        """The open tabs, oldest first."""
        return tuple(page for _, page in self._tabs.values())

    @property
    def tabs(self) -> Mapping[str, Page]:
        """The open tabs by their ids, those that pages opened included."""
        return {tab_id: page for tab_id, (_, page) in self._tabs.items()}

    async def new_tab(self, url: str | None = None, *, profile: str | None = None) -> Page:
        """A new tab, at `url` where one is given.

        Args:
            profile: Cookies and storage of its own, shared by the tabs of that name; needs a WebView with profiles.

        Raises:
            PolicyRefused, NavigationFailed: As `page.goto`; the tab is closed again then.
        """
        if url is not None:
            await self.check_url(url)
        await self.ensure_connected()
        tab, page = self.make_tab(profile=profile)
        try:
            attachment = await self._opened(tab)
            if self._capabilities is None:
                self._capabilities = await self._probe(attachment)
            if url is not None:
                await page.goto(url)
        except BaseException:
            await self.close_tab(page)
            raise
        return page

    async def _opened(self, tab: SessionTab) -> Attachment:
        try:
            return await tab.open()
        except (DeadlineExceeded, DeviceError, HostError, TabLost, TransportError) as error:
            # WebViews share a renderer: one that dies for another tab's sake takes along what is being opened in it.
            # And of a host app that ends this may be the first news.
            logger.debug("%s is opened a second time: %s", tab.tab_id, error)
            await self.diagnose()
            await self.ensure_connected()
            if tab.host_tab is not None and tab.present is not None:  # opened with all that was restored
                return tab.present
            return await tab.open()

    def make_tab(self, *, profile: str | None) -> tuple[SessionTab, Page]:
        """A tab with a number of its own, not attached to anything."""
        self._last_tab += 1
        tab = SessionTab(f"t{self._last_tab}", self, profile=profile)
        self._profiles[tab.tab_id] = profile
        page = Page(tab)
        page.on_dialog(self._dialogs)
        page.observer = self.observer
        self._tabs[tab.tab_id] = (tab, page)
        return tab, page

    def drop_tab(self, tab_id: str) -> None:
        self._tabs.pop(tab_id, None)

    def open_tabs(self) -> tuple[SessionTab, ...]:
        return tuple(tab for tab, _ in self._tabs.values())

    def host_tab_of(self, page: Page) -> str | None:
        return self._tabs[page.tab_id][0].host_tab

    def profile_of(self, tab_id: str) -> str | None:
        return self._profiles.get(tab_id)

    def popups_of(self, tab_id: str) -> AbstractContextManager[PopupQueue]:
        return self._popups.listen(tab_id)

    def opener_of(self, page: Page) -> str | None:
        """The id of the tab whose page has opened this one."""
        return self._tabs[page.tab_id][0].opener_id

    async def wait_for_popups(self) -> None:
        """Wait until the windows that pages have opened are among `pages`, or were refused."""
        await self._popups.taken()

    async def close_tab(self, page: Page) -> None:
        """Close a tab; a tab that is already closed is left alone."""
        tab, _ = self._tabs.pop(page.tab_id, (None, None))
        if tab is None:
            return
        await self._close_now(tab)

    def close_tab_soon(self, page: Page) -> None:
        """As `close_tab`, while the session goes on; from now on it is none of its tabs."""
        tab, _ = self._tabs.pop(page.tab_id, (None, None))
        if tab is not None:
            tab.leave()
            self._background.begin(self._close_or_tell(tab))

    def _closed_by_page(self, tab: SessionTab) -> None:
        """The page has closed its own window: it is none of the session's tabs any more, and its opener hears of it."""
        self._tabs.pop(tab.tab_id, None)
        tab.lose_to_page()
        opener, _ = self._tabs.get(tab.opener_id or "", (None, None))
        if opener is not None:
            opener.side_effects.other_closed_window(tab.tab_id)
        self._background.begin(self._bury(tab))

    async def _bury(self, tab: SessionTab) -> None:
        await finish(tab.bury(), at_most_s=_BURY_S, what=f"detaching from {tab.tab_id}")
        self.logs.forget_tab(tab.tab_id)

    async def _close_or_tell(self, tab: SessionTab) -> None:
        try:
            await self._close_now(tab)
        except BridgeError as error:
            logger.warning("%s could not be closed: %s", tab.tab_id, error)

    async def _close_now(self, tab: SessionTab) -> None:
        await finish(tab.close(), at_most_s=_CLOSE_TAB_S, what=f"closing {tab.tab_id}")
        self.logs.forget_tab(tab.tab_id)

    async def check_url(self, url: str) -> str:
        return await self.egress.check_url(url)

    def watch_received(self) -> Callable[[], int]:
        return self.egress.traffic.watch()

    def explain(self, error: NavigationFailed) -> BridgeError:
        return self.containment.explain(error)

    async def reconnect(self, *, timeout_s: float = RECONNECT_S) -> tuple[str, ...]:
        """Restore what is lost: wait for the device, start the host app, open the tabs at their addresses again.

        What was done, one sentence each; nothing where nothing is lost. A tab that outlived the connection, as after a
        cable was pulled, is as it was, refs included. Of one that was opened again at its address forms, scroll
        position and refs are gone; cookies are as the device kept them. One that does not come back stays lost.

        Raises:
            DeadlineExceeded: The device did not come back; says what it was last seen as.
            DeviceError, HostError: It came back, and the host app cannot be started.
        """
        said = await self._recovery.reconnect(timeout_s=timeout_s)
        first = next((tab.present for tab in self.open_tabs() if tab.present is not None), None)
        if said and self._capabilities is not None and first is not None:
            with suppress(BridgeError):
                self._capabilities = await self._probe(first)
        return said

    def _take_event(self, event: str, fields: Mapping[str, Any]) -> None:
        if event == "popup" and (work := self._popups.take(fields)) is not None:
            self._background.begin(work)
        elif event in ("file_chooser", "download"):
            for tab in self.open_tabs():
                if tab.host_tab is not None and tab.host_tab == fields.get("tab"):
                    tab.side_effects.take_event(event, fields)
        if event in ("tab.lost", "idle_destroyed"):
            self._recovery.take_loss(event, fields)

    async def ensure_connected(self) -> tuple[str, ...]:
        if self._recovery.seems_whole:
            return ()
        lost = await self._recovery.diagnose()
        if lost is None:
            return ()
        if not self.restores_tabs:
            raise lost
        return await self.reconnect(timeout_s=_RECONNECT_FIRST_S)

    async def diagnose(self, is_heard: Callable[[], bool] = lambda: False) -> BridgeError | None:
        return await self._recovery.diagnose(is_heard)

    def renderer_killed(self) -> None:
        self._recovery.renderer_killed()

    async def _probe(self, attachment: Attachment) -> Capabilities:
        held = self.containment
        return await probe(
            attachment,
            self.host,
            fetch_interception=held.intercepts,
            egress=held.mode,
            webrtc=held.webrtc,
            timeout_s=_PROBE_S,
        )

    async def _take_host(self, host: HostClient) -> None:
        require_supported(host.hello)
        host.on_event(self._take_event)

    async def stay_awake(self, until: asyncio.Event) -> None:
        """Keep the tabs although nobody does anything with them, until the event is set."""
        while not until.is_set():
            self.keep_alive()
            with suppress(TimeoutError):
                async with asyncio.timeout(_TOUCH_EVERY_S):
                    await until.wait()

    def keep_alive(self) -> None:
        """Tell the host app that this session is at work, now and then, without waiting for it."""
        now = time.monotonic()
        if now - self._last_touch < _TOUCH_EVERY_S:
            return
        self._last_touch = now
        self._background.begin(self._send_touch())

    async def _send_touch(self) -> None:
        try:
            await self.host_client.touch(timeout_s=_TOUCH_TIMEOUT_S)
        except BridgeError as error:
            logger.debug("the host app did not take the sign of life: %s", error)

    async def _close_tabs(self) -> None:
        while self._background.is_busy or self._tabs:  # a page may open one more window while its tab is being closed
            await self._background.cancel()
            await asyncio.gather(*(self.close_tab(page) for page in self.pages))

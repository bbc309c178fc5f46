"""The tabs of one host app: opened, adopted, kept alive, restored and closed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any
from urllib.parse import urljoin

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
from bridge.page.files.safe_folder import SafeFolder
from bridge.page.instrumentation import Observer
from bridge.page.logs.session_logs import SessionLogs
from bridge.page.page import Page
from bridge.page.popups import PopupQueue
from bridge.page.target.attachment import Attachment
from bridge.page.target.dialogs import DialogAnswer
from bridge.session.attachment_slot import OnAttach
from bridge.session.background import Background
from bridge.session.capabilities import Capabilities, probe, require_supported
from bridge.session.devices import Notice
from bridge.session.egress import Containment
from bridge.session.host.connection import HostConnection
from bridge.session.page_defaults import PageDefaults
from bridge.session.popups import Popups
from bridge.session.reconnect import Reconnect
from bridge.session.tab import SessionTab
from bridge.session.tab_host import View

logger = logging.getLogger(__name__)

# How much longer an operation may take that begins by reconnecting.
_RECONNECT_FIRST_S = 30.0
# The host app destroys a WebView 300 s after the last activity that it knows of; CDP traffic does not pass through it.
_TOUCH_EVERY_S = 20.0
_TOUCH_TIMEOUT_S = 5.0
_PROBE_S = 5.0
_CLOSE_TAB_S = 2.0
_DETACH_CLOSED_S = 6.0


class Tabs:
    """The open tabs of a session; to each of them, its `TabHost`.

    Attributes:
        logs: Console and network of all tabs, closed ones included.
        observer: Sees every operation on the pages; set before tabs are opened.
        on_attach: See `TabHost.on_attach`.
        profiles: The WebView profiles of all tabs so far, by tab id: what a closed tab stored is still there.
        view: The size of tabs that are opened from now on.
    """

    def __init__(
        self,
        connection: HostConnection,
        containment: Containment,
        view: View,
        notice: Notice,
        *,
        reconnect: bool,
        dialogs: DialogAnswer,
        uploads: SafeFolder,
        downloads: SafeFolder,
    ) -> None:
        self.view = view
        self.notice = notice
        self.restores_tabs = reconnect
        self.uploads = uploads
        self.downloads = downloads
        self.capabilities: Capabilities | None = None
        self.logs = SessionLogs()
        self.observer: Observer | None = None
        self.page_defaults = PageDefaults()
        self.base_url = ""
        self.on_attach: list[OnAttach] = [containment.install]
        self.profiles: dict[str, str | None] = {}
        self._connection = connection
        self._containment = containment
        self._dialogs = dialogs
        self._tabs: dict[str, tuple[SessionTab, Page]] = {}
        self._last_tab = 0
        self._popups = Popups(self)
        self._last_touch = time.monotonic()
        self._background = Background()
        self._reconnect = Reconnect(connection.serial, connection, self.open_tabs, notice, self._closed_by_page)
        connection.on_connected.append(self._take_host)

    @property
    def device(self) -> AdbDevice:
        return self._connection.device

    @property
    def host_client(self) -> HostClient:
        return self._connection.host

    @property
    def by_id(self) -> Mapping[str, Page]:
        return {tab_id: page for tab_id, (_, page) in self._tabs.items()}

    @property
    def pages(self) -> tuple[Page, ...]:
        return tuple(page for _, page in self._tabs.values())

    def open_tabs(self) -> tuple[SessionTab, ...]:
        return tuple(tab for tab, _ in self._tabs.values())

    def host_tab_of(self, page: Page) -> str | None:
        return self._tabs[page.tab_id][0].host_tab

    def opener_of(self, page: Page) -> str | None:
        return self._tabs[page.tab_id][0].opener_id

    async def new_page(self, url: str | None, *, profile: str | None) -> Page:
        """See `Session.new_page`."""
        if url is not None:
            url = urljoin(self.base_url, url)
            await self.check_url(url)
        await self.ensure_connected()
        tab, page = self.make_tab(profile=profile)
        try:
            attachment = await self._open(tab)
            if self.capabilities is None:
                self.capabilities = await self._probe(attachment)
            await self.page_defaults.apply(page)
            if url is not None:
                await page.goto(url)
        except BaseException:
            await self.close_by_id(page.tab_id)
            raise
        return page

    async def _open(self, tab: SessionTab) -> Attachment:
        """Open the tab; a second time if it was lost in between.

        WebViews share a renderer: one that dies for another tab's sake takes along what is being opened in it. And the
        failure may be the first sign that the host app has ended.
        """
        try:
            return await tab.open()
        except (DeadlineExceeded, DeviceError, HostError, TabLost, TransportError) as error:
            logger.debug("opening %s a second time: %s", tab.tab_id, error)
            await self.diagnose()
            await self.ensure_connected()
            if tab.host_tab is not None and tab.present is not None:  # a reconnect has opened it with the others
                return tab.present
            return await tab.open()

    def make_tab(self, *, profile: str | None) -> tuple[SessionTab, Page]:
        """A tab with a new id, without a WebView yet."""
        self._last_tab += 1
        tab = SessionTab(f"t{self._last_tab}", self, profile=profile)
        self.profiles[tab.tab_id] = profile
        page = Page(tab)
        page.answer_dialogs(self._dialogs)
        page.observer = self.observer
        self._tabs[tab.tab_id] = (tab, page)
        return tab, page

    def popups_of(self, tab_id: str) -> AbstractContextManager[PopupQueue]:
        return self._popups.listen(tab_id)

    async def wait_for_popups(self) -> None:
        await self._popups.wait_until_adopted()

    async def _probe(self, attachment: Attachment) -> Capabilities:
        contained = self._containment
        return await probe(
            attachment,
            self.host_client.hello,
            fetch_interception=contained.intercepts,
            egress=contained.mode,
            webrtc=contained.webrtc,
            timeout_s=_PROBE_S,
        )

    async def close_by_id(self, tab_id: str) -> None:
        tab, _ = self._tabs.pop(tab_id, (None, None))
        if tab is not None:
            await self._close(tab)

    def is_open(self, tab_id: str) -> bool:
        return tab_id in self._tabs

    def close_tab_in_background(self, page: Page) -> None:
        """Close a tab without waiting for it; the tab refuses operations from now on."""
        tab, _ = self._tabs.pop(page.tab_id, (None, None))
        if tab is not None:
            tab.begin_closing()
            self._background.begin(self._close_or_log(tab))

    async def close(self) -> None:
        """Close all tabs; a page may open one more popup while its tab is being closed."""
        while self._background.is_busy or self._tabs:
            await self._background.cancel()
            await asyncio.gather(*(self.close_by_id(tab_id) for tab_id in self.by_id))

    def drop_tab(self, tab_id: str) -> None:
        """Forget a tab that the caller closes."""
        self._tabs.pop(tab_id, None)

    async def _close(self, tab: SessionTab) -> None:
        await finish(tab.close(), at_most_s=_CLOSE_TAB_S, what=f"closing {tab.tab_id}")
        self.logs.forget_tab(tab.tab_id)

    async def _close_or_log(self, tab: SessionTab) -> None:
        try:
            await self._close(tab)
        except BridgeError as error:
            logger.warning("%s could not be closed: %s", tab.tab_id, error)

    def _closed_by_page(self, tab: SessionTab) -> None:
        """The page has closed its window: the tab is not the session's any more, and its opener reports that."""
        self._tabs.pop(tab.tab_id, None)
        tab.close_by_page()
        opener, _ = self._tabs.get(tab.opener_id or "", (None, None))
        if opener is not None:
            opener.side_effects.other_closed_window(tab.tab_id)
        self._background.begin(self._detach_closed(tab))

    async def _detach_closed(self, tab: SessionTab) -> None:
        await finish(tab.detach_closed(), at_most_s=_DETACH_CLOSED_S, what=f"detaching from {tab.tab_id}")
        self.logs.forget_tab(tab.tab_id)

    async def reconnect(self, *, timeout_s: float) -> tuple[str, ...]:
        """See `Session.reconnect`."""
        notices = await self._reconnect.reconnect(timeout_s=timeout_s)
        first = next((tab.present for tab in self.open_tabs() if tab.present is not None), None)
        if notices and self.capabilities is not None and first is not None:
            with suppress(BridgeError):
                self.capabilities = await self._probe(first)
        return notices

    @property
    def is_connected(self) -> bool:
        return self._reconnect.is_connected

    async def ensure_connected(self) -> tuple[str, ...]:
        if self.is_connected:
            return ()
        lost = await self.diagnose()
        if lost is None:
            return ()
        if not self.restores_tabs:
            raise lost
        return await self.reconnect(timeout_s=_RECONNECT_FIRST_S)

    async def diagnose(self, is_heard: Callable[[], bool] = lambda: False) -> BridgeError | None:
        return await self._reconnect.diagnose(is_heard)

    def renderer_killed(self) -> None:
        self._reconnect.renderer_killed()

    async def _take_host(self, host: HostClient) -> None:
        require_supported(host.hello)
        host.on_event(self._take_event)

    def _take_event(self, event: str, fields: Mapping[str, Any]) -> None:
        if event == "popup" and (adoption := self._popups.take_event(fields)) is not None:
            self._background.begin(adoption)
        elif event in ("file_chooser", "download"):
            for tab in self.open_tabs():
                if tab.host_tab is not None and tab.host_tab == fields.get("tab"):
                    tab.side_effects.take_event(event, fields)
        elif event in ("tab.lost", "idle_destroyed"):
            self._reconnect.take_loss(event, fields)

    async def stay_awake(self, until: asyncio.Event) -> None:
        """See `Session.stay_awake`."""
        while not until.is_set():
            self.keep_alive()
            with suppress(TimeoutError):
                async with asyncio.timeout(_TOUCH_EVERY_S):
                    await until.wait()

    def keep_alive(self) -> None:
        """Report activity to the host app now and then, without waiting for it."""
        now = time.monotonic()
        if now - self._last_touch < _TOUCH_EVERY_S:
            return
        self._last_touch = now
        self._background.begin(self._touch())

    async def _touch(self) -> None:
        try:
            await self.host_client.touch(timeout_s=_TOUCH_TIMEOUT_S)
        except BridgeError as error:
            logger.debug("the host app did not take the keep-alive: %s", error)

    async def check_url(self, url: str) -> str:
        return await self._containment.egress.check_url(url)

    def watch_received(self) -> Callable[[], int]:
        return self._containment.egress.traffic.watch()

    def explain(self, error: NavigationFailed) -> BridgeError:
        return self._containment.explain(error)

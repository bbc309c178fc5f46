"""Attach mode: the WebViews of a foreign app, or Chrome's tabs, driven with the same page methods.

The session starts the named app, nothing else, and closes nothing. Tabs cannot be opened, and the host app is not
involved. There is no egress gate (`egress=unpinned`): requests of attached pages are checked in the page, as far as
interception sees them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from bridge.adb import AdbDevice, AdbServer
from bridge.deadline import Deadline, finish
from bridge.errors import (
    BridgeError,
    DeadlineExceeded,
    DeviceError,
    DeviceLost,
    NavigationFailed,
    PolicyRefused,
    Unsupported,
    UsageError,
)
from bridge.page.files.safe_folder import DOWNLOADS_KEY, UPLOADS_KEY, SafeFolder
from bridge.page.instrumentation import Observer
from bridge.page.interception.url_policy import UrlPolicy
from bridge.page.logs.session_logs import SessionLogs
from bridge.page.page import Page
from bridge.page.target.attachment import Attachment
from bridge.page.target.dialogs import DialogAnswer
from bridge.policy.browser_policy import BrowserPolicy
from bridge.policy.configuration import load_policy
from bridge.policy.grant import AppGrant, Grant, TestServerGrant
from bridge.policy.pinning import PinnedEgress
from bridge.session.attached.app import App, AppPage, PageSelector
from bridge.session.attached.page_search import PageSearch
from bridge.session.attached.tab import AttachedTab
from bridge.session.attachment_slot import OnAttach
from bridge.session.capabilities import AttachedCapabilities
from bridge.session.devices import Notice, VirtualDevices, select_device

_DIAGNOSE_S = 1.4
_INTERCEPT_S = 10.0
_CLOSE_S = 5.0


class AttachedSession:
    """The pages of a foreign app; `Session.attach` yields it.

    Attributes:
        serial: The device's adb serial.
        app: The foreign app.
        egress: The policy, for `goto` and for the requests of attached pages.
        capabilities: How far it is enforced, as of the last page; None before the first.
        logs: Console and network of all pages, from their attachment on.
    """

    def __init__(
        self,
        device: AdbDevice,
        app: App,
        *,
        egress: PinnedEgress,
        notice: Callable[[str], None],
        dialogs: DialogAnswer,
        uploads: SafeFolder,
        downloads: SafeFolder,
    ) -> None:
        self.uploads, self.downloads = uploads, downloads
        self.device = device
        self.serial = device.serial
        self.app = app
        self.on_attach: list[OnAttach] = []
        self.egress = egress
        self.notice = notice
        self.logs = SessionLogs()
        self.observer: Observer | None = None
        self.base_url = ""
        self.capabilities: AttachedCapabilities | None = None
        self._interception = UrlPolicy(egress, blocks_proxy_bypass=egress.policy.blocks_webrtc)
        self._interception.checks_addresses = True
        self.on_attach.append(self._intercept)
        self._dialogs = dialogs
        self._tabs: dict[str, tuple[AttachedTab, Page]] = {}
        self._last_tab = 0

    @property
    def pages(self) -> tuple[Page, ...]:
        """The attached pages, oldest first."""
        return tuple(page for _, page in self._tabs.values())

    async def page(self, *, url: str | None = None, title: str | None = None, timeout_s: float = 20.0) -> Page:
        """Wait for a page of the app that is not attached yet, and attach to it.

        Args:
            url: A URL pattern.
            title: Words in its title.

        Raises:
            DeadlineExceeded: None appeared; lists those that did.
            AppUnavailable: The app has no page to attach to, and why: not installed, not running, frozen, …
        """
        deadline = Deadline.after(timeout_s)
        wanted = PageSelector(url, title)
        found = await self.find(wanted, deadline)
        self._last_tab += 1
        tab = AttachedTab(f"t{self._last_tab}", self, wanted)
        page = Page(tab)
        page.answer_dialogs(self._dialogs)
        page.observer = self.observer
        self._tabs[tab.tab_id] = (tab, page)
        try:
            await tab.open(found, deadline)
            await page.attached()
        except BaseException:
            await self.detach(page)
            raise
        return page

    async def new_page(self, url: str | None = None) -> Page:
        """Always raises: only the app opens its tabs.

        Raises:
            Unsupported
        """
        raise Unsupported(
            f"tabs cannot be opened in {self.app.package}: only the app opens them",
            hint="Have the app open it and wait for it with session.page(url=…).",
        )

    async def detach(self, page: Page) -> None:
        """Detach from a page; it stays open in the app."""
        tab, _ = self._tabs.pop(page.tab_id, (None, None))
        if tab is not None:
            await tab.close()

    def explain(self, error: NavigationFailed) -> BridgeError:
        """See UrlPolicy.explain."""
        return self._interception.explain(error)

    async def _intercept(self, attachment: Attachment) -> None:
        intercepts, closed = await self._interception.install(attachment, timeout_s=_INTERCEPT_S)
        if not intercepts:
            self.notice("requests of this app's pages cannot be intercepted: the policy applies to goto only")
        self.capabilities = AttachedCapabilities(intercepts, "blocked" if closed else "open")

    async def close(self) -> None:
        self.downloads.delete_temporary()
        await asyncio.gather(*(self.detach(page) for page in self.pages))

    async def find(self, wanted: PageSelector, deadline: Deadline, *, relaunch: bool = False) -> AppPage:
        """The first page that matches and is not attached yet; `relaunch` starts the app if it has no socket."""
        attached = {tab.target_id for tab, _ in self._tabs.values()}
        return await PageSearch(self.device, self.app, wanted, attached, deadline).run(relaunch=relaunch)

    async def diagnose(self, is_heard: Callable[[], bool] = lambda: False) -> BridgeError | None:
        """DeviceLost if the device does not answer, or None. The app itself may end and restart."""
        try:
            await self.device.shell("true", timeout_s=_DIAGNOSE_S)
        except DeviceError as error:
            return DeviceLost(f"{self.serial} is gone: {error.message}")
        except DeadlineExceeded as error:
            return None if is_heard() else DeviceLost(f"{self.serial} is gone: {error.message}")
        return None


@asynccontextmanager
async def open_attached_session(
    app: App,
    device: str,
    adb_server: str | None,
    policy: BrowserPolicy | None,
    grants: Sequence[Grant],
    *,
    virtual_devices: VirtualDevices | None,
    dialogs: DialogAnswer,
    uploads_root: str | os.PathLike[str] | None,
    downloads_root: str | os.PathLike[str] | None,
    url: str | None,
    title: str | None,
    observed_by: Callable[[AttachedSession], AbstractAsyncContextManager[Observer | None]],
    notice: Notice,
    timeout_s: float,
) -> AsyncIterator[AttachedSession]:
    """Select the device, launch the app if an activity is given, wait for its first page, and detach at the end.

    Arguments as of `Session.attach`.
    """
    policy = policy or load_policy("operator", os.environ)
    if policy.strict:
        raise PolicyRefused(
            "the policy is strict, and a foreign app's traffic does not go through the egress gate (egress=unpinned)",
            hint="Set strict = false in [browser.policy] to attach to apps.",
            rule="strict",
        )
    egress = PinnedEgress(policy, grants)
    uploads, downloads = SafeFolder.at(uploads_root, UPLOADS_KEY), SafeFolder.at(downloads_root, DOWNLOADS_KEY)
    if foreign := [grant for grant in grants if isinstance(grant, AppGrant) and grant.package != app.package]:
        raise UsageError(f"the grant {foreign[0]} is not for {app.package}")
    deadline = Deadline.after(timeout_s)
    server = AdbServer.from_environment(adb_server)
    await server.ensure_running(timeout_s=deadline.remaining_s)
    async with AsyncExitStack() as stack:
        selected = await stack.enter_async_context(
            select_device(server, device, virtual_devices, notice, timeout_s=deadline.remaining_s)
        )
        adb_device = server.device(selected.serial)
        for number in sorted({grant.port for grant in grants if isinstance(grant, TestServerGrant)}):
            port = f"tcp:{number}"
            await stack.enter_async_context(adb_device.reverse(port, port, timeout_s=deadline.remaining_s))
        session = AttachedSession(
            adb_device, app, egress=egress, notice=notice, dialogs=dialogs, uploads=uploads, downloads=downloads
        )
        async with observed_by(session) as session.observer:
            try:
                if app.activity is not None:
                    await app.launch(adb_device, timeout_s=deadline.remaining_s)
                await session.page(url=url, title=title, timeout_s=deadline.remaining_s)
                yield session
            finally:
                await finish(session.close(), at_most_s=_CLOSE_S, what=f"detaching from {app.package}")

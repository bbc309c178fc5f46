"""A session: one device, its host app, and the tabs in it."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar, Self

from bridge.adb import AdbDevice, AdbServer
from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError
from bridge.host.client import HostClient
from bridge.host.replies import HostHello
from bridge.page.emulation.commands import PermissionSetting
from bridge.page.files.safe_folder import DOWNLOADS_KEY, UPLOADS_KEY, SafeFolder
from bridge.page.instrumentation import Observer
from bridge.page.interception.routes import RouteHandler
from bridge.page.logs.session_logs import SessionLogs
from bridge.page.page import Page
from bridge.page.popups import PopupQueue
from bridge.page.target.dialogs import DialogAnswer
from bridge.policy.browser_policy import BrowserPolicy, policy_for
from bridge.policy.configuration import load_policy
from bridge.policy.grant import Grant, TestServerGrant
from bridge.policy.pinning import Ask, PinnedEgress
from bridge.session.attached.app import App
from bridge.session.attached.session import AttachedSession, open_attached_session
from bridge.session.attachment_slot import OnAttach
from bridge.session.capabilities import Capabilities
from bridge.session.cdp_session import CdpSession, open_cdp_session
from bridge.session.devices import Notice, SelectedDevice, VirtualDevices, has_ended, select_device
from bridge.session.egress import Containment, policy_digest
from bridge.session.host.connection import HostConnection
from bridge.session.host.find_target import host_service
from bridge.session.page_defaults import Setting
from bridge.session.storage.clear_storage import clear_browsing_data
from bridge.session.storage.cookies import (
    COOKIES_TIMEOUT_S,
    Cookie,
    add_cookies,
    clear_cookies,
    get_cookies,
)
from bridge.session.storage.isolated import ISOLATED_TIMEOUT_S, PROFILE, Isolation, isolated
from bridge.session.storage.storage_state import STATE_TIMEOUT_S, StateSummary, load_state, save_state
from bridge.session.tab import SessionTab
from bridge.session.tab_host import View
from bridge.session.tabs import Tabs
from bridge.session.tracing import TraceWriter, Tracing, check_writable, traced

logger = logging.getLogger(__name__)

START_TIMEOUT_S = 60.0
RECONNECT_TIMEOUT_S = 60.0
# How long a frozen host app may delay the end; one that answers gets the time that clearing takes on a slow link.
_ANSWER_S = 2.0
_CLEAR_S = 15.0
_RELEASE_S = 3.0
_CLOSE_S = 24.0


class Session:
    """A device with its host app, ready to open tabs; `Session.open` yields it and closes everything at the end.

    Attributes:
        serial: The device's adb serial.
        containment: Enforces the policy on its traffic; has the egress gate.
        is_virtual: Whether the device is Chromium on this machine instead of a phone.
        notice: Takes one sentence for the user.
    """

    virtual_devices: ClassVar[VirtualDevices | None] = None
    # The default policy is announced once per process.
    _has_announced_default: ClassVar[bool] = False
    trace_writer: ClassVar[TraceWriter | None] = None

    def __init__(
        self,
        selected: SelectedDevice,
        connection: HostConnection,
        view: View,
        egress: PinnedEgress,
        notice: Notice,
        *,
        reconnect: bool,
        dialogs: DialogAnswer,
        uploads: SafeFolder,
        downloads: SafeFolder,
    ) -> None:
        self.serial = selected.serial
        self.is_virtual = selected.is_virtual
        self.notice = notice
        self.containment: Containment = Containment(egress, lambda: connection.device, notice)
        self._connection = connection
        self._tabs = Tabs(
            connection,
            self.containment,
            view,
            notice,
            reconnect=reconnect,
            dialogs=dialogs,
            uploads=uploads,
            downloads=downloads,
        )
        connection.on_connected.append(self.containment.route)
        self._isolation = Isolation()
        self._cdp_sessions: list[CdpSession] = []
        self._tracing = Tracing(self, type(self).trace_writer)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        device: str = "auto",
        *,
        adb_server: str | None = None,
        policy: BrowserPolicy | None = None,
        grants: Sequence[TestServerGrant] = (),
        ask: Ask | None = None,
        egress: PinnedEgress | None = None,
        width_px: int = 412,
        height_px: int = 915,
        density_dpi: int = 160,
        reconnect: bool = False,
        dialogs: DialogAnswer = "default",
        uploads_root: str | os.PathLike[str] | None = None,
        downloads_root: str | os.PathLike[str] | None = None,
        trace: str | os.PathLike[str] | None = None,
        on_notice: Notice | None = None,
        timeout_s: float = START_TIMEOUT_S,
    ) -> AsyncIterator[Self]:
        """Select the device, start the host app on it, and get ready to open tabs.

        Args:
            device: A serial, "virtual", or "auto" (the one attached device, else a virtual one).
            adb_server: `host:port`; by default the address in ADB's own environment variables.
            policy: Which addresses may be opened; by default the operator's configuration (file, environment), else the
                public web. Some addresses are refused by every policy.
            ask: Decides what the policy leaves open (`default_action="ask"`); without it, the answer is no.
            egress: Instead of policy, grants and ask: pins shared with another session, or a custom resolver and
                dialler.
            grants: Servers on this machine's loopback that pages may be opened from. Each is reachable on the device
                under the same port while the session lasts.
            width_px, height_px, density_dpi: The tabs' size; density 160 gives device pixel ratio 1.
            reconnect: Restore what is lost (cable, adb server, reboot, host app, renderer) at the beginning of the next
                operation, as `reconnect()` does, and report it in that operation's notices; it may take 30 s longer
                then. The operation that the loss interrupted still fails.
            dialogs: How JavaScript dialogs are answered in every tab; see `page.answer_dialogs`.
            uploads_root, downloads_root: The folders that files may come from and go to; without one,
                `page.set_input_files` or `page.download` is refused.
            trace: Write a trace to this file when the session ends: one HTML file with every operation, its
                screenshot, what changed, console, network, policy decisions and cost.
            on_notice: Takes notices for the user, one sentence each, such as that a virtual device is used.

        Raises:
            DeviceError: The device is missing, unauthorised or offline, or several are attached.
            HostError: The host app is missing, has another version, or does not start.
        """
        deadline, view = Deadline.after(timeout_s), View(width_px, height_px, density_dpi)
        uploads, downloads = SafeFolder.at(uploads_root, UPLOADS_KEY), SafeFolder.at(downloads_root, DOWNLOADS_KEY)
        if trace is not None:
            check_writable(Path(trace))
        notice = on_notice or _log_notice
        server = AdbServer.from_environment(adb_server)
        await server.ensure_running(timeout_s=deadline.remaining_s)
        async with AsyncExitStack() as stack:
            selected = await stack.enter_async_context(
                select_device(server, device, cls.virtual_devices, notice, timeout_s=deadline.remaining_s)
            )
            if egress is None:
                egress = PinnedEgress(policy or load_policy("operator", os.environ), grants, ask=ask)
            if egress.policy == policy_for("operator") and not cls._has_announced_default:
                Session._has_announced_default = True
                notice("no policy is configured: pages may open the whole public web ([browser.policy] narrows it)")
            # One port may be granted under several names, such as localhost and 127.0.0.1.
            connection = HostConnection(
                server,
                selected.serial,
                reversed_ports=sorted({grant.port for grant in egress.test_servers}),
                policy_digest=policy_digest(egress.policy, egress.grants),
                has_ended=partial(has_ended, selected, cls.virtual_devices),
            )
            session = cls(
                selected,
                connection,
                view,
                egress,
                notice,
                reconnect=reconnect,
                dialogs=dialogs,
                uploads=uploads,
                downloads=downloads,
            )
            session.observer = await stack.enter_async_context(traced(cls.trace_writer, trace, session))
            try:
                await connection.open(timeout_s=deadline.remaining_s)
                yield session
            finally:
                await finish(session._close(), at_most_s=_CLOSE_S, what=f"closing the session on {session.serial}")

    @classmethod
    @asynccontextmanager
    async def attach(
        cls,
        package: str,
        *,
        activity: str | None = None,
        data: str | None = None,
        url: str | None = None,
        title: str | None = None,
        device: str = "auto",
        adb_server: str | None = None,
        policy: BrowserPolicy | None = None,
        grants: Sequence[Grant] = (),
        dialogs: DialogAnswer = "default",
        uploads_root: str | os.PathLike[str] | None = None,
        downloads_root: str | os.PathLike[str] | None = None,
        trace: str | os.PathLike[str] | None = None,
        on_notice: Notice | None = None,
        timeout_s: float = START_TIMEOUT_S,
    ) -> AsyncIterator[AttachedSession]:
        """Drive another app's WebView, or Chrome (`com.android.chrome`), with the same page methods.

        The app must be debuggable, or have called `WebView.setWebContentsDebuggingEnabled(true)`.

        Args:
            package: The app's package name, exactly.
            activity: Launched first (`.MainActivity`), and again if the app's process has ended; without it the app
                must be running.
            data: The address passed in the launch intent.
            policy: Which addresses may be opened; by default the operator's configuration, else the public web. Only
                requests that interception sees after attaching are checked (egress=unpinned), so a strict policy is
                refused.
            grants: Test servers as in `open`, and `AppGrant(package, origins)` for what the app serves to itself.
            url, title: The page to wait for if the app has several: a URL pattern, words in its title.
            uploads_root, downloads_root: As in `open`; uploads are made in the page, nothing is stored on the device.
            trace: As in `open`.

        Raises:
            DeadlineExceeded: No such page appeared; lists those that did.
            HostFailed: Android did not start the app.
        """
        async with open_attached_session(
            App(package, activity, data),
            device,
            adb_server,
            policy,
            grants,
            virtual_devices=cls.virtual_devices,
            dialogs=dialogs,
            uploads_root=uploads_root,
            downloads_root=downloads_root,
            url=url,
            title=title,
            observed_by=lambda session: traced(cls.trace_writer, trace, session),
            notice=on_notice or _log_notice,
            timeout_s=timeout_s,
        ) as session:
            yield session

    @property
    def host(self) -> HostHello:
        """The host app's report of itself: version, WebView, API level, pid."""
        return self._connection.host.hello

    @property
    def host_client(self) -> HostClient:
        """The present connection to the host app; another one after a reconnect."""
        return self._connection.host

    @property
    def device(self) -> AdbDevice:
        return self._connection.device

    @property
    def egress(self) -> PinnedEgress:
        """Policy, pins and audit of the session's connections."""
        return self.containment.egress

    @property
    def capabilities(self) -> Capabilities | None:
        """The capabilities of the WebView; None until the first tab is open."""
        return self._tabs.capabilities

    @property
    def logs(self) -> SessionLogs:
        """Console and network of all tabs, closed ones included."""
        return self._tabs.logs

    @property
    def view(self) -> View:
        """The size of tabs that are opened from now on."""
        return self._tabs.view

    @view.setter
    def view(self, view: View) -> None:
        self._tabs.view = view

    @property
    def base_url(self) -> str:
        """The base that completes an address without scheme and host (`page.goto("/cart")`); "" for nothing."""
        return self._tabs.base_url

    @base_url.setter
    def base_url(self, base_url: str) -> None:
        self._tabs.base_url = base_url

    @property
    def observer(self) -> Observer | None:
        """Sees every operation on pages that are opened from now on."""
        return self._tabs.observer

    @observer.setter
    def observer(self, observer: Observer | None) -> None:
        self._tabs.observer = observer

    @property
    def tracing(self) -> Tracing:
        """Traces of a part of the session: `start`, then `stop(path=…)`. `Session.open(trace=…)` traces all of it."""
        return self._tracing

    @property
    def on_attach(self) -> list[OnAttach]:
        """Awaited with every tab's new attachment before the tab loads any address."""
        return self._tabs.on_attach

    @property
    def pages(self) -> tuple[Page, ...]:
        """The open tabs, oldest first."""
        return self._tabs.pages

    @property
    def tabs(self) -> Mapping[str, Page]:
        """The open tabs by their ids, popups included."""
        return self._tabs.by_id

    async def new_page(self, url: str | None = None, *, profile: str | None = None) -> Page:
        """Open a tab, at `url` if one is given.

        Args:
            profile: Cookies and storage of its own, shared by the tabs of that name; needs a WebView with profiles.

        Raises:
            PolicyRefused, NavigationFailed: As `page.goto`; the tab is closed again then.
        """
        return await self._tabs.new_page(url, profile=profile)

    # What a browser context of Playwright has

    async def cookies(
        self, urls: str | Sequence[str] | None = None, *, timeout_s: float = COOKIES_TIMEOUT_S
    ) -> list[Cookie]:
        """The cookies of the session, or those that requests to these addresses would carry."""
        return await get_cookies(self._tabs, urls, timeout_s=timeout_s)

    async def add_cookies(self, cookies: Sequence[Cookie], *, timeout_s: float = COOKIES_TIMEOUT_S) -> None:
        """Set cookies: each has name, value and url, or domain and path.

        Raises:
            UsageError: The browser does not take one of them.
        """
        await add_cookies(self._tabs, cookies, timeout_s=timeout_s)

    async def clear_cookies(
        self,
        *,
        name: str | re.Pattern[str] | None = None,
        domain: str | re.Pattern[str] | None = None,
        path: str | re.Pattern[str] | None = None,
        timeout_s: float = COOKIES_TIMEOUT_S,
    ) -> None:
        """Delete all cookies, or those that fit all that is given."""
        await clear_cookies(self._tabs, name, domain, path, timeout_s=timeout_s)

    async def route(self, url: str | re.Pattern[str], handler: RouteHandler) -> None:
        """`page.route` in every tab, open ones and those that come. A popup's first requests are sent before."""
        await self._set_in_pages(("route", url), lambda page: page.route(url, handler))

    async def unroute(self, url: str | re.Pattern[str]) -> None:
        """Remove the session's routes of that pattern, and those of its tabs."""
        self._tabs.page_defaults.forget(("route", url))
        for page in self.pages:
            await page.unroute(url)

    async def unroute_all(self) -> None:
        """Remove all routes of the session and of its tabs."""
        for name in self._tabs.page_defaults.names():
            if isinstance(name, tuple):
                self._tabs.page_defaults.forget(name)
        for page in self.pages:
            await page.unroute_all()

    async def add_init_script(self, script: str) -> None:
        """`page.add_init_script` in every tab, open ones and those that come."""
        await self._set_in_pages(object(), lambda page: page.add_init_script(script))

    async def set_extra_http_headers(self, headers: Mapping[str, str]) -> None:
        """`page.set_extra_http_headers` in every tab, open ones and those that come."""
        await self._set_in_pages("headers", lambda page: page.set_extra_http_headers(headers))

    async def set_offline(self, offline: bool = True) -> None:
        """Disconnect every tab from the network, or connect them again."""
        await self._set_in_pages("offline", lambda page: page.set_offline(offline))

    async def set_geolocation(
        self, latitude: float | None = None, longitude: float | None = None, *, accuracy_m: float = 10.0
    ) -> None:
        """`page.set_geolocation` in every tab, open ones and those that come."""
        await self._set_in_pages(
            "geolocation", lambda page: page.set_geolocation(latitude, longitude, accuracy_m=accuracy_m)
        )

    async def grant_permissions(self, permissions: Sequence[str], *, origin: str) -> None:
        """Grant permissions such as "geolocation" to an origin in every tab.

        Raises:
            Unsupported: In a WebView: it stores no permissions, its app answers each request.
        """
        wanted: dict[str, PermissionSetting] = dict.fromkeys(permissions, "granted")
        await self._set_in_pages(("permissions", origin), lambda page: page.set_permissions(wanted, origin=origin))

    async def set_default_timeout(self, timeout_s: float) -> None:
        """`page.set_default_timeout` in every tab, open ones and those that come."""

        async def set_it(page: Page) -> None:
            page.set_default_timeout(timeout_s)

        await self._set_in_pages("timeout", set_it)

    async def set_default_navigation_timeout(self, timeout_s: float) -> None:
        """`page.set_default_navigation_timeout` in every tab, open ones and those that come."""

        async def set_it(page: Page) -> None:
            page.set_default_navigation_timeout(timeout_s)

        await self._set_in_pages("navigation timeout", set_it)

    async def new_cdp_session(self, page: Page, *, timeout_s: float = 10.0) -> CdpSession:
        """A raw DevTools connection of your own to a page, beside the bridge's; `detach` ends it.

        Commands on it are not checked: they can undo what the bridge has set in the page.
        """
        opened = await open_cdp_session(page, timeout_s=timeout_s)
        self._cdp_sessions.append(opened)
        return opened

    async def _set_in_pages(self, name: object, setting: Setting) -> None:
        await self._tabs.page_defaults.set(name, setting, self.pages)

    def opener_of(self, page: Page) -> str | None:
        """The id of the tab whose page has opened this one; None if no page has."""
        return self._tabs.opener_of(page)

    def popups_of(self, tab_id: str) -> AbstractContextManager[PopupQueue]:
        """Collect the windows that this tab's page opens inside the block."""
        return self._tabs.popups_of(tab_id)

    async def wait_for_popups(self) -> None:
        """Wait until the windows that pages have opened are among `pages`, or were refused."""
        await self._tabs.wait_for_popups()

    def open_tabs(self) -> tuple[SessionTab, ...]:
        """The tabs below the pages, oldest first."""
        return self._tabs.open_tabs()

    def host_tab_of(self, page: Page) -> str | None:
        """The host app's name for the WebView of this page; None while it has none."""
        return self._tabs.host_tab_of(page)

    async def check_url(self, url: str) -> str:
        """The address in its canonical form; PolicyRefused if it may not be opened."""
        return await self._tabs.check_url(url)

    async def reconnect(self, *, timeout_s: float = RECONNECT_TIMEOUT_S) -> tuple[str, ...]:
        """Restore what is lost: wait for the device, start the host app, reopen the tabs at their addresses.

        Returns one sentence for each thing that was done; nothing if nothing is lost. A tab that outlived the
        connection, as after a cable was unplugged, is unchanged, refs included. A reopened tab has lost forms, scroll
        position and refs; its cookies are those on the device. A tab that cannot be reopened stays lost.

        Raises:
            DeadlineExceeded: The device did not come back; says in which state it was last seen.
            DeviceError, HostError: It came back, and the host app cannot be started.
        """
        return await self._tabs.reconnect(timeout_s=timeout_s)

    async def diagnose(self) -> BridgeError | None:
        """Probe device and host app: which of them is lost and why, or None."""
        return await self._tabs.diagnose()

    async def stay_awake(self, until: asyncio.Event) -> None:
        """Keep idle tabs alive until the event is set."""
        await self._tabs.stay_awake(until)

    def forward(self, *, timeout_s: float = 10.0) -> AbstractAsyncContextManager[int]:
        """Forward a port of this machine to the WebView's devtools socket for the length of the block.

        For `chrome://inspect`, pychrome, or Playwright's `connectOverCDP` (with `noDefaults: true`: a WebView has no
        browser contexts to set defaults in). Any local user may connect to it.
        """
        return self.device.forward("tcp:0", host_service(self.host.pid), timeout_s=timeout_s)

    def isolated(self, *, timeout_s: float = ISOLATED_TIMEOUT_S) -> AbstractAsyncContextManager[Page]:
        """A tab for one block: `async with session.isolated() as page:`. See `bridge.session.storage.isolated`.

        It starts without cookies, cache, history and storage, and the end of the block clears and closes it.

        Raises:
            Unsupported: The WebView has no profiles, and other tabs are open whose storage would be cleared as well.
        """
        return isolated(self._tabs, self._isolation, timeout_s=timeout_s)

    async def storage_state(self, path: str | os.PathLike[str], *, timeout_s: float = STATE_TIMEOUT_S) -> StateSummary:
        """Save the cookies, and the storage of the open pages, to a file that only its owner can read."""
        return await save_state(self.pages, path, timeout_s=timeout_s)

    async def set_storage_state(
        self, path: str | os.PathLike[str], *, page: Page | None = None, timeout_s: float = STATE_TIMEOUT_S
    ) -> StateSummary:
        """Restore a saved state; session storage, which belongs to a tab, into `page` if one is given.

        Storage is written from an empty document of each origin, without a request to its server; `page` stays on the
        last of them.

        Raises:
            UsageError: Not a saved state.
        """
        return await load_state(self._tabs, path, page, timeout_s=timeout_s)

    async def _close(self) -> None:
        """Each part in its turn, also if the one before failed."""
        async with AsyncExitStack() as stack:
            stack.callback(self._tabs.downloads.delete_temporary)
            stack.push_async_callback(self._tracing.close)
            stack.push_async_callback(self._release)
            stack.push_async_callback(self._tabs.close)
            for opened in self._cdp_sessions:
                stack.push_async_callback(opened.detach)
            await self._clear_browsing_data()

    async def _clear_browsing_data(self) -> None:
        """The host app's process keeps what pages have stored, and may outlive the session."""
        origins = set().union(*self.logs.origins.values())
        if not origins:
            return
        profiles = {None, *self._tabs.profiles.values()} - (set() if self._isolation.left_behind else {PROFILE})
        why = "device or host app disconnected"
        if self._tabs.is_connected:
            try:
                await self.host_client.touch(timeout_s=_ANSWER_S)
                async with Deadline.after(_CLEAR_S).bound("clearing it"):
                    await clear_browsing_data(self._tabs, profiles, origins, timeout_s=_CLEAR_S)
                return
            except BridgeError as error:
                why = error.message
        self.notice(f"could not clear browsing data on {self.serial}: {why}")

    async def _release(self) -> None:
        what = f"removing the egress gate from {self.serial}"
        closing = finish(self.containment.close(), at_most_s=_RELEASE_S, what=what)
        await asyncio.gather(closing, self._connection.close(timeout_s=_RELEASE_S))


def _log_notice(text: str) -> None:
    logger.warning("%s", text)

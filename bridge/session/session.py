"""A session: one device, its host app, and the tabs in it."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from typing import Any, ClassVar

from bridge.adb import AdbDevice, AdbServer
from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, NavigationFailed
from bridge.host.client import HostClient, HostHello
from bridge.page.attachment import Attachment
from bridge.page.confinement import DOWNLOADS_KEY, UPLOADS_KEY, Confined
from bridge.page.dialogs import DialogAnswer
from bridge.page.journal import Journal
from bridge.page.operations import Observer
from bridge.page.page import Page
from bridge.page.popups import OpenedPages
from bridge.policy.configuration import load_policy
from bridge.policy.grant import Grant, TestServerGrant
from bridge.policy.pinning import Ask, PinnedEgress
from bridge.policy.rules import BrowserPolicy, policy_for
from bridge.session.app import App
from bridge.session.attached import AttachedSession, attaching
from bridge.session.capabilities import Capabilities, probe, require_supported
from bridge.session.devices import Chosen, Notice, VirtualDevices, chosen_device
from bridge.session.egress import Containment, policy_digest
from bridge.session.isolated import ISOLATED_TIMEOUT_S, PROFILE, Isolation, isolated
from bridge.session.leaving import clear_state
from bridge.session.link import HostLink
from bridge.session.popups import Popups
from bridge.session.recovery import Recovery
from bridge.session.state import STATE_TIMEOUT_S, StateSummary, load_state, save_state
from bridge.session.tab import OnAttach, SessionTab, View
from bridge.session.tracing import Tracing, traced

logger = logging.getLogger(__name__)

START_TIMEOUT_S = 60.0
# How much longer an operation may take that begins by reconnecting.
RECONNECT_TIMEOUT_S = 30.0
# The host app destroys a WebView 300 s after the last sign of life; CDP traffic does not pass it, so we tell it.
_TOUCH_EVERY_S = 20.0
_TOUCH_TIMEOUT_S = 5.0
_PROBE_S = 5.0
# A frozen one keeps nobody; one that answers gets the time that clearing takes over a slow link.
_ANSWER_S = 2.0
_CLEAR_S = 15.0
_CLOSE_TAB_S = 2.0
_LET_GO_S = 3.0
_CLOSE_S = 24.0


class Session:
    """What `Session.open` yields: open tabs with `new_tab`, everything ends with the block.

    Attributes:
        serial: The device's adb serial.
        containment: How far its traffic is held to the policy; has the egress gate.
        journal: Console and network of all tabs since the first one, those of closed ones included.
        is_virtual: Whether it is Chromium on this machine instead of a phone.
        restores_tabs: Whether what is lost is restored without being asked.
    """

    virtual_devices: ClassVar[VirtualDevices | None] = None
    # What holds without a policy is said once in a program.
    _has_said_default: ClassVar[bool] = False
    tracing: ClassVar[Tracing | None] = None

    def __init__(
        self,
        chosen: Chosen,
        link: HostLink,
        view: View,
        egress: PinnedEgress,
        notice: Notice,
        *,
        reconnect: bool,
        dialogs: DialogAnswer,
    ) -> None:
        self.serial = chosen.serial
        self.is_virtual = chosen.is_virtual
        self.view = view
        self.notice = notice
        # Awaited with every tab's fresh attachment, in this order: the policy's gate comes first.
        self.on_attach: list[OnAttach] = []
        self.restores_tabs = reconnect
        self._link = link
        self.containment = Containment(egress, lambda: link.device, notice)
        self._dialogs = dialogs
        self.observer: Observer | None = None
        self.journal = Journal()
        self._popups = Popups(self)
        self._isolation = Isolation()
        self.uploads = Confined.at(None, UPLOADS_KEY)
        self.downloads = Confined.at(None, DOWNLOADS_KEY)
        self._tabs: dict[str, tuple[SessionTab, Page]] = {}
        self._last_tab = 0
        # Of all tabs that there ever were: what a closed one has stored is still there.
        self._profiles: dict[str, str | None] = {}
        self._last_touch = time.monotonic()
        self._background: set[asyncio.Task[None]] = set()
        self._capabilities: Capabilities | None = None
        self._recovery = Recovery(self.serial, link, self.open_tabs, notice)
        link.on_connected += [self._take_host, self.containment.route]
        self.on_attach.append(self.containment.install)

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
    ) -> AsyncIterator[Session]:
        """Find the device, start the host app on it, and be ready to open tabs.

        Args:
            device: A serial, "virtual", or "auto" (the one attached device, else a virtual one).
            adb_server: `host:port`; without it what ADB's own environment variables say.
            policy: Which addresses may be opened; without one what the operator has configured (file, environment),
                else the public web, with what is always refused refused.
            ask: Asked about what the policy leaves open (`default_action="ask"`); nobody means no.
            egress: Instead of policy, grants and ask: what another session has pinned already, or a resolver and a
                dialler of one's own.
            grants: Servers on this machine's loopback that pages may be opened from; each is made reachable on the
                device under the same port while the session lasts.
            width_px, height_px, density_dpi: The tabs' size; density 160 gives device pixel ratio 1.
            reconnect: Restore what is lost (cable, adb server, reboot, host app, renderer) when the next operation
                begins, as `reconnect()` does, and say so in its notices; it may take 30 s longer then. The one that was
                interrupted still fails.
            dialogs: How JavaScript dialogs are answered in every tab; see `page.on_dialog`.
            uploads_root, downloads_root: The folders that files may come from and go to; without one, `page.upload` or
                `page.download` is refused.
            trace: Write what was done here, when the session ends: one HTML file with every operation, its picture,
                what changed, console, network, policy decisions and cost.
            on_notice: Told in one sentence what the caller should know, such as that a virtual device is used.

        Raises:
            DeviceError: No such device, not authorised, offline, several.
            HostError: The host app is missing, of another version, or does not start.
        """
        deadline = Deadline.after(timeout_s)
        uploads, downloads = Confined.at(uploads_root, UPLOADS_KEY), Confined.at(downloads_root, DOWNLOADS_KEY)
        notice = on_notice or _log_notice
        server = AdbServer.from_environment(adb_server)
        await server.ensure_running(timeout_s=deadline.remaining_s)
        async with AsyncExitStack() as stack:
            chosen = await stack.enter_async_context(
                chosen_device(server, device, cls.virtual_devices, notice, timeout_s=deadline.remaining_s)
            )
            if egress is None:
                egress = PinnedEgress(policy or load_policy("operator", os.environ), grants, ask=ask)
            if egress.policy == policy_for("operator") and not cls._has_said_default:
                Session._has_said_default = True
                notice("no policy is configured, so the whole public web may be opened ([browser.policy] narrows it)")
            # One port may be granted under several names, such as localhost and 127.0.0.1.
            link = HostLink(
                server,
                chosen.serial,
                reversed_ports=sorted({grant.port for grant in egress.test_servers}),
                policy_digest=policy_digest(egress.policy, egress.grants),
            )
            session = cls(
                chosen,
                link,
                View(width_px, height_px, density_dpi),
                egress,
                notice,
                reconnect=reconnect,
                dialogs=dialogs,
            )
            session.uploads, session.downloads = uploads, downloads
            session.observer = await stack.enter_async_context(traced(cls.tracing, trace, session))
            try:
                await link.open(timeout_s=deadline.remaining_s)
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
        trace: str | os.PathLike[str] | None = None,
        on_notice: Notice | None = None,
        timeout_s: float = START_TIMEOUT_S,
    ) -> AsyncIterator[AttachedSession]:
        """Drive another app's WebView, or Chrome (`com.android.chrome`), with the same pages.

        The app must be debuggable, or have called `WebView.setWebContentsDebuggingEnabled(true)`.

        Args:
            package: Whose WebView, exactly.
            activity: Launched first (`.MainActivity`), and again when the app's process has ended; without it the app
                must be running.
            data: The address that the launching intent carries.
            policy: Which addresses may be opened; without one what is configured, else the public web. What a page
                requests is judged from its attachment on and as far as interception sees it (egress=unpinned), so a
                strict one is refused.
            grants: Test servers as in `open`, and `AppGrant(package, origins)` for what the app serves to itself.
            url, title: Which page to wait for, where the app has several: a glob over its address, words of its title.
            trace: As in `open`.

        Raises:
            DeadlineExceeded: No such page came; says which there were.
            HostFailed: Android did not start the app.
        """
        async with attaching(
            App(package, activity, data),
            device,
            adb_server,
            policy,
            grants,
            virtual_devices=cls.virtual_devices,
            dialogs=dialogs,
            url=url,
            title=title,
            observed_by=lambda session: traced(cls.tracing, trace, session),
            notice=on_notice or _log_notice,
            timeout_s=timeout_s,
        ) as session:
            yield session

    async def reconnect(self, *, timeout_s: float = START_TIMEOUT_S) -> tuple[str, ...]:
        """Restore what is lost: wait for the device, start the host app, open the tabs at their addresses again.

        What was done, one sentence each; nothing where nothing is lost. A tab that outlived the connection, as after a
        cable was pulled, is as it was, refs included. Of one that was opened again at its address forms, scroll
        position and refs are gone; cookies are as the device kept them. One that does not come back stays lost.

        Raises:
            DeadlineExceeded: The device did not come back; says what it was last seen as.
            DeviceError, HostError: It came back, and the host app cannot be started.
        """
        said = await self._recovery.reconnect(timeout_s=timeout_s)
        if said and self._capabilities is not None and (first := next(iter(self._tabs.values()), None)):
            with suppress(BridgeError):
                attachment, _ = await first[0].attachment()
                self._capabilities = await self._probe(attachment)
        return said

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

    def forward(self, *, timeout_s: float = 10.0) -> AbstractAsyncContextManager[int]:
        """A port of this machine that leads to the WebView's devtools socket, for other tools, while the block lasts.

        For `chrome://inspect`, pychrome, or Playwright's `connectOverCDP` (with `noDefaults: true`: a WebView has no
        browser contexts to set defaults in). Any local user may connect to it.
        """
        remote = f"localabstract:webview_devtools_remote_{self.host.pid}"
        return self.device.forward("tcp:0", remote, timeout_s=timeout_s)

    @property
    def tabs(self) -> Mapping[str, Page]:
        """The open tabs by their ids, those that pages opened included."""
        return {tab_id: page for tab_id, (_, page) in self._tabs.items()}

    def isolated(self, *, timeout_s: float = ISOLATED_TIMEOUT_S) -> AbstractAsyncContextManager[Page]:
        """A tab for one call: `async with session.isolated() as page:`. See `bridge.session.isolated`.

        It begins without cookies, cache, history and storage, and when the block ends nothing of it is left.

        Raises:
            Unsupported: The WebView has no profiles, and other tabs are open whose state would be cleared with it.
        """
        return isolated(self, self._isolation, timeout_s=timeout_s)

    async def state_save(self, path: str | os.PathLike[str], *, timeout_s: float = STATE_TIMEOUT_S) -> StateSummary:
        """Write the cookies, and the storage of the pages that are open, to a file that only its owner can read."""
        return await save_state(self, path, timeout_s=timeout_s)

    async def state_load(
        self, path: str | os.PathLike[str], *, page: Page | None = None, timeout_s: float = STATE_TIMEOUT_S
    ) -> StateSummary:
        """Put a saved state back; session storage, which is a tab's own, into `page` where one is given.

        Storage is put back from an empty document of each origin, without asking its server; `page` is left on the
        last of them.

        Raises:
            UsageError: The file is no saved state.
        """
        return await load_state(self, path, page, timeout_s=timeout_s)

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
            attachment = await tab.open()
            if self._capabilities is None:
                self._capabilities = await self._probe(attachment)
            if url is not None:
                await page.goto(url)
        except BaseException:
            await self.close_tab(page)
            raise
        return page

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

    def popups_of(self, tab_id: str) -> AbstractContextManager[OpenedPages]:
        return self._popups.listen(tab_id)

    def opener_of(self, page: Page) -> str | None:
        """The id of the tab whose page has opened this one."""
        return self._tabs[page.tab_id][0].opener_id

    async def windows_taken(self) -> None:
        """Wait until the windows that pages have opened are among `pages`, or were refused."""
        await self._popups.taken()

    async def close_tab(self, page: Page) -> None:
        """Close a tab; a tab that is already closed is left alone."""
        tab, _ = self._tabs.pop(page.tab_id, (None, None))
        if tab is None:
            return
        await finish(tab.close(), at_most_s=_CLOSE_TAB_S, what=f"closing {page.tab_id}")
        self.journal.forget_tab(page.tab_id)

    async def check_url(self, url: str) -> str:
        return await self.egress.check_url(url)

    def explain(self, error: NavigationFailed) -> BridgeError:
        return self.containment.explain(error)

    def _take_event(self, event: str, fields: Mapping[str, Any]) -> None:
        if event == "popup" and (work := self._popups.take(fields)) is not None:
            self._in_background(work)
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
        return await self.reconnect(timeout_s=RECONNECT_TIMEOUT_S)

    async def diagnose(self) -> BridgeError | None:
        return await self._recovery.diagnose()

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
        self._in_background(self._send_touch())

    def _in_background(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _send_touch(self) -> None:
        try:
            await self.host_client.touch(timeout_s=_TOUCH_TIMEOUT_S)
        except BridgeError as error:
            logger.debug("the host app did not take the sign of life: %s", error)

    async def _close(self) -> None:
        """Each part in its turn, whatever became of the one before."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._let_go)
            stack.push_async_callback(self._close_tabs)
            await self._clear()

    async def _clear(self) -> None:
        """What pages have stored; the host app's process, which keeps it, may go on."""
        origins = set().union(*self.journal.origins.values())
        if not origins:
            return
        profiles = {None, *self._profiles.values()} - (set() if self._isolation.left_behind else {PROFILE})
        why = "it is lost"
        if self._recovery.seems_whole:
            try:
                await self.host_client.touch(timeout_s=_ANSWER_S)
                async with Deadline.after(_CLEAR_S).bound("clearing it"):
                    await clear_state(self, profiles, origins, timeout_s=_CLEAR_S)
                return
            except BridgeError as error:
                why = error.message
        self.notice(f"what pages have stored on {self.serial} may still be there for this program: {why}")

    async def _let_go(self) -> None:
        what = f"taking the gate from {self.serial}"
        closing = finish(self.containment.close(), at_most_s=_LET_GO_S, what=what)
        await asyncio.gather(closing, self._link.close(timeout_s=_LET_GO_S))

    async def _close_tabs(self) -> None:
        while self._background or self._tabs:  # a page may open one more window while its tab is being closed
            for task in list(self._background):
                task.cancel()
            await asyncio.gather(*self._background, return_exceptions=True)
            await asyncio.gather(*(self.close_tab(page) for _, page in list(self._tabs.values())))


def _log_notice(text: str) -> None:
    logger.warning("%s", text)

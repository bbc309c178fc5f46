"""A session: one device, its host app, and the tabs in it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar, Self

from bridge.adb import AdbServer
from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError
from bridge.page.files.safe_folder import DOWNLOADS_KEY, UPLOADS_KEY, SafeFolder
from bridge.page.page import Page
from bridge.page.target.dialogs import DialogAnswer
from bridge.policy.browser_policy import BrowserPolicy, policy_for
from bridge.policy.configuration import load_policy
from bridge.policy.grant import Grant, TestServerGrant
from bridge.policy.pinning import Ask, PinnedEgress
from bridge.session.attached.app import App
from bridge.session.attached.session import AttachedSession, attaching
from bridge.session.devices import Chosen, Notice, VirtualDevices, chosen_device, has_ended
from bridge.session.egress import policy_digest
from bridge.session.host.connection import HostConnection
from bridge.session.host.find_target import host_service
from bridge.session.storage.clear_storage import clear_state
from bridge.session.storage.isolated import ISOLATED_TIMEOUT_S, PROFILE, Isolation, isolated
from bridge.session.storage.storage_state import STATE_TIMEOUT_S, StateSummary, load_state, save_state
from bridge.session.tab_host import View
from bridge.session.tabs import SessionTabs
from bridge.session.tracing import Tracing, check_writable, traced

logger = logging.getLogger(__name__)

START_TIMEOUT_S = 60.0
# A frozen one keeps nobody; one that answers gets the time that clearing takes over a slow link.
_ANSWER_S = 2.0
_CLEAR_S = 15.0
_LET_GO_S = 3.0
_CLOSE_S = 24.0


class Session(SessionTabs):
    """What `Session.open` yields: open tabs with `new_tab`, everything ends with the block.

    Attributes:
        serial: The device's adb serial.
        containment: How far its traffic is held to the policy; has the egress gate.
        logs: Console and network of all tabs since the first one, those of closed ones included.
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
        link: HostConnection,
        view: View,
        egress: PinnedEgress,
        notice: Notice,
        *,
        reconnect: bool,
        dialogs: DialogAnswer,
    ) -> None:
        super().__init__(chosen.serial, link, view, egress, notice, reconnect=reconnect, dialogs=dialogs)
        self.is_virtual = chosen.is_virtual
        self._isolation = Isolation()

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
        deadline, view = Deadline.after(timeout_s), View(width_px, height_px, density_dpi)
        uploads, downloads = SafeFolder.at(uploads_root, UPLOADS_KEY), SafeFolder.at(downloads_root, DOWNLOADS_KEY)
        if trace is not None:
            check_writable(Path(trace))
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
            link = HostConnection(
                server,
                chosen.serial,
                reversed_ports=sorted({grant.port for grant in egress.test_servers}),
                policy_digest=policy_digest(egress.policy, egress.grants),
                has_ended=partial(has_ended, chosen, cls.virtual_devices),
            )
            session = cls(
                chosen,
                link,
                view,
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
        uploads_root: str | os.PathLike[str] | None = None,
        downloads_root: str | os.PathLike[str] | None = None,
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
            uploads_root, downloads_root: As in `open`; nothing is put on the device, uploads are made in the page.
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
            uploads_root=uploads_root,
            downloads_root=downloads_root,
            url=url,
            title=title,
            observed_by=lambda session: traced(cls.tracing, trace, session),
            notice=on_notice or _log_notice,
            timeout_s=timeout_s,
        ) as session:
            yield session

    def forward(self, *, timeout_s: float = 10.0) -> AbstractAsyncContextManager[int]:
        """A port of this machine that leads to the WebView's devtools socket, for other tools, while the block lasts.

        For `chrome://inspect`, pychrome, or Playwright's `connectOverCDP` (with `noDefaults: true`: a WebView has no
        browser contexts to set defaults in). Any local user may connect to it.
        """
        return self.device.forward("tcp:0", host_service(self.host.pid), timeout_s=timeout_s)

    def isolated(self, *, timeout_s: float = ISOLATED_TIMEOUT_S) -> AbstractAsyncContextManager[Page]:
        """A tab for one call: `async with session.isolated() as page:`. See `bridge.session.storage.isolated`.

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

    async def _close(self) -> None:
        """Each part in its turn, whatever became of the one before."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._let_go)
            stack.push_async_callback(self._close_tabs)
            await self._clear()

    async def _clear(self) -> None:
        """What pages have stored; the host app's process, which keeps it, may go on."""
        origins = set().union(*self.logs.origins.values())
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


def _log_notice(text: str) -> None:
    logger.warning("%s", text)

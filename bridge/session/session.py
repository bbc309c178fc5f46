"""A session: one device, its host app, and the tabs in it."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, ClassVar

from bridge.adb import AdbDevice, AdbServer
from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeviceLost, PolicyRefused
from bridge.host.client import HostClient, HostHello
from bridge.host.launch import start_host
from bridge.page.journal import Journal
from bridge.page.page import Page
from bridge.policy.grant import TestServerGrant
from bridge.policy.judge import decide
from bridge.session.capabilities import Capabilities, probe, require_supported
from bridge.session.devices import Chosen, Notice, VirtualDevices, chosen_device
from bridge.session.tab import SessionTab, View

logger = logging.getLogger(__name__)

START_TIMEOUT_S = 60.0
# The host app destroys a WebView 300 s after the last sign of life; CDP traffic does not pass it, so we tell it.
_TOUCH_EVERY_S = 20.0
_TOUCH_TIMEOUT_S = 5.0
_PROBE_S = 5.0


class Session:
    """What `Session.open` yields: open tabs with `new_tab`, everything ends with the block.

    Attributes:
        serial: The device's adb serial.
        journal: Console and network of all tabs since the first one, those of closed ones included.
        is_virtual: Whether it is Chromium on this machine instead of a phone.
    """

    virtual_devices: ClassVar[VirtualDevices | None] = None

    def __init__(
        self,
        chosen: Chosen,
        device: AdbDevice,
        host: HostClient,
        view: View,
        grants: Sequence[TestServerGrant],
        notice: Notice,
    ) -> None:
        self.serial = chosen.serial
        self.is_virtual = chosen.is_virtual
        self.device = device
        self._host = host
        self._view = view
        self._grants = tuple(grants)
        self._notice = notice
        self.journal = Journal()
        self._tabs: dict[str, tuple[SessionTab, Page]] = {}
        self._last_tab = 0
        self._last_touch = time.monotonic()
        self._background: set[asyncio.Task[None]] = set()
        self._capabilities: Capabilities | None = None
        self._host_closed: str | None = None

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        device: str = "auto",
        *,
        adb_server: str | None = None,
        grants: Sequence[TestServerGrant] = (),
        width_px: int = 412,
        height_px: int = 915,
        density_dpi: int = 160,
        on_notice: Notice | None = None,
        timeout_s: float = START_TIMEOUT_S,
    ) -> AsyncIterator[Session]:
        """Find the device, start the host app on it, and be ready to open tabs.

        Args:
            device: A serial, "virtual", or "auto" (the one attached device, else a virtual one).
            adb_server: `host:port`; without it what ADB's own environment variables say.
            grants: Servers on this machine's loopback that pages may be opened from; each is made reachable on the
                device under the same port while the session lasts.
            width_px, height_px, density_dpi: The tabs' size; density 160 gives device pixel ratio 1.
            on_notice: Told in one sentence what the caller should know, such as that a virtual device is used.

        Raises:
            DeviceError: No such device, not authorised, offline, several.
            HostError: The host app is missing, of another version, or does not start.
        """
        deadline = Deadline.after(timeout_s)
        notice = on_notice or _log_notice
        server = AdbServer.from_environment(adb_server)
        await server.ensure_running(timeout_s=deadline.remaining_s)
        async with AsyncExitStack() as stack:
            chosen = await stack.enter_async_context(
                chosen_device(server, device, cls.virtual_devices, notice, timeout_s=deadline.remaining_s)
            )
            adb_device = server.device(chosen.serial)
            # One port may be granted under several names, such as localhost and 127.0.0.1.
            for number in sorted({grant.port for grant in grants}):
                port = f"tcp:{number}"
                await stack.enter_async_context(adb_device.reverse(port, port, timeout_s=deadline.remaining_s))
            host = await stack.enter_async_context(
                start_host(
                    adb_device,
                    owner=f"pid {os.getpid()}",
                    policy_digest=_policy_digest(grants),
                    timeout_s=deadline.remaining_s,
                )
            )
            require_supported(host.hello)
            session = cls(chosen, adb_device, host, View(width_px, height_px, density_dpi), grants, notice)
            stack.callback(host.on_event(session._take_event))
            try:
                yield session
            finally:
                await session._close()

    @property
    def host(self) -> HostHello:
        """What the host app said of itself: version, WebView, API level, pid."""
        return self._host.hello

    @property
    def capabilities(self) -> Capabilities | None:
        """What the WebView can do; known once the first tab is open."""
        return self._capabilities

    @property
    def pages(self) -> tuple[Page, ...]:
        """The open tabs, oldest first."""
        return tuple(page for _, page in self._tabs.values())

    async def new_tab(self, url: str | None = None) -> Page:
        """A new tab, at `url` where one is given.

        Raises:
            PolicyRefused, NavigationFailed: As `page.goto`; the tab is closed again then.
        """
        if url is not None:
            self._judge(url)
        self._check_alive()
        self._last_tab += 1
        tab = SessionTab(
            f"t{self._last_tab}",
            self.device,
            self._host,
            self._view,
            judge=self._judge,
            keep_alive=self._touch,
            check_alive=self._check_alive,
            notice=self._notice,
            journal=self.journal,
        )
        page = Page(tab)
        self._tabs[tab.tab_id] = (tab, page)
        try:
            attachment = await tab.open()
            if self._capabilities is None:
                self._capabilities = await probe(attachment, self._host.hello, timeout_s=_PROBE_S)
            tab.full_page = self._capabilities.full_page
            if url is not None:
                await page.goto(url)
        except BaseException:
            await self.close_tab(page)
            raise
        return page

    async def close_tab(self, page: Page) -> None:
        """Close a tab; a tab that is already closed is left alone."""
        tab, _ = self._tabs.pop(page.tab_id, (None, None))
        if tab is None:
            return
        try:
            await tab.close()
        except BridgeError as error:
            logger.debug("%s did not close cleanly: %s", page.tab_id, error)

    def _judge(self, url: str) -> None:
        decision = decide(url, self._grants)
        if not decision.allowed:
            raise PolicyRefused(f"{url[:200]} is refused: {decision.reason}", hint=decision.hint)

    def _take_event(self, event: str, fields: Mapping[str, Any]) -> None:
        if event in ("tab.lost", "idle_destroyed"):
            reason = "idle" if event == "idle_destroyed" else str(fields.get("reason", "lost"))
            for tab, _ in self._tabs.values():
                if tab.host_tab == fields.get("tab"):
                    tab.lose(reason)

    def _check_alive(self) -> None:
        reason = self._host.closed_reason
        if reason is not None:
            raise DeviceLost(f"the host app on {self.serial} is gone: {reason.message}", hint="Open a new session.")

    def _touch(self) -> None:
        """Tell the host app that this session is at work, now and then, without waiting for it."""
        now = time.monotonic()
        if now - self._last_touch < _TOUCH_EVERY_S:
            return
        self._last_touch = now
        task = asyncio.ensure_future(self._send_touch())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _send_touch(self) -> None:
        try:
            await self._host.touch(timeout_s=_TOUCH_TIMEOUT_S)
        except BridgeError as error:
            logger.debug("the host app did not take the sign of life: %s", error)

    async def _close(self) -> None:
        for task in list(self._background):
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await asyncio.gather(*(self.close_tab(page) for _, page in list(self._tabs.values())))


def _policy_digest(grants: Sequence[TestServerGrant]) -> str:
    """Sessions with equal rules may share a host process; the digest tells them apart."""
    listed = "\n".join(sorted(f"{grant.host}:{grant.port}" for grant in grants))
    return hashlib.sha256(f"operator\n{listed}".encode()).hexdigest()


def _log_notice(text: str) -> None:
    logger.warning("%s", text)

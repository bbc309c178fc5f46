"""A tab: a WebView in the host app, found by its nonce, driven over one CDP connection of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from bridge.adb import AdbDevice
from bridge.cdp import open_cdp
from bridge.cdp.discovery import Target, list_targets
from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, TabLost
from bridge.host.client import HostClient
from bridge.page.attachment import Attachment, attach
from bridge.page.full_page import Strategy
from bridge.page.host_services import HostServices
from bridge.page.journal import Journal
from bridge.page.navigation import go
from bridge.session.host_services import HostTabServices

logger = logging.getLogger(__name__)

OPEN_TIMEOUT_S = 20.0
_LIST_PAUSE_S = 0.05
_REOPEN_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class View:
    """The size of a tab's virtual display."""

    width_px: int = 412
    height_px: int = 915
    density_dpi: int = 160


class SessionTab:
    """One tab of a session, `t1`, `t2`, …; implements what a page needs of it."""

    def __init__(
        self,
        tab_id: str,
        device: AdbDevice,
        host: HostClient,
        view: View,
        *,
        judge: Callable[[str], None],
        keep_alive: Callable[[], None],
        check_alive: Callable[[], None],
        notice: Callable[[str], None],
        journal: Journal,
    ) -> None:
        self._tab_id = tab_id
        self._device = device
        self._host = host
        self._view = view
        self.judge = judge
        self._keep_alive = keep_alive
        self._check_alive = check_alive
        self._notice = notice
        self.journal = journal
        self._attachment: Attachment | None = None
        self._stack = AsyncExitStack()
        self.host_tab: str | None = None
        self.full_page: Strategy | None = None
        self._lost: str | None = None
        self._closed = False

    @property
    def tab_id(self) -> str:
        return self._tab_id

    @property
    def host_services(self) -> HostServices | None:
        return HostTabServices(self._host, self.host_tab) if self.host_tab is not None else None

    async def attachment(self) -> tuple[Attachment, tuple[str, ...]]:
        """The living attachment. A tab that was destroyed because nobody used it is opened again, and that is said.

        Raises:
            TabLost: Closed, or its renderer died.
        """
        if self._closed:
            raise TabLost(f"{self._tab_id} has been closed")
        self._check_alive()
        self._keep_alive()
        notices: tuple[str, ...] = ()
        if self._lost == "idle":
            notices = (await self._reopen(),)
            self._notice(notices[0])
        elif self._lost is not None:
            raise TabLost(f"{self._tab_id} is gone: {self._lost}", hint="Open a new tab.")
        if self._attachment is None:
            raise TabLost(f"{self._tab_id} was never opened")
        return self._attachment, notices

    async def open(self, *, timeout_s: float = OPEN_TIMEOUT_S) -> Attachment:
        """Have the host app make a WebView, find it in the devtools list, and attach to it."""
        deadline = Deadline.after(timeout_s)
        view = self._view
        made = await self._host.open_tab(
            width_px=view.width_px,
            height_px=view.height_px,
            density_dpi=view.density_dpi,
            timeout_s=deadline.remaining_s,
        )
        self.host_tab = made.tab
        target = await self._find(made.nonce, deadline)
        sock = await self._device.open_stream(self._devtools_service(), timeout_s=deadline.remaining_s)
        path = f"/devtools/page/{target.target_id}"
        connection = await self._stack.enter_async_context(open_cdp(sock, path, timeout_s=deadline.remaining_s))
        connection.on_event(self.journal.reader(self._tab_id))
        self._attachment = await self._stack.enter_async_context(attach(connection, timeout_s=deadline.remaining_s))
        self._lost = None
        return self._attachment

    def lose(self, reason: str) -> None:
        """The host app says that this tab is no more."""
        self._lost = reason
        if self._attachment is not None:
            self._attachment.watch.end(TabLost(f"{self._tab_id} is gone: {reason}"))

    async def close(self, *, timeout_s: float = 5.0) -> None:
        """Detach and have the host app destroy the WebView; safe to repeat."""
        if self._closed:
            return
        self._closed = True
        await self._stack.aclose()
        if self.host_tab is not None and self._lost is None:
            await self._host.close_tab(self.host_tab, timeout_s=timeout_s)

    async def _reopen(self) -> str:
        assert self._attachment is not None
        main = self._attachment.state.main
        url = main.url if main else ""
        await self._stack.aclose()
        self._stack = AsyncExitStack()
        attachment = await self.open()
        if url and not url.startswith("about:blank"):
            await go(attachment, url, "load", timeout_s=_REOPEN_TIMEOUT_S)
            return f"{self._tab_id} had been closed after idling and was opened again at {url}; earlier refs are dead"
        return f"{self._tab_id} had been closed after idling and was opened again; earlier refs are dead"

    async def _find(self, nonce: str, deadline: Deadline) -> Target:
        while True:
            sock = await self._device.open_stream(self._devtools_service(), timeout_s=deadline.remaining_s)
            targets = await list_targets(sock, timeout_s=deadline.remaining_s)
            for target in targets:
                if target.url == f"about:blank#{nonce}":
                    return target
            if deadline.remaining_s <= _LIST_PAUSE_S:
                raise DeadlineExceeded(
                    "finding the new tab", deadline.timeout_s, f"{len(targets)} other targets in the devtools list"
                )
            await asyncio.sleep(_LIST_PAUSE_S)

    def _devtools_service(self) -> str:
        # The pid comes from the host app itself: other apps' sockets are never probed, a frozen one blocks adbd.
        return f"localabstract:webview_devtools_remote_{self._host.hello.pid}"

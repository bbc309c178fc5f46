"""A tab: a WebView in the host app, driven over a CDP connection of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress

from bridge.cdp import CdpConnection
from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, DeviceError, NavigationFailed, TabLost, TransportError
from bridge.page.capture.full_page import Strategy
from bridge.page.files.host_services import HostServices
from bridge.page.files.safe_folder import SafeFolder
from bridge.page.input.side_effects import SideEffects
from bridge.page.logs.session_logs import SessionLogs
from bridge.page.navigation.navigate import go
from bridge.page.popups import PopupQueue
from bridge.page.recovery.hang_recovery import HangHistory, is_responsive, recover, with_recovery
from bridge.page.recovery.liveness import heard_recently
from bridge.page.target.attachment import Attachment
from bridge.session.attachment_slot import AttachmentSlot, OnAttach
from bridge.session.host.host_services import HostTabServices
from bridge.session.host.hosted_webview import HostedWebView
from bridge.session.tab_host import TabHost
from bridge.session.tab_state import HAS_WEBVIEW, TabLife, TabState

OPEN_TIMEOUT_S = 20.0
_REOPEN_TIMEOUT_S = 30.0
_REATTACH_S = 5.0
_DISCARD_S = 5.0
# After a page closed its window, replies to the action that did it may still arrive.
_LAST_REPLIES_S = 2.0
# The host app's event and the end of the CDP connection arrive over two connections; the event says why.
_EVENT_WAIT_S = 0.2


class SessionTab:
    """One tab of a session, `t1`, `t2`, …; the `TabHandle` of its page. Its states are those of `tab_state`.

    Attributes:
        opener_id: The tab whose page opened this one as a popup.
        profile: The WebView profile whose cookies and storage it uses; None is the default one.
        side_effects: Popups, downloads and pickers, reported with the next result.
    """

    def __init__(self, tab_id: str, host: TabHost, *, profile: str | None = None) -> None:
        self.profile = profile
        self.opener_id: str | None = None
        self.side_effects = SideEffects(opens_apps=False)
        self._tab_id = tab_id
        self._host = host
        self._life = TabLife()
        self._slot = AttachmentSlot(tab_id, host.logs, host.on_attach)
        self._webview = HostedWebView(tab_id, host, profile)
        self._hangs = HangHistory()
        # Captures and logs run beside operations: several callers may find the tab lost at once.
        self._restore_lock = asyncio.Lock()
        self._loss_reported = asyncio.Event()

    @property
    def tab_id(self) -> str:
        return self._tab_id

    @property
    def logs(self) -> SessionLogs:
        return self._host.logs

    @property
    def uploads(self) -> SafeFolder:
        return self._host.uploads

    @property
    def downloads(self) -> SafeFolder:
        return self._host.downloads

    @property
    def full_page_strategy(self) -> Strategy | None:
        capabilities = self._host.capabilities
        return capabilities.full_page if capabilities else None

    @property
    def host_services(self) -> HostServices | None:
        return HostTabServices(self._host.host_client, self.host_tab) if self.host_tab is not None else None

    def popups(self) -> AbstractContextManager[PopupQueue]:
        return self._host.popups_of(self._tab_id)

    @property
    def base_url(self) -> str:
        return self._host.base_url

    @property
    def is_closed(self) -> bool:
        return not self._host.is_open(self._tab_id)

    async def close_page(self) -> None:
        await self._host.close_by_id(self._tab_id)

    async def check_url(self, url: str) -> str:
        return await self._host.check_url(url)

    def explain(self, error: NavigationFailed) -> BridgeError:
        return self._host.explain(error)

    def watch_received(self) -> Callable[[], int]:
        return self._host.watch_received()

    def on_attach(self, prepare: OnAttach) -> None:
        self._slot.on_attach.append(prepare)

    def connect(self, timeout_s: float) -> AbstractAsyncContextManager[CdpConnection]:
        """A second connection to the tab, beside the attachment's."""
        return self._webview.connection(Deadline.after(timeout_s))

    async def attachment(self, deadline: Deadline, *, revisit: bool = True) -> tuple[Attachment, tuple[str, ...]]:
        """The live attachment, with notices of what had to be restored first.

        A tab that idled, or whose renderer hang recovery killed, is reopened; any other lost tab only in a session that
        reconnects by itself. Without `revisit` a reopened tab stays blank, for a caller that navigates elsewhere; no
        other caller gets a blank tab.

        Args:
            deadline: The operation's; restarted if the device or the host app had to be restored first.

        Raises:
            TabLost: The tab is closed or lost, or its page could not be reopened.
            DeadlineExceeded: The time was up.
            DeviceLost, HostLost: The device or the host app is gone.
        """
        self._require_open()
        if not revisit:
            self._life.forget_page()
        notices = await self._connect_host(deadline)
        self._host.keep_alive()
        if not await self._rejoin_if_disconnected(deadline):
            notices += await self._connect_host(deadline)
        if self._life.is_gone:
            notices += await self._restore_once(revisit, deadline.at_most(_REOPEN_TIMEOUT_S))
        self._require_open()
        if self._slot.present is None:
            raise TabLost(f"{self._tab_id} was never opened")
        if not deadline.passed:  # else the operation itself reports that its time is up, and why
            self._life.require_page(self._tab_id)
        return self._slot.present, notices

    async def _connect_host(self, deadline: Deadline) -> tuple[str, ...]:
        notices = await self._host.ensure_connected()
        if notices:
            deadline.restart()
        return notices

    def _require_open(self) -> None:
        if self._life.is_closed:
            raise self.closed_error() if self.closed_by_page else TabLost(f"{self._tab_id} has been closed")

    async def _rejoin_if_disconnected(self, deadline: Deadline) -> bool:
        """Attach again if only the connection has ended. False if that was the first sign of a loss to be restored."""
        async with self._restore_lock:
            self._life.require_page(self._tab_id)
            present = self._slot.present
            if self._life.is_gone or self.closed_by_page or present is None or not present.connection.closed.is_set():
                return True
            try:
                await self.reattach(timeout_s=deadline.at_most(_REATTACH_S).remaining_s)
                return True
            except (DeviceError, TransportError) as error:
                failure = error
        if not self._host.restores_tabs or await self.diagnose(failure) is failure:
            raise failure
        return False

    async def _restore_once(self, revisit: bool, deadline: Deadline) -> tuple[str, ...]:
        """Reopen the tab, unless another caller has just done so; the notice of it."""
        async with self._restore_lock:
            self._life.require_page(self._tab_id)
            if not self._life.is_gone:
                return ()
            if not self._life.reopens_itself and not self._host.restores_tabs:
                raise TabLost(
                    f"{self._tab_id} is gone: {self._life.reason}",
                    hint="Open a new tab, or restore it with session.reconnect().",
                )
            return (await self._restore(revisit, deadline),)

    async def diagnose(self, error: BridgeError) -> BridgeError:
        """The cause of an operation's error; a page that hangs is recovered (bridge/page/recovery)."""
        attachment = self._slot.present
        if self._life.is_closed:
            return self.closed_error() if self.closed_by_page else error
        if attachment is None or (self._life.page_lost and isinstance(error, TabLost)):
            return error
        connection, host = attachment.connection, self._host.host_client
        is_heard = heard_recently(error, lambda: connection.heard_at, lambda: host.heard_at)
        if isinstance(error, DeadlineExceeded):
            return await self._diagnose_timeout(error, attachment, is_heard)
        await self._wait_for_loss_report()
        if self.closed_by_page:
            return self.closed_error()
        if (lost := await self._host.diagnose(is_heard)) is not None:
            return lost
        if self._life.is_gone and isinstance(error, TransportError | NavigationFailed):
            return TabLost(
                f"{self._tab_id} is gone: {self._life.reason}", hint="Open a new tab, or session.reconnect()."
            )
        return error

    async def _diagnose_timeout(
        self, error: DeadlineExceeded, attachment: Attachment, is_heard: Callable[[], bool]
    ) -> BridgeError:
        """The page was slow, or something below it is lost, or it hangs."""
        slack_s = self._webview.slack_s
        if not attachment.connection.closed.is_set() and await is_responsive(attachment, slack_s=slack_s):
            return error
        if (lost := await self._host.diagnose(is_heard)) is not None:
            return lost
        outcome = await recover(attachment, self, self._hangs, slack_s=slack_s)
        if outcome.page_is_gone:
            self._life.lose_page(f"{self.url} hung again after its script was terminated, and its renderer was killed")
        return with_recovery(error, outcome)

    async def _wait_for_loss_report(self) -> None:
        if self._life.is_gone:
            return
        self._loss_reported.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(_EVENT_WAIT_S):
                await self._loss_reported.wait()

    async def reattach(self, *, timeout_s: float) -> Attachment:
        """Replace the attachment by one over a new connection to the same document; refs stay valid.

        Raises:
            TransportError, DeadlineExceeded: The target is gone, or does not answer.
        """
        deadline = Deadline.after(timeout_s)
        return await self._slot.make(self._webview.connection(deadline), deadline)

    async def kill_renderer(self, *, timeout_s: float) -> bool:
        """Crash the renderer; the next operation reopens the tab, in every session."""
        if not await self._webview.crash(timeout_s=timeout_s) and not self._life.is_gone:
            return False
        self.killed_by_recovery()
        return True

    @property
    def url(self) -> str:
        """The last known address."""
        main = self._slot.present.state.main if self._slot.present else None
        return main.url if main else ""

    @property
    def target_id(self) -> str:
        return self._webview.target_id

    @property
    def host_tab(self) -> str | None:
        """The host app's name for its WebView; None if there is none."""
        return self._webview.host_tab

    @host_tab.setter
    def host_tab(self, host_tab: str) -> None:
        self._webview.host_tab = host_tab

    @property
    def present(self) -> Attachment | None:
        """The last attachment, whatever its condition; nothing is restored."""
        return self._slot.present

    @property
    def is_lost(self) -> bool:
        return self._life.is_gone

    @property
    def closed_by_page(self) -> bool:
        return self._life.state is TabState.CLOSED_BY_PAGE

    def closed_error(self) -> TabLost:
        """The error of an operation on a tab whose page has closed its window."""
        return TabLost(
            f"{self._tab_id} is gone: its page closed its own window",
            hint="Continue in another tab (session.pages), such as the one that opened it.",
            closed_by_page=True,
        )

    async def open(self, *, timeout_s: float = OPEN_TIMEOUT_S) -> Attachment:
        """Have the host app make a WebView, and attach to it. Raises as `HostedWebView.open`."""
        attachment = await self._webview.open(
            self._slot, Deadline.after(timeout_s), is_after_kill=self._life.state is TabState.KILLED
        )
        self._life.opened()
        return attachment

    async def adopt(self, target_id: str, *, timeout_s: float) -> Attachment:
        """Attach to a WebView that a page has opened; from then on the tab is like any other."""
        self._webview.target_id = target_id
        attachment = await self.reattach(timeout_s=timeout_s)
        if not self._life.is_gone:
            self._life.opened()
        return attachment

    async def rejoin(self, *, timeout_s: float) -> str:
        """Attach again after a reconnect to a host app that kept the tab; the notice of it."""
        await self.reattach(timeout_s=timeout_s)
        self._life.opened()
        return f"{self._tab_id} was still open, at {self.url}"

    async def restore(self, *, timeout_s: float) -> str:
        """Reopen the tab at its address; the notice of it."""
        deadline = Deadline.after(timeout_s)
        async with deadline.bound(f"restoring {self._tab_id}"), self._restore_lock:
            if not self._life.is_gone:
                return f"{self._tab_id} was already reopened"
            return await self._restore(True, deadline)

    async def _restore(self, revisit: bool, deadline: Deadline) -> str:
        url, life = self.url, self._life
        notice = f"{self._tab_id} had been {life.description} and was opened again"
        await self._slot.detach()
        if life.state is TabState.KILLED:
            await self._webview.discard(timeout_s=min(_DISCARD_S, deadline.remaining_s))
        attachment = await self.open(timeout_s=deadline.remaining_s)
        if life.page_lost:  # it would hang a third time, and every operation after it
            notice += f" without its page: {life.page_lost}"
        elif revisit and url and not url.startswith("about:blank"):
            life.lose_page(f"{url} was not opened again")
            await self._host.check_url(url)
            state, navigations = attachment.state, attachment.state.navigations
            try:
                await go(attachment, url, "load", deadline)
                life.forget_page()
                notice += f" at {url}"
            except (DeadlineExceeded, NavigationFailed) as error:
                notice += f", but {error.message.removesuffix('.')}"
                is_late = isinstance(error, DeadlineExceeded)
                life.lose_page(notice, has_loaded=(lambda: state.navigations > navigations) if is_late else None)
        notice += "; earlier refs are stale"
        self._host.notice(notice)
        return notice

    def lose(self, reason: str) -> None:
        """Take the report that the tab's WebView is gone."""
        self._life.lose(reason)
        self._end_waits(TabLost(f"{self._tab_id} is gone: {reason}"))

    def killed_by_recovery(self) -> None:
        """Hang recovery killed the tab's renderer, for this tab's sake or for another's."""
        self._life.move(TabState.KILLED, "killed by hang recovery")
        self._end_waits(TabLost(f"{self._tab_id} is gone: its renderer was killed by hang recovery"))

    def close_by_page(self) -> None:
        """Take the report that the page has closed its window."""
        self._life.move(TabState.CLOSED_BY_PAGE)
        self.side_effects.closed_window(self._tab_id)
        self._end_waits(self.closed_error())

    def _end_waits(self, error: TabLost) -> None:
        self._loss_reported.set()
        if self._slot.present is not None:
            self._slot.present.condition.end(error)

    async def detach_closed(self) -> None:
        """After `close_by_page`: detach once the last replies of the page have arrived."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_REPLIES_S):
                if self._slot.present is not None:
                    await self._slot.present.connection.closed.wait()
        await self._slot.close()

    def begin_closing(self) -> None:
        """Refuse operations from now on; `close` follows."""
        self._life.move(TabState.CLOSING)

    async def close(self, *, timeout_s: float = 5.0) -> None:
        """Detach and have the host app destroy the WebView; safe to repeat."""
        before = self._life.close()
        host = self._host.host_client
        if before is None:
            return
        if self.host_tab is None or host.closed.is_set():
            await self._slot.close()
        elif before in HAS_WEBVIEW:
            # Neither waits for the other: half of the time on a slow link.
            _, closed = await asyncio.gather(
                self._slot.close(), host.close_tab(self.host_tab, timeout_s=timeout_s), return_exceptions=True
            )
            if closed is not None:
                raise closed
        else:
            await self._slot.close()
            if before is TabState.KILLED:
                await self._webview.discard(timeout_s=timeout_s)

"""A tab: a WebView in the host app, driven over one CDP connection of its own, lost and restored."""

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
from bridge.page.recovery import hang_recovery
from bridge.page.target.attachment import Attachment
from bridge.page.turn import Budget
from bridge.session.attachment_slot import AttachmentSlot, OnAttach
from bridge.session.host.host_services import HostTabServices
from bridge.session.host.hosted_webview import HostedWebView
from bridge.session.host.liveness import signs_of_life
from bridge.session.missing_page import MissingPage
from bridge.session.stuck_documents import StuckDocuments
from bridge.session.tab_host import Home

OPEN_TIMEOUT_S = 20.0
_REOPEN_TIMEOUT_S = 30.0
_REATTACH_S = 5.0
_DISCARD_S = 5.0
# How long after a page has closed its window the replies to what did that may still come.
_LAST_WORDS_S = 2.0
# The host app's event and the end of the CDP connection come by two ways; the event knows more.
_EVENT_WAIT_S = 0.2
# Above it a link is slow, and what it asks of the page gets four round trips more time.
_QUICK_LINK_S = 0.05

_IDLE = "idle"
_FREED = "freed"
_CLOSED_BY_PAGE = "closed by its page"


class SessionTab:
    """One tab of a session, `t1`, `t2`, …; implements what a page needs of it."""

    def __init__(self, tab_id: str, home: Home, *, profile: str | None = None) -> None:
        self._tab_id = tab_id
        self.profile = profile
        self._home = home
        self._held = AttachmentSlot(tab_id, home.logs, home.on_attach)
        self._webview = HostedWebView(tab_id, home, profile)
        self._changed = asyncio.Event()
        self._lost: str | None = None
        self._closed = False
        self._is_leaving = False
        # Operations that take no turn may find it lost at the same time.
        self._mending = asyncio.Lock()
        self._missing = MissingPage()
        self._stuck = StuckDocuments()
        self.side_effects = SideEffects(opens_apps=False)
        self.opener_id: str | None = None

    @property
    def tab_id(self) -> str:
        return self._tab_id

    @property
    def url(self) -> str:
        """Where it was last known to be."""
        main = self._held.present.state.main if self._held.present else None
        return main.url if main else ""

    @property
    def target_id(self) -> str:
        return self._webview.target_id

    @property
    def host_tab(self) -> str | None:
        """The host app's name for its WebView; None while there is none."""
        return self._webview.host_tab

    @host_tab.setter
    def host_tab(self, host_tab: str) -> None:
        self._webview.host_tab = host_tab

    def popups(self) -> AbstractContextManager[PopupQueue]:
        return self._home.popups_of(self._tab_id)

    @property
    def logs(self) -> SessionLogs:
        return self._home.logs

    @property
    def uploads(self) -> SafeFolder:
        return self._home.uploads

    @property
    def downloads(self) -> SafeFolder:
        return self._home.downloads

    @property
    def full_page_strategy(self) -> Strategy | None:
        found = self._home.capabilities
        return found.full_page if found else None

    @property
    def host_services(self) -> HostServices | None:
        return HostTabServices(self._home.host_client, self.host_tab) if self.host_tab is not None else None

    @property
    def present(self) -> Attachment | None:
        """The attachment as it is, in whatever state; nothing is restored."""
        return self._held.present

    @property
    def is_lost(self) -> bool:
        return self._lost is not None

    @property
    def closed_by_page(self) -> bool:
        """Its page has closed the window: nothing brings it back."""
        return self.side_effects.is_closed

    async def check_url(self, url: str) -> str:
        return await self._home.check_url(url)

    def watch_received(self) -> Callable[[], int]:
        return self._home.watch_received()

    def explain(self, error: NavigationFailed) -> BridgeError:
        return self._home.explain(error)

    def on_attach(self, prepare: OnAttach) -> None:
        self._held.on_attach.append(prepare)

    async def attachment(
        self, *, revisit: bool = True, budget: Budget | None = None
    ) -> tuple[Attachment, tuple[str, ...]]:
        """The living attachment. A tab that idled away or was freed by killing its renderer is opened again, and that
        is said; so is one that was lost otherwise where the session restores tabs. Without `revisit` a tab that is
        opened again stays blank, for whoever is going elsewhere anyway; nobody else is given a blank one.

        Args:
            budget: Gives what opening it again may take at most.

        Raises:
            TabLost: Closed, or its renderer died; or its page could not be opened again in it.
            DeadlineExceeded: It could not be opened again in that time, or not be reached.
            DeviceLost, HostLost: What it stood on is gone.
        """
        if self.closed_by_page:
            raise self.closed_error()
        if self._closed or self._is_leaving:
            raise TabLost(f"{self._tab_id} has been closed")
        if not revisit:
            self._missing.forget()
        notices = await self._home.ensure_connected()
        timeout_s = budget(bool(notices)) if budget is not None else None
        self._home.keep_alive()
        if not await self._is_joined(timeout_s):
            notices += await self._home.ensure_connected()
            timeout_s = budget(bool(notices)) if budget is not None else None
        if self._lost is not None:
            notices += await self._restored(revisit, Deadline.after(_at_most(_REOPEN_TIMEOUT_S, timeout_s)))
        if self._held.present is None:
            raise TabLost(f"{self._tab_id} was never opened")
        if budget is None or budget(False) != 0:  # else whoever asks says that its time is over, and with what
            self._require_page()
        return self._held.present, notices

    async def _is_joined(self, timeout_s: float | None) -> bool:
        """Attach again where only the connection has ended. False where that was the first news of a loss, of whatever
        the tab stands on, which the session restores."""
        async with self._mending:
            self._require_page()
            present = self._held.present
            if self._lost is not None or present is None or not present.connection.closed.is_set():
                return True
            try:
                await self.reattach(timeout_s=_at_most(_REATTACH_S, timeout_s))
                return True
            except (DeviceError, TransportError) as error:
                failure = error
        if not self._home.restores_tabs or await self.diagnose(failure) is failure:
            raise failure
        return False

    async def _restored(self, revisit: bool, deadline: Deadline) -> tuple[str, ...]:
        """Restore it, where nobody has done so meanwhile; what was done."""
        async with self._mending:
            if self.closed_by_page:
                raise self.closed_error()
            self._require_page()
            if self._lost is None:
                return ()
            if self._lost not in (_IDLE, _FREED) and not self._home.restores_tabs:
                raise TabLost(
                    f"{self._tab_id} is gone: {self._lost}",
                    hint="Open a new tab, or restore it with session.reconnect().",
                )
            return (await self._restore(revisit, deadline),)

    def _require_page(self) -> None:
        self._missing.require(self._tab_id, was_killed=self._lost == _FREED)

    def closed_error(self) -> TabLost:
        """For whoever uses it although its page has closed the window."""
        return TabLost(
            f"{self._tab_id} is gone: its page closed its own window",
            hint="Go on in another tab (session.pages), such as the one that opened it; this one does not come back.",
            closed_by_page=True,
        )

    async def open(self, *, timeout_s: float = OPEN_TIMEOUT_S) -> Attachment:
        """Have the host app make a WebView, and attach to it. Raises as `HostedWebView.open`."""
        attachment = await self._webview.open(self._held, Deadline.after(timeout_s), is_after_kill=self._lost == _FREED)
        self._lost = None
        return attachment

    async def adopt(self, target_id: str, *, timeout_s: float) -> Attachment:
        """Attach to a WebView that a page has opened; it becomes lost, restored and closed as any other."""
        self._webview.target_id = target_id
        return await self.reattach(timeout_s=timeout_s)

    async def restore(self, *, timeout_s: float) -> str:
        """Open it again at its address; what was done, in a sentence."""
        deadline = Deadline.after(timeout_s)
        async with deadline.bound(f"restoring {self._tab_id}"), self._mending:
            if self._lost is None:
                return f"{self._tab_id} had been opened again"
            return await self._restore(True, deadline)

    async def _restore(self, revisit: bool, deadline: Deadline) -> str:
        url, why = self.url, self._lost or "lost"
        await self._held.let_go()
        if why == _FREED:
            await self._webview.discard(timeout_s=min(_DISCARD_S, deadline.remaining_s))
        attachment = await self.open(timeout_s=deadline.remaining_s)
        why = {_IDLE: "closed after idling", _FREED: "closed because its page did not answer"}.get(why, f"lost ({why})")
        said = f"{self._tab_id} had been {why} and was opened again"
        if self._missing.why:
            # It would hang a third time, and every operation after it.
            said += f" without its page: {self._missing.why}"
        elif revisit and url and not url.startswith("about:blank"):
            self._missing.say(f"{url} was not opened again")
            await self._home.check_url(url)
            state, shown = attachment.state, attachment.state.navigations
            try:
                await go(attachment, url, "load", deadline)
                self._missing.forget()
                said += f" at {url}"
            except (DeadlineExceeded, NavigationFailed) as error:
                said += f", but {error.message.removesuffix('.')}"
                is_late = isinstance(error, DeadlineExceeded)
                self._missing.say(said, has_come=(lambda: state.navigations > shown) if is_late else None)
        said += "; earlier refs are dead"
        self._home.notice(said)
        return said

    def lose(self, reason: str) -> None:
        """This tab is no more; what the ladder did to it is not overwritten by the news of it."""
        if self._lost != _FREED:
            self._lost = reason
        self._changed.set()
        if self._held.present is not None:
            self._held.present.watch.end(TabLost(f"{self._tab_id} is gone: {reason}"))

    def lose_to_page(self) -> None:
        """Its page has closed the window: it is not opened again, whatever the session does with lost tabs."""
        self._lost = _CLOSED_BY_PAGE
        self.side_effects.closed_window(self._tab_id)
        self._changed.set()
        if self._held.present is not None:
            self._held.present.watch.end(self.closed_error())

    async def bury(self) -> None:
        """After `lose_to_page`: detach, when what the page said last has been heard."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_S):
                if self._held.present is not None:
                    await self._held.present.connection.closed.wait()
        await self.close()

    def lose_to_ladder(self) -> None:
        """Its renderer was killed by us: it will be opened again whatever the session does with lost tabs."""
        if self._lost != _IDLE:
            self._lost = None
            self.lose(_FREED)

    def leave(self) -> None:
        """No operation is taken any more; what is left to do is `close`."""
        self._is_leaving = True

    async def close(self, *, timeout_s: float = 5.0) -> None:
        """Detach and have the host app destroy the WebView; safe to repeat."""
        if self._closed:
            return
        self._closed = True
        host = self._home.host_client
        if self.host_tab is None or host.closed.is_set():
            await self._held.close()
        elif self._lost is None:
            # Neither waits for the other; over a slow link that is half of the time.
            _, closed = await asyncio.gather(
                self._held.close(), host.close_tab(self.host_tab, timeout_s=timeout_s), return_exceptions=True
            )
            if closed is not None:
                raise closed
        else:
            await self._held.close()
            if self._lost == _FREED:
                await self._webview.discard(timeout_s=timeout_s)

    async def reattach(self, *, timeout_s: float) -> Attachment:
        """A fresh connection to the document that is there; refs stay good. The old one is given up when it is made.

        Raises:
            TransportError, DeadlineExceeded: There is no such target any more, or it does not answer.
        """
        deadline = Deadline.after(timeout_s)
        return await self._held.make(self._webview.connection(deadline), deadline)

    async def rejoin(self, *, timeout_s: float) -> str:
        """The host process and its tab outlived the connection: attach again to the document; what was done."""
        await self.reattach(timeout_s=timeout_s)
        self._lost = None
        return f"{self._tab_id} was still there, at {self.url}"

    async def kill_renderer(self, *, timeout_s: float) -> bool:
        if not await self._webview.crash(timeout_s=timeout_s) and self._lost is None:
            return False
        self.lose_to_ladder()
        return True

    async def diagnose(self, error: BridgeError) -> BridgeError:
        """Free a page that hangs; else say what is gone below it."""
        attachment = self._held.present
        if self.closed_by_page:
            return self.closed_error()
        if self._closed or attachment is None or (self._missing.why and isinstance(error, TabLost)):
            return error
        is_heard = signs_of_life(error, attachment.connection, self._home.host_client)
        if isinstance(error, DeadlineExceeded):
            slack_s = 4 * self._webview.link_s if self._webview.link_s > _QUICK_LINK_S else 0.0
            if not attachment.connection.closed.is_set() and await hang_recovery.is_responsive(
                attachment, slack_s=slack_s
            ):
                return error
            if (lost := await self._home.diagnose(is_heard)) is not None:
                return lost
            document = attachment.state.main.loader_id if attachment.state.main else ""
            again, may_be_busy = self._stuck.was_freed(document), self._stuck.may_be_busy(document)
            step = await hang_recovery.recover(attachment, self, again=again, may_be_busy=may_be_busy, slack_s=slack_s)
            self._stuck.take(document, step)
            is_gone = again and step == "kill_renderer"
            if is_gone:
                self._missing.say(
                    f"{self.url} hung again after its script had been ended, and its renderer was ended too"
                )
            return hang_recovery.with_recovery(error, step, is_gone=is_gone)
        if self._lost is None:
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(_EVENT_WAIT_S):
                    await self._changed.wait()
        if self._lost == _CLOSED_BY_PAGE:
            return self.closed_error()
        if (lost := await self._home.diagnose(is_heard)) is not None:
            return lost
        if self._lost is not None and isinstance(error, TransportError | NavigationFailed):
            return TabLost(f"{self._tab_id} is gone: {self._lost}", hint="Open a new tab, or session.reconnect().")
        return error

    def connect(self, timeout_s: float) -> AbstractAsyncContextManager[CdpConnection]:
        """One more connection to the tab, beside the attachment's."""
        return self._webview.connection(Deadline.after(timeout_s))


def _at_most(own_s: float, timeout_s: float | None) -> float:
    return own_s if timeout_s is None else min(own_s, timeout_s)

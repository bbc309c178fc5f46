"""A tab: a WebView in the host app, found by its nonce, driven over one CDP connection of its own."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, suppress

from bridge.cdp import CdpConnection, open_cdp
from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, DeadlineExceeded, HostFailed, NavigationFailed, TabLost, TransportError
from bridge.page import ladder
from bridge.page.asides import Asides
from bridge.page.attachment import Attachment
from bridge.page.confinement import Confined
from bridge.page.full_page import Strategy
from bridge.page.host_services import HostServices
from bridge.page.journal import Journal
from bridge.page.navigation import go
from bridge.page.popups import OpenedPages
from bridge.page.turn import Budget
from bridge.session.devtools import find_new_tab, host_service
from bridge.session.held_attachment import HeldAttachment, OnAttach
from bridge.session.home import Home
from bridge.session.host_services import HostTabServices
from bridge.session.losses import Losses, losses_of
from bridge.session.signs_of_life import signs_of_life

logger = logging.getLogger(__name__)

OPEN_TIMEOUT_S = 20.0
_REOPEN_TIMEOUT_S = 30.0
_REATTACH_S = 5.0
_DISCARD_S = 5.0
# What a tab takes that is opened in a renderer which answers.
_ANSWERS_S = 4.0
_BLOW_S = 1.0
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
        self._held = HeldAttachment(tab_id, home.journal, home.on_attach)
        self._target_id = ""
        self._changed = asyncio.Event()
        self._lost: str | None = None
        self._closed = False
        self._is_leaving = False
        # Operations that take no turn may find it lost at the same time.
        self._mending = asyncio.Lock()
        # The document whose script the ladder has terminated.
        self._freed_document = ""
        # Why its page is not in it any more although it is open, or can be: only a goto goes on from there.
        self._without_page = ""
        # Whether it is there after all, where it had not loaded to its end in time.
        self._is_late: Callable[[], bool] | None = None
        # The document that is busy without a script, and since when it is known to be.
        self._busy_document, self._busy_since_s = "", 0.0
        self._link_s = 0.0
        self.asides = Asides(opens_apps=False)
        self.host_tab: str | None = None
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
        return self._target_id

    def popups(self) -> AbstractContextManager[OpenedPages]:
        return self._home.popups_of(self._tab_id)

    @property
    def journal(self) -> Journal:
        return self._home.journal

    @property
    def uploads(self) -> Confined:
        return self._home.uploads

    @property
    def downloads(self) -> Confined:
        return self._home.downloads

    @property
    def full_page(self) -> Strategy | None:
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
        return self.asides.is_closed

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
            self._without_page, self._is_late = "", None
        notices = await self._home.ensure_connected()
        timeout_s = budget(bool(notices)) if budget is not None else None
        self._home.keep_alive()
        async with self._mending:
            self._require_page()
            if self._lost is not None:
                if self._lost not in (_IDLE, _FREED) and not self._home.restores_tabs:
                    raise TabLost(
                        f"{self._tab_id} is gone: {self._lost}",
                        hint="Open a new tab, or restore it with session.reconnect().",
                    )
                notices += (await self._restore(revisit, Deadline.after(_at_most(_REOPEN_TIMEOUT_S, timeout_s))),)
            elif self._held.present is not None and self._held.present.connection.closed.is_set():
                await self.reattach(timeout_s=_at_most(_REATTACH_S, timeout_s))
        if self._held.present is None:
            raise TabLost(f"{self._tab_id} was never opened")
        if budget is None or budget(False) != 0:  # else whoever asks says that its time is over, and with what
            self._require_page()
        return self._held.present, notices

    def _require_page(self) -> None:
        """A blank tab is not the page that was asked for: nobody reads it, or acts on it, as if it were."""
        if self._is_late is not None and self._is_late():
            self._without_page, self._is_late = "", None
        if self._without_page:
            raise TabLost(
                f"the page of {self._tab_id} is gone: {self._without_page}",
                hint="Use goto: it opens an address in the same tab. Until then the tab has no page.",
                recovery="kill_renderer" if self._lost == _FREED else "opened_blank",
            )

    def closed_error(self) -> TabLost:
        """For whoever uses it although its page has closed the window."""
        return TabLost(
            f"{self._tab_id} is gone: its page closed its own window",
            hint="Go on in another tab (session.pages), such as the one that opened it; this one does not come back.",
            closed_by_page=True,
        )

    async def open(self, *, timeout_s: float = OPEN_TIMEOUT_S) -> Attachment:
        """Have the host app make a WebView, find it in the devtools list, and attach to it.

        Raises:
            TabLost: It was lost meanwhile, such as with a renderer that it shares.
            HostFailed, TransportError: The same, as whoever was asked last saw it.
            DeadlineExceeded
        """
        deadline = Deadline.after(timeout_s)
        with losses_of(self._home.host_client) as losses:
            return await self._open(losses, deadline)

    async def _open(self, losses: Losses, deadline: Deadline) -> Attachment:
        view, host = self._home.view, self._home.host_client
        made = await host.open_tab(
            width_px=view.width_px,
            height_px=view.height_px,
            density_dpi=view.density_dpi,
            profile=self.profile,
            timeout_s=deadline.remaining_s,
        )
        self.host_tab = made.tab
        try:
            attachment = await losses.unless_lost(made.tab, self._find(made.nonce, deadline), deadline)
        except BaseException as error:
            if self._lost == _FREED and isinstance(error, DeadlineExceeded):
                # The blow does not reach a renderer that is to show a new document (ladder.climb_out), and it lives on
                # where other WebViews are in it, this one too; by this one's page the blow comes home.
                await self.kill_renderer(timeout_s=_BLOW_S)
            self.host_tab = None
            what = f"closing the WebView that was to be {self._tab_id}"
            await finish(self._discard(made.tab, _DISCARD_S), at_most_s=_DISCARD_S, what=what)
            raise
        self._lost = None
        return attachment

    async def _find(self, nonce: str, deadline: Deadline) -> Attachment:
        self._target_id = await find_new_tab(self._home.device, self._service(), nonce, deadline)
        return await self._held.make(self._connection(deadline), deadline)

    async def _open_after_kill(self, deadline: Deadline) -> Attachment:
        """Again where the renderer had not died yet, or took the new tab along, with more patience each time."""
        answers_s = _ANSWERS_S
        while answers_s < deadline.remaining_s:
            try:
                return await self.open(timeout_s=answers_s)
            except (DeadlineExceeded, HostFailed, TabLost, TransportError) as error:
                logger.debug("%s: %s", self._tab_id, error)
            answers_s *= 2
        return await self.open(timeout_s=deadline.remaining_s)

    async def adopt(self, target_id: str, *, timeout_s: float) -> Attachment:
        """Attach to a WebView that a page has opened; it becomes lost, restored and closed as any other."""
        self._target_id = target_id
        deadline = Deadline.after(timeout_s)
        return await self._held.make(self._connection(deadline), deadline)

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
        if self.host_tab is not None and why == _FREED:
            await self._discard(self.host_tab, min(_DISCARD_S, deadline.remaining_s))
        attachment = await (
            self._open_after_kill(deadline) if why == _FREED else self.open(timeout_s=deadline.remaining_s)
        )
        why = {_IDLE: "closed after idling", _FREED: "closed because its page did not answer"}.get(why, f"lost ({why})")
        said = f"{self._tab_id} had been {why} and was opened again"
        if self._without_page:
            # It would hang a third time, and every operation after it.
            said += f" without its page: {self._without_page}"
        elif revisit and url and not url.startswith("about:blank"):
            self._without_page, self._is_late = f"{url} was not opened again", None
            await self._home.check_url(url)
            state, shown = attachment.state, attachment.state.navigations
            try:
                await go(attachment, url, "load", deadline)
                self._without_page = ""
                said += f" at {url}"
            except (DeadlineExceeded, NavigationFailed) as error:
                said += f", but {error.message.removesuffix('.')}"
                self._without_page = said
                if isinstance(error, DeadlineExceeded):
                    self._is_late = lambda: state.navigations > shown
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
        self.asides.closed_window(self._tab_id)
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
                await self._discard(self.host_tab, timeout_s)

    async def reattach(self, *, timeout_s: float) -> Attachment:
        """A fresh connection to the document that is there; refs stay good. The old one is given up when it is made.

        Raises:
            TransportError, DeadlineExceeded: There is no such target any more, or it does not answer.
        """
        deadline = Deadline.after(timeout_s)
        return await self._held.make(self._connection(deadline), deadline)

    async def rejoin(self, *, timeout_s: float) -> str:
        """The host process and its tab outlived the connection: attach again to the document; what was done."""
        await self.reattach(timeout_s=timeout_s)
        self._lost = None
        return f"{self._tab_id} was still there, at {self.url}"

    async def kill_renderer(self, *, timeout_s: float) -> bool:
        deadline = Deadline.after(timeout_s)
        try:
            async with self._connection(deadline) as connection:
                # A renderer that dies writes its dump first, which takes longer than anybody should wait here.
                call = connection.send("Page.crash")
                with suppress(DeadlineExceeded):
                    await call.result(timeout_s=deadline.remaining_s)
        except BridgeError as error:
            logger.debug("%s: %s", self._tab_id, error)
            if self._lost is None and not isinstance(error, TransportError):
                return False
        self.lose_to_ladder()
        self._home.renderer_killed()
        return True

    def _may_be_busy(self, document: str) -> bool:
        if document != self._busy_document or not document:
            self._busy_document, self._busy_since_s = document, time.monotonic()
        return time.monotonic() - self._busy_since_s < ladder.BUSY_S

    async def look_into(self, error: BridgeError) -> BridgeError:
        """Free a page that hangs; else say what is gone below it."""
        attachment = self._held.present
        if self.closed_by_page:
            return self.closed_error()
        if self._closed or attachment is None or (self._without_page and isinstance(error, TabLost)):
            return error
        is_heard = signs_of_life(error, attachment.connection, self._home.host_client)
        if isinstance(error, DeadlineExceeded):
            slack_s = 4 * self._link_s if self._link_s > _QUICK_LINK_S else 0.0
            if not attachment.connection.closed.is_set() and await ladder.answers(attachment, slack_s=slack_s):
                return error
            if (lost := await self._home.diagnose(is_heard)) is not None:
                return lost
            document = attachment.state.main.loader_id if attachment.state.main else ""
            again = document != "" and document == self._freed_document
            may_be_busy = self._may_be_busy(document)
            step = await ladder.free(attachment, self, again=again, may_be_busy=may_be_busy, slack_s=slack_s)
            is_gone = again and step == "kill_renderer"
            if is_gone:
                self._without_page = f"{self.url} hung again after its script had been ended, and its renderer was"
                self._without_page += " ended too"
            self._freed_document = document if step in ("terminate_script", "left_flooded") else ""
            if step not in ("left_busy", "left_flooded"):
                self._busy_document = ""
            return ladder.told(error, step, is_gone=is_gone)
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
        return self._connection(Deadline.after(timeout_s))

    @asynccontextmanager
    async def _connection(self, deadline: Deadline) -> AsyncIterator[CdpConnection]:
        began = time.monotonic()
        sock = await self._home.device.open_stream(self._service(), timeout_s=deadline.remaining_s)
        self._link_s = time.monotonic() - began
        async with open_cdp(sock, f"/devtools/page/{self._target_id}", timeout_s=deadline.remaining_s) as connection:
            yield connection

    async def _discard(self, host_tab: str, timeout_s: float) -> None:
        try:
            await self._home.host_client.close_tab(host_tab, timeout_s=timeout_s)
        except BridgeError as error:  # it is gone with its renderer
            logger.debug("%s: %s", self._tab_id, error)

    def _service(self) -> str:
        return host_service(self._home.host_client.hello.pid)


def _at_most(own_s: float, timeout_s: float | None) -> float:
    return own_s if timeout_s is None else min(own_s, timeout_s)

"""A page of an app that is not ours, as a Page needs it: found again and launched again, never closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, Protocol

from bridge.cdp import CdpConnection, open_cdp
from bridge.deadline import Deadline
from bridge.errors import (
    BridgeError,
    DeadlineExceeded,
    NavigationFailed,
    TabLost,
    TransportError,
    Unsupported,
)
from bridge.page.capture.full_page import Strategy
from bridge.page.files.safe_folder import SafeFolder
from bridge.page.input.side_effects import SideEffects
from bridge.page.logs.session_logs import SessionLogs
from bridge.page.popups import PopupQueue
from bridge.page.recovery import hang_recovery
from bridge.page.target.attachment import Attachment
from bridge.page.turn import Budget
from bridge.policy.pinning import PinnedEgress
from bridge.session.attached.app import AppPage, PageSelector
from bridge.session.attached.devtools_sockets import CHROME_SOCKET
from bridge.session.attachment_slot import AttachmentSlot, OnAttach
from bridge.session.host.liveness import signs_of_life
from bridge.session.tab_host import AnyHome

_LOADED_S = 5.0
_REATTACH_S = 10.0
# content/browser/devtools/protocol/inspector_handler.cc, of a target that is gone and did not crash.
_WINDOW_CLOSED = "target_closed"


class Owner(AnyHome, Protocol):
    """What an attached tab needs of its session."""

    @property
    def egress(self) -> PinnedEgress: ...

    async def find(self, wanted: PageSelector, deadline: Deadline, *, relaunch: bool = False) -> AppPage: ...


class AttachedTab:
    """A page of the app; implements what a Page needs of it."""

    def __init__(self, tab_id: str, owner: Owner, wanted: PageSelector) -> None:
        self._tab_id = tab_id
        self._owner = owner
        self._wanted = wanted
        self._held = AttachmentSlot(tab_id, owner.logs, owner.on_attach)
        self.side_effects = SideEffects(opens_apps=True)
        self._held.on_attach.append(self._listen)
        self._found: AppPage | None = None
        self._closed = False
        # Operations that take no turn may find it lost at the same time.
        self._mending = asyncio.Lock()

    @property
    def tab_id(self) -> str:
        return self._tab_id

    @property
    def host_services(self) -> None:
        """The app is not ours: nothing can be staged in it, captured by it or asked of it."""

    @property
    def logs(self) -> SessionLogs:
        return self._owner.logs

    @property
    def full_page_strategy(self) -> Strategy | None:
        """Chrome draws beyond its view; of apps it is found out when needed. Each strategy's picture is verified."""
        return "cdp-beyond-viewport" if self._found and self._found.socket_name == CHROME_SOCKET else None

    @property
    def target_id(self) -> str:
        return self._found.target.target_id if self._found else ""

    async def check_url(self, url: str) -> str:
        return await self._owner.egress.check_url(url)

    @property
    def uploads(self) -> SafeFolder:
        return self._owner.uploads

    @property
    def downloads(self) -> SafeFolder:
        return self._owner.downloads

    def watch_received(self) -> Callable[[], int]:
        """The app connects by itself, and nobody counts."""
        return lambda: 0

    def popups(self) -> AbstractContextManager[PopupQueue]:
        raise Unsupported("windows that the app opens are the app's own; session.page() attaches to one that is there")

    @asynccontextmanager
    async def connect(self, timeout_s: float) -> AsyncIterator[CdpConnection]:
        """One more connection to the page, beside the attachment's."""
        found, deadline = self._found, Deadline.after(timeout_s)
        if found is None:
            raise TabLost(f"{self._tab_id} was never attached")
        service = f"localabstract:{found.socket_name}"
        sock = await self._owner.device.open_stream(service, timeout_s=deadline.remaining_s)
        path = f"/devtools/page/{found.target.target_id}"
        async with open_cdp(sock, path, timeout_s=deadline.remaining_s) as connection:
            yield connection

    def explain(self, error: NavigationFailed) -> BridgeError:
        return self._owner.explain(error)

    def on_attach(self, prepare: OnAttach) -> None:
        self._held.on_attach.append(prepare)

    async def attachment(
        self, *, revisit: bool = True, budget: Budget | None = None
    ) -> tuple[Attachment, tuple[str, ...]]:
        """The living attachment; where the app's process was started anew, that of the page that fits again.

        Raises:
            TabLost, DeadlineExceeded: There is no such page any more.
            DeviceLost: The device is gone.
        """
        if self._closed:
            raise TabLost(f"{self._tab_id} has been closed")
        async with self._mending:
            attachment, notices = await self._living()
        if notices and budget is not None:
            budget(True)
        return attachment, notices

    async def _living(self) -> tuple[Attachment, tuple[str, ...]]:
        if self._held.present is not None and not self._is_over(self._held.present):
            return self._held.present, ()
        if (lost := await self._owner.diagnose()) is not None:
            raise lost
        deadline = Deadline.after(_REATTACH_S)
        await self._held.let_go()
        self._found = None
        found = await self._owner.find(self._wanted, deadline, relaunch=True)
        attachment = await self.open(found, deadline)
        said = (
            f"{self._tab_id} was attached anew, at {found.target.url[:200]}; refs of a document that was left are dead"
        )
        self._owner.notice(said)
        return attachment, (said,)

    async def open(self, found: AppPage, deadline: Deadline) -> Attachment:
        self._found = found
        return await self._loaded(await self._held.make(self.connect(deadline.remaining_s), deadline), deadline)

    async def _loaded(self, attachment: Attachment, deadline: Deadline) -> Attachment:
        """An app that was just launched is still loading; lifecycle events of a loaded document are told again."""
        await attachment.watch.wait(
            lambda: attachment.state.main and "DOMContentLoaded" in attachment.state.main.lifecycle,
            timeout_s=min(_LOADED_S, deadline.remaining_s),
        )
        return attachment

    async def _listen(self, attachment: Attachment) -> None:
        """The end of an app's process ends the connection without a word; that of a window is told before."""

        def take_event(method: str, params: Mapping[str, Any], session_id: str | None) -> None:
            if method == "Inspector.detached" and session_id is None and params.get("reason") == _WINDOW_CLOSED:
                self.side_effects.lost_window(self._tab_id)

        self.side_effects.has_window()
        attachment.connection.on_event(take_event)

    async def close(self) -> None:
        """Detach; the page stays."""
        self._closed = True
        await self._held.close()

    async def diagnose(self, error: BridgeError) -> BridgeError:
        attachment = self._held.present
        if self._closed or attachment is None:
            return error
        is_heard = signs_of_life(error, attachment.connection)
        if isinstance(error, DeadlineExceeded) and not self._is_over(attachment):
            if await hang_recovery.is_responsive(attachment):
                return error
            if (lost := await self._owner.diagnose(is_heard)) is not None:
                return lost
            return hang_recovery.with_recovery(error, await hang_recovery.recover(attachment, self))
        if (lost := await self._owner.diagnose(is_heard)) is not None:
            return lost
        if isinstance(error, TransportError | TabLost) and self._is_over(attachment):
            reason = attachment.connection.close_reason or error.message
            return TabLost(f"the page of {self._tab_id} is gone: {reason}", hint="The next call looks for it again.")
        return error

    async def reattach(self, *, timeout_s: float) -> Attachment:
        deadline = Deadline.after(timeout_s)
        return await self._loaded(await self._held.make(self.connect(timeout_s), deadline), deadline)

    async def kill_renderer(self, *, timeout_s: float) -> bool:
        """Never: an app whose renderer dies dies with it unless it handles that, and it is not ours to kill."""
        return False

    @staticmethod
    def _is_over(attachment: Attachment) -> bool:
        state = attachment.state
        return attachment.connection.closed.is_set() or state.crashed or state.detached_reason is not None

"""A page of a foreign app: found again after the app restarts, and never closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

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
from bridge.page.recovery.hang_recovery import is_responsive, recover, with_recovery
from bridge.page.recovery.liveness import heard_recently
from bridge.page.target.attachment import Attachment
from bridge.session.attached.app import AppPage, PageSelector
from bridge.session.attached.app_state import frozen, opening, read_process_state
from bridge.session.attached.devtools_sockets import CHROME_SOCKET
from bridge.session.attachment_slot import AttachmentSlot, OnAttach

if TYPE_CHECKING:
    from bridge.session.attached.session import AttachedSession

_LOADED_S = 5.0
_LOOK_S = 1.4
_REATTACH_S = 10.0
# The reason for a target that is gone and did not crash (content/browser/devtools/protocol/inspector_handler.cc).
_WINDOW_CLOSED = "target_closed"


class AttachedTab:
    """The `TabHandle` of a page of the app."""

    def __init__(self, tab_id: str, session: AttachedSession, wanted: PageSelector) -> None:
        self._tab_id = tab_id
        self._session = session
        self._wanted = wanted
        self._slot = AttachmentSlot(tab_id, session.logs, session.on_attach)
        self.side_effects = SideEffects(opens_apps=True)
        self._slot.on_attach.append(self._listen)
        self._found: AppPage | None = None
        self._closed = False
        # Captures and logs run beside operations: several callers may find the page gone at once.
        self._restore_lock = asyncio.Lock()

    @property
    def tab_id(self) -> str:
        return self._tab_id

    @property
    def host_services(self) -> None:
        """None: a foreign app has no host services."""

    @property
    def logs(self) -> SessionLogs:
        return self._session.logs

    @property
    def full_page_strategy(self) -> Strategy | None:
        """Chrome draws beyond its view. For an app it is tried: each strategy's screenshot is verified."""
        return "cdp-beyond-viewport" if self._found and self._found.socket_name == CHROME_SOCKET else None

    @property
    def target_id(self) -> str:
        return self._found.target.target_id if self._found else ""

    @property
    def present(self) -> Attachment | None:
        return self._slot.present

    @property
    def base_url(self) -> str:
        return self._session.base_url

    @property
    def is_closed(self) -> bool:
        return self._closed

    async def close_page(self) -> None:
        raise Unsupported(
            "pages of another app cannot be closed", hint="session.detach(page) releases the page; the app keeps it."
        )

    async def check_url(self, url: str) -> str:
        return await self._session.egress.check_url(url)

    @property
    def uploads(self) -> SafeFolder:
        return self._session.uploads

    @property
    def downloads(self) -> SafeFolder:
        return self._session.downloads

    def watch_received(self) -> Callable[[], int]:
        """Always 0: the app's traffic does not go through the egress gate."""
        return lambda: 0

    def popups(self) -> AbstractContextManager[PopupQueue]:
        raise Unsupported("popups belong to the app; session.page() attaches to one that is open")

    @asynccontextmanager
    async def connect(self, timeout_s: float) -> AsyncIterator[CdpConnection]:
        """A second connection to the page, beside the attachment's."""
        found, deadline = self._found, Deadline.after(timeout_s)
        if found is None:
            raise TabLost(f"{self._tab_id} was never attached")
        path = f"/devtools/page/{found.target.target_id}"
        async with AsyncExitStack() as stack:
            async with opening(
                self._session.device, found.socket_name, found.pid, timeout_s=deadline.remaining_s
            ) as sock:
                connection = await stack.enter_async_context(open_cdp(sock, path, timeout_s=deadline.remaining_s))
            yield connection

    def explain(self, error: NavigationFailed) -> BridgeError:
        return self._session.explain(error)

    def on_attach(self, prepare: OnAttach) -> None:
        self._slot.on_attach.append(prepare)

    async def attachment(self, deadline: Deadline, *, revisit: bool = True) -> tuple[Attachment, tuple[str, ...]]:
        """The live attachment; if the app has restarted, one to the page that matches the selector now.

        Raises:
            TabLost, DeadlineExceeded: There is no such page any more.
            DeviceLost: The device is gone.
        """
        if self._closed:
            raise TabLost(f"{self._tab_id} has been closed")
        async with self._restore_lock:
            attachment, notices = await self._restored()
        if notices:
            deadline.restart()
        return attachment, notices

    async def _restored(self) -> tuple[Attachment, tuple[str, ...]]:
        if self._slot.present is not None and not self._is_gone(self._slot.present):
            return self._slot.present, ()
        if (lost := await self._session.diagnose()) is not None:
            raise lost
        deadline = Deadline.after(_REATTACH_S)
        await self._slot.detach()
        self._found = None
        found = await self._session.find(self._wanted, deadline, relaunch=True)
        attachment = await self.open(found, deadline)
        notice = f"{self._tab_id} was attached again, at {found.target.url[:200]}; earlier refs are stale"
        self._session.notice(notice)
        return attachment, (notice,)

    async def open(self, found: AppPage, deadline: Deadline) -> Attachment:
        self._found = found
        return await self._loaded(await self._slot.make(self.connect(deadline.remaining_s), deadline), deadline)

    async def _loaded(self, attachment: Attachment, deadline: Deadline) -> Attachment:
        """Wait for the DOM: an app that was just launched is still loading. For a loaded document the events repeat."""
        await attachment.condition.wait(
            lambda: attachment.state.main and "DOMContentLoaded" in attachment.state.main.lifecycle,
            timeout_s=min(_LOADED_S, deadline.remaining_s),
        )
        return attachment

    async def _listen(self, attachment: Attachment) -> None:
        """Notice a closed window: CDP reports it before it disconnects, unlike the end of the app's process."""

        def take_event(method: str, params: Mapping[str, Any], session_id: str | None) -> None:
            if method == "Inspector.detached" and session_id is None and params.get("reason") == _WINDOW_CLOSED:
                self.side_effects.lost_window(self._tab_id)

        self.side_effects.has_window()
        attachment.connection.on_event(take_event)

    async def close(self) -> None:
        """Detach; the page stays."""
        self._closed = True
        await self._slot.close()

    async def diagnose(self, error: BridgeError) -> BridgeError:
        """The cause of an operation's error; a page that hangs is recovered (bridge/page/recovery)."""
        attachment = self._slot.present
        if self._closed or attachment is None:
            return error
        is_heard = heard_recently(error, lambda: attachment.connection.heard_at)
        if isinstance(error, DeadlineExceeded) and not self._is_gone(attachment):
            if await is_responsive(attachment):
                return error
            if (lost := await self._session.diagnose(is_heard)) is not None:
                return lost
            if (unavailable := await self._obstacle()) is not None:
                return unavailable
            return with_recovery(error, await recover(attachment, self))
        if (lost := await self._session.diagnose(is_heard)) is not None:
            return lost
        if isinstance(error, TransportError | TabLost) and self._is_gone(attachment):
            reason = attachment.connection.close_reason or error.message
            return TabLost(f"the page of {self._tab_id} is gone: {reason}", hint="The next call looks for it again.")
        return error

    async def _obstacle(self) -> BridgeError | None:
        """AppUnavailable if the page's process is frozen, so that nothing can recover the page."""
        if self._found is None or self._found.pid is None:
            return None
        try:
            state = await read_process_state(self._session.device, self._found.pid, timeout_s=_LOOK_S)
        except BridgeError:
            return None
        return frozen(self._session.app.package, state.obstacle) if state.obstacle else None

    async def reattach(self, *, timeout_s: float) -> Attachment:
        deadline = Deadline.after(timeout_s)
        return await self._loaded(await self._slot.make(self.connect(timeout_s), deadline), deadline)

    async def kill_renderer(self, *, timeout_s: float) -> bool:
        """Never: a foreign app may crash with its renderer."""
        return False

    @staticmethod
    def _is_gone(attachment: Attachment) -> bool:
        state = attachment.state
        return attachment.connection.closed.is_set() or state.crashed or state.detached_reason is not None

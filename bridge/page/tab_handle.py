"""The interface of a tab to its page. The tabs of `bridge.session` implement it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

    from bridge.cdp import CdpConnection
    from bridge.deadline import Deadline
    from bridge.errors import BridgeError, NavigationFailed
    from bridge.page.capture.full_page import Strategy
    from bridge.page.files.host_services import HostServices
    from bridge.page.files.safe_folder import SafeFolder
    from bridge.page.input.side_effects import SideEffects
    from bridge.page.logs.session_logs import SessionLogs
    from bridge.page.popups import PopupQueue
    from bridge.page.target.attachment import Attachment


class TabHandle(Protocol):
    """One tab: its connection, its session's policy and logs, and the operator's folders."""

    @property
    def tab_id(self) -> str: ...

    @property
    def base_url(self) -> str:
        """The base that completes an address without scheme and host; "" for nothing."""
        ...

    @property
    def side_effects(self) -> SideEffects:
        """Popups, downloads and pickers, reported with the next result."""
        ...

    @property
    def host_services(self) -> HostServices | None:
        """The host app's part; None in a tab of a foreign app."""
        ...

    @property
    def logs(self) -> SessionLogs:
        """The console and network logs of the session."""
        ...

    @property
    def full_page_strategy(self) -> Strategy | None:
        """The strategy that the capability probe found for full-page screenshots; None if it found none."""
        ...

    @property
    def uploads(self) -> SafeFolder:
        """The only folder that files are uploaded from."""
        ...

    @property
    def downloads(self) -> SafeFolder:
        """The only folder that downloads are written to."""
        ...

    async def attachment(self, deadline: Deadline, *, revisit: bool = True) -> tuple[Attachment, tuple[str, ...]]:
        """The live attachment, with notices of what had to be restored first (a reopened tab, a device).

        Args:
            revisit: Load the tab's address in a tab that had to be reopened; without it, the tab stays blank.
            deadline: The operation's; restarted if a device or an app had to be restored first.
        """
        ...

    def on_attach(self, prepare: Callable[[Attachment], Awaitable[None]]) -> None:
        """Await `prepare` with every new attachment, before it loads any address."""
        ...

    async def reattach(self, *, timeout_s: float) -> Attachment:
        """Replace the attachment by one over a new connection to the same target."""
        ...

    def connect(self, timeout_s: float) -> AbstractAsyncContextManager[CdpConnection]:
        """Open a second CDP connection to the tab for the length of the block."""
        ...

    async def kill_renderer(self, *, timeout_s: float) -> bool:
        """Crash the renderer. The next operation reopens the tab. False if the tab is not ours to kill."""
        ...

    async def diagnose(self, error: BridgeError) -> BridgeError:
        """Recover what can be recovered after an operation failed; the error that the caller is to see."""
        ...

    def explain(self, error: NavigationFailed) -> BridgeError:
        """The policy's refusal that caused a failed navigation, or the error itself."""
        ...

    @property
    def present(self) -> Attachment | None:
        """The last attachment, which may be closed; None before the first."""
        ...

    @property
    def is_closed(self) -> bool:
        """The tab was closed, by the caller or by the page."""
        ...

    async def close_page(self) -> None:
        """Close the tab; does nothing if it is closed already."""
        ...

    async def check_url(self, url: str) -> str:
        """The canonical form of an address; raises PolicyRefused if the policy forbids it."""
        ...

    def popups(self) -> AbstractContextManager[PopupQueue]:
        """Collect the windows that this tab opens inside the block."""
        ...

    def watch_received(self) -> Callable[[], int]:
        """A counter of the bytes received since now over the busiest connection; 0 if traffic is not counted."""
        ...

"""The session's services for a tab of our host app."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from bridge.adb import AdbDevice
from bridge.errors import BridgeError, NavigationFailed, UsageError
from bridge.host.client import HostClient
from bridge.page.files.safe_folder import SafeFolder
from bridge.page.logs.session_logs import SessionLogs
from bridge.page.popups import PopupQueue
from bridge.session.attachment_slot import OnAttach
from bridge.session.capabilities import Capabilities

_MAX_PIXELS = 40_000_000


@dataclass(frozen=True, slots=True)
class View:
    """The size of a tab's virtual display, as the host app takes it (android_host_app/PROTOCOL.md §5).

    Raises:
        UsageError: Not a valid size.
    """

    width_px: int = 412
    height_px: int = 915
    density_dpi: int = 160

    def __post_init__(self) -> None:
        for name, least, most in (("width_px", 1, 10_000), ("height_px", 1, 10_000), ("density_dpi", 72, 640)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise UsageError(f"{name} is {value!r}; it must be a whole number from {least} to {most}.")
        if self.width_px * self.height_px > _MAX_PIXELS:
            raise UsageError(f"{self.width_px} x {self.height_px} px are more than {_MAX_PIXELS} pixels.")


class TabHost(Protocol):
    """The session as its tabs see it; `Tabs` implements it."""

    @property
    def device(self) -> AdbDevice: ...

    @property
    def host_client(self) -> HostClient: ...

    @property
    def logs(self) -> SessionLogs: ...

    @property
    def uploads(self) -> SafeFolder: ...

    @property
    def downloads(self) -> SafeFolder: ...

    @property
    def view(self) -> View: ...

    @property
    def base_url(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities | None: ...

    @property
    def restores_tabs(self) -> bool:
        """True if the next operation on a lost tab reopens it."""
        ...

    @property
    def on_attach(self) -> list[OnAttach]:
        """Awaited with every new attachment of a tab before the tab's own; the policy's interception comes first."""
        ...

    async def check_url(self, url: str) -> str: ...

    def explain(self, error: NavigationFailed) -> BridgeError: ...

    def watch_received(self) -> Callable[[], int]: ...

    def popups_of(self, tab_id: str) -> AbstractContextManager[PopupQueue]: ...

    async def close_by_id(self, tab_id: str) -> None:
        """Close a tab; does nothing if it is closed already."""
        ...

    def is_open(self, tab_id: str) -> bool: ...

    def notice(self, text: str) -> None: ...

    def keep_alive(self) -> None:
        """Report activity to the host app, which destroys idle WebViews."""
        ...

    def renderer_killed(self) -> None:
        """Hang recovery killed a renderer, which other tabs may share."""
        ...

    async def ensure_connected(self) -> tuple[str, ...]:
        """Reconnect if device or host app are lost; notices of what was restored.

        Raises:
            DeviceLost, HostLost: The session does not reconnect by itself, or it failed.
        """
        ...

    async def diagnose(self, is_heard: Callable[[], bool] = lambda: False) -> BridgeError | None:
        """The loss below the tab (device, host app), or None. Silence is a loss only if `is_heard` is false."""
        ...

"""What a tab needs of the session that it is in, and what more one needs that is in our own host app."""

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

_MOST_PIXELS = 40_000_000


@dataclass(frozen=True, slots=True)
class View:
    """The size of a tab's virtual display, as the host app takes it (android_host_app/PROTOCOL.md §5).

    Raises:
        UsageError: No such size.
    """

    width_px: int = 412
    height_px: int = 915
    density_dpi: int = 160

    def __post_init__(self) -> None:
        for name, least, most in (("width_px", 1, 10_000), ("height_px", 1, 10_000), ("density_dpi", 72, 640)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise UsageError(f"{name} is {value!r}; it must be a whole number from {least} to {most}.")
        if self.width_px * self.height_px > _MOST_PIXELS:
            raise UsageError(f"{self.width_px} x {self.height_px} px are more than {_MOST_PIXELS} pixels.")


class AnyHome(Protocol):
    """What every tab needs of its session, in whichever app it is."""

    @property
    def device(self) -> AdbDevice: ...

    @property
    def logs(self) -> SessionLogs: ...

    @property
    def uploads(self) -> SafeFolder: ...

    @property
    def downloads(self) -> SafeFolder: ...

    @property
    def on_attach(self) -> list[OnAttach]:
        """Awaited with every tab's fresh attachment before the tab's own; the policy's gate comes first."""
        ...

    def explain(self, error: NavigationFailed) -> BridgeError: ...

    def notice(self, text: str) -> None: ...

    async def diagnose(self, is_heard: Callable[[], bool] = lambda: False) -> BridgeError | None:
        """What is lost below the tab, if anything; silence is a loss only where nothing `is_heard` of the tab."""
        ...


class Home(AnyHome, Protocol):
    """What a tab of our host app needs."""

    @property
    def host_client(self) -> HostClient: ...

    @property
    def view(self) -> View: ...

    @property
    def capabilities(self) -> Capabilities | None: ...

    @property
    def restores_tabs(self) -> bool:
        """Whether a tab that was lost is opened again without being asked."""
        ...

    def popups_of(self, tab_id: str) -> AbstractContextManager[PopupQueue]: ...

    async def check_url(self, url: str) -> str: ...

    def watch_received(self) -> Callable[[], int]: ...

    def keep_alive(self) -> None: ...

    async def ensure_connected(self) -> tuple[str, ...]:
        """Notices of what was reconnected; DeviceLost or HostLost where that is not wanted or did not work."""
        ...

    def renderer_killed(self) -> None:
        """The ladder killed a renderer, which other tabs may share."""
        ...

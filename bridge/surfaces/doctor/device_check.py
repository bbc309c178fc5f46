"""A check of the device itself, and what such checks work on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.adb import AdbDevice
from bridge.surfaces.doctor.report import CheckResult, Stakes
from bridge.surfaces.local_server import LocalServer

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.session import Session

CHECK_S, ASK_S = 45.0, 20.0


@dataclass(frozen=True, slots=True)
class DeviceCheck:
    """A row of the device checks."""

    name: str
    stakes: Stakes
    run: Callable[[], Awaitable[CheckResult]]
    timeout_s: float = CHECK_S


@dataclass(frozen=True, slots=True)
class Bench:
    """The session, the servers and the folder that device checks use.

    Attributes:
        session, page: A session with one tab. Checks may crash the tab, and leave it usable.
        server, demo_server: The pages of the checks and of the demo, which the session may open.
        folder: The session's folder for uploads and downloads.
        dark_s: How long the screen is off before frames and taps are tried again.
    """

    session: Session
    page: Page
    server: LocalServer
    demo_server: LocalServer
    folder: Path
    dark_s: float

    @property
    def device(self) -> AdbDevice:
        return self.session.device

    async def evaluate(self, expression: str, *, page: Page | None = None, timeout_s: float = ASK_S) -> Any:
        """The value of an expression in the page's main world, promises awaited."""
        return await (page or self.page).evaluate(expression, timeout_s=timeout_s)

"""Windows that a page opens: each becomes a page of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from bridge.deadline import Deadline
from bridge.errors import BridgeError, UsageError

if TYPE_CHECKING:
    from bridge.page.page import Page


class PopupQueue:
    """The windows that one page opened while a caller listened, oldest first."""

    def __init__(self) -> None:
        self._outcomes: asyncio.Queue[Page | BridgeError] = asyncio.Queue()

    def put(self, outcome: Page | BridgeError) -> None:
        """Add an attached page, or the reason why a window was not kept."""
        self._outcomes.put_nowait(outcome)

    async def next(self, *, timeout_s: float) -> Page:
        """Wait for the next window.

        Raises:
            DeadlineExceeded: The page opened no window.
            PolicyRefused, TabLost: The window was not kept.
        """
        async with Deadline.after(timeout_s).bound("waiting for a popup", lambda: "no window was opened"):
            outcome = await self._outcomes.get()
        if isinstance(outcome, BridgeError):
            raise outcome
        return outcome


class ExpectedPopup:
    """Yielded by `page.expect_popup()`; `page` is set when the block has ended."""

    def __init__(self) -> None:
        self.opened: Page | None = None

    @property
    def page(self) -> Page:
        if self.opened is None:
            raise UsageError("the popup is available after the block has ended")
        return self.opened


@asynccontextmanager
async def expected_popup(
    popups: Callable[[], AbstractContextManager[PopupQueue]], *, timeout_s: float
) -> AsyncIterator[ExpectedPopup]:
    """Run the block, then wait for the window that the page opened in it."""
    with popups() as opened:
        expected = ExpectedPopup()
        yield expected
        expected.opened = await opened.next(timeout_s=timeout_s)

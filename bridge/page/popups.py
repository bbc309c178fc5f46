"""Windows that a page opens: each becomes a page of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from bridge.deadline import Deadline
from bridge.errors import BridgeError

if TYPE_CHECKING:
    from bridge.page.page import Page


class PopupQueue:
    """The windows that one page opened while a caller listened, oldest first.

    Attributes:
        listener: Called with each window instead of keeping it for `next`.
    """

    def __init__(self) -> None:
        self.listener: Callable[[Page | BridgeError], None] | None = None
        self._outcomes: asyncio.Queue[Page | BridgeError] = asyncio.Queue()

    def put(self, outcome: Page | BridgeError) -> None:
        """Add an attached page, or the reason why a window was not kept."""
        if self.listener is not None:
            self.listener(outcome)
            return
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

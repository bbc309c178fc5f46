"""Windows that a page opens: each is a page of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from bridge.errors import UsageError

if TYPE_CHECKING:
    from bridge.page.page import Page


class OpenedPages(Protocol):
    """The windows that a page has opened since, oldest first."""

    async def next(self, *, timeout_s: float) -> Page:
        """The next one, attached; DeadlineExceeded when none comes, PolicyRefused when it was not allowed."""
        ...


class ExpectedPopup:
    """Yielded by `page.expect_popup()`; `page` is there when the block has ended."""

    def __init__(self) -> None:
        self.opened: Page | None = None

    @property
    def page(self) -> Page:
        if self.opened is None:
            raise UsageError("the popup is there when the block has ended")
        return self.opened


@asynccontextmanager
async def expected_popup(
    popups: Callable[[], AbstractContextManager[OpenedPages]], *, timeout_s: float
) -> AsyncIterator[ExpectedPopup]:
    """Run the block, then wait for the window that it made the page open."""
    with popups() as opened:
        expected = ExpectedPopup()
        yield expected
        expected.opened = await opened.next(timeout_s=timeout_s)

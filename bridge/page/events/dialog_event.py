"""A dialog as listeners of `page.on("dialog", …)` get it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.page.target.page_state import Dialog


class DialogEvent:
    """A JavaScript dialog that has just opened. A listener accepts or dismisses it; otherwise the page's dialog answers
    decide (`page.answer_dialogs`)."""

    def __init__(self, dialog: Dialog, page: Page) -> None:
        self._dialog = dialog
        self._page = page
        self.answer: bool | str | None = None

    @property
    def page(self) -> Page:
        return self._page

    @property
    def type(self) -> str:
        """alert, confirm, prompt or beforeunload."""
        return self._dialog.kind

    @property
    def message(self) -> str:
        return self._dialog.message

    @property
    def default_value(self) -> str:
        """The text that a prompt begins with."""
        return self._dialog.default_prompt

    def accept(self, prompt_text: str | None = None) -> Awaitable[None]:
        """Accept it, a prompt with this text. May be awaited."""
        return self._decide(True if prompt_text is None else prompt_text)

    def dismiss(self) -> Awaitable[None]:
        """Dismiss it. May be awaited."""
        return self._decide(False)

    def _decide(self, answer: bool | str) -> Awaitable[None]:
        self.answer = answer
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

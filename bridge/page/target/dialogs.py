"""JavaScript dialogs: answered as soon as they open, so that no page can block us, and told with the next result."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bridge.errors import UsageError
from bridge.page.target.page_state import Dialog
from bridge.snapshot.escape import clean_lines, cut, quote

logger = logging.getLogger(__name__)

Answer: TypeAlias = bool | str | None
DialogAnswer: TypeAlias = Literal["default", "accept", "dismiss"] | Callable[[Dialog], Answer | Awaitable[Answer]]

# A page that waits for our answer is a page that stands still.
_HANDLER_S = 2.0
_KEPT = 20
_TOLD = 8


@dataclass(frozen=True, slots=True)
class HandledDialog:
    """A dialog and how it was answered; `text` is what a prompt was given."""

    dialog: Dialog
    accepted: bool
    text: str = ""

    def __str__(self) -> str:
        given = f" with {_literal(self.text, 80)}" if self.accepted and self.dialog.kind == "prompt" else ""
        done = "accepted" if self.accepted else "dismissed"
        return f"{self.dialog.kind} {_literal(self.dialog.message, 200)} ({done}{given})"


def _literal(words: str, limit_chars: int) -> str:
    """With the lines that the dialog shows them in."""
    return quote(cut(clean_lines(words), limit_chars))


class Dialogs:
    """How a page's dialogs are answered, and those that nobody has been told of yet.

    Attributes:
        answer: "default" accepts alert and beforeunload and dismisses confirm and prompt; "accept" accepts all,
            "dismiss" all but beforeunload; a function is given the Dialog and answers True, False, the text for a
            prompt, or None for the default. It may be a coroutine function, and has 2 s.
        count: How many there were in all.
    """

    def __init__(self) -> None:
        self.answer: DialogAnswer = "default"
        self.count = 0
        self._untold: deque[HandledDialog] = deque(maxlen=_KEPT)
        self._untold_count = 0

    def set_answer(self, answer: DialogAnswer) -> None:
        if answer not in ("default", "accept", "dismiss") and not callable(answer):
            raise UsageError(f"dialogs={answer!r}", hint='It is "default", "accept", "dismiss" or a function.')
        self.answer = answer

    async def decide(self, dialog: Dialog) -> HandledDialog:
        """The answer; what a function of the user's gets wrong is logged and answered by default."""
        wanted: Answer = None
        if self.answer == "accept":
            wanted = True
        elif self.answer == "dismiss":
            # Who dismisses a beforeunload keeps the page where it is: nobody means that by a word for all dialogs.
            wanted = None if dialog.kind == "beforeunload" else False
        elif callable(self.answer):
            try:
                async with asyncio.timeout(_HANDLER_S):
                    given = self.answer(dialog)
                    wanted = await given if inspect.isawaitable(given) else given
            except Exception as error:  # a page must not stand still because a handler failed
                logger.warning("the dialog handler failed, so the default answers: %r", error)
        if isinstance(wanted, str):
            handled = HandledDialog(dialog, True, wanted)
        elif wanted is None:
            handled = HandledDialog(dialog, dialog.kind in ("alert", "beforeunload"), dialog.default_prompt)
        else:
            handled = HandledDialog(dialog, bool(wanted), dialog.default_prompt)
        self.count += 1
        self._untold.append(handled)
        self._untold_count += 1
        return handled

    @property
    def has_untold(self) -> bool:
        return self._untold_count > 0

    def take_untold(self) -> tuple[str, ...]:
        """One line for each dialog since this was last asked; of many, the last ones and how many there were."""
        told = [str(handled) for handled in list(self._untold)[-_TOLD:]]
        if self._untold_count > len(told):
            told.insert(0, f"{self._untold_count - len(told)} dialogs before these")
        self._untold.clear()
        self._untold_count = 0
        return tuple(told)

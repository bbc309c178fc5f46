"""JavaScript dialogs: answered as soon as they open, and reported with the next result."""

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

# The page stands still until its dialog is answered.
_HANDLER_S = 2.0
_KEPT = 20
_REPORTED = 8


@dataclass(frozen=True, slots=True)
class HandledDialog:
    """A dialog and the answer that the page got; `text` is the answer to a prompt.

    Attributes:
        is_overruled: The app answered first, with another answer than the session's.
    """

    dialog: Dialog
    accepted: bool
    text: str = ""
    is_overruled: bool = False

    def __str__(self) -> str:
        given = f" with {_literal(self.text, 80)}" if self.accepted and self.dialog.kind == "prompt" else ""
        done = "accepted" if self.accepted else "dismissed"
        if self.is_overruled:
            done += " by the app before it was answered"
        return f"{self.dialog.kind} {_literal(self.dialog.message, 200)} ({done}{given})"


def next_answer(set_answer: Callable[[DialogAnswer], None], *, accept: bool, text: str | None) -> DialogAnswer:
    """An answer to the next confirm or prompt alone; it then restores the default by `set_answer`."""

    def answer(dialog: Dialog) -> Answer:
        if dialog.kind not in ("confirm", "prompt"):
            return None
        set_answer("default")
        return text if accept and text is not None and dialog.kind == "prompt" else accept

    return answer


def _literal(words: str, limit_chars: int) -> str:
    """`words` in quotes, with the line breaks of the dialog."""
    return quote(cut(clean_lines(words), limit_chars))


class Dialogs:
    """Answers a page's dialogs and keeps those that no result has reported.

    Attributes:
        answer: "default" accepts alert and beforeunload and dismisses confirm and prompt; "accept" accepts all;
            "dismiss" dismisses all but beforeunload; a function of the Dialog returns True, False, the text for a
            prompt, or None for the default. It may be a coroutine function, and has 2 s.
        ask_listeners: Asked first; None leaves the dialog to `answer`.
        count: The number of dialogs so far.
    """

    def __init__(self) -> None:
        self.answer: DialogAnswer = "default"
        self.ask_listeners: Callable[[Dialog], Awaitable[Answer]] | None = None
        self.count = 0
        self._decided: HandledDialog | None = None
        self._unreported: deque[HandledDialog] = deque(maxlen=_KEPT)
        self._unreported_count = 0

    def set_answer(self, answer: DialogAnswer) -> None:
        if answer not in ("default", "accept", "dismiss") and not callable(answer):
            raise UsageError(f"dialogs={answer!r}", hint='Use "default", "accept", "dismiss" or a function.')
        self.answer = answer

    async def decide(self, dialog: Dialog) -> HandledDialog:
        """Answer a dialog. If the caller's function fails, log its error and use the default."""
        wanted: Answer = await self._asked(dialog)
        if wanted is not None:
            pass
        elif self.answer == "accept":
            wanted = True
        elif self.answer == "dismiss":
            # Dismissing beforeunload would keep the page from navigating, which "dismiss" does not mean.
            wanted = None if dialog.kind == "beforeunload" else False
        elif callable(self.answer):
            try:
                async with asyncio.timeout(_HANDLER_S):
                    given = self.answer(dialog)
                    wanted = await given if inspect.isawaitable(given) else given
            except Exception as error:  # the page must not wait forever because a handler failed
                logger.warning("the dialog handler failed; using the default reply: %r", error)
        if isinstance(wanted, str):
            handled = HandledDialog(dialog, True, wanted)
        elif wanted is None:
            handled = HandledDialog(dialog, dialog.kind in ("alert", "beforeunload"), dialog.default_prompt)
        else:
            handled = HandledDialog(dialog, bool(wanted), dialog.default_prompt)
        self._decided = handled
        return handled

    async def _asked(self, dialog: Dialog) -> Answer:
        if self.ask_listeners is None:
            return None
        try:
            async with asyncio.timeout(_HANDLER_S):
                return await self.ask_listeners(dialog)
        except TimeoutError:
            logger.warning("a dialog listener took longer than %g s; using the default reply", _HANDLER_S)
            return None

    def record_closed(self, dialog: Dialog, *, accepted: bool, text: str | None) -> None:
        """Record the answer that the page got (`Page.javascriptDialogClosed`), which may be the app's."""
        decided, self._decided = self._decided, None
        if decided is None or decided.dialog is not dialog:
            handled = HandledDialog(dialog, accepted, text or "", is_overruled=not self._is_default(dialog, accepted))
        elif decided.accepted != accepted:
            handled = HandledDialog(dialog, accepted, text or "", is_overruled=True)
        else:
            handled = decided
        self.count += 1
        self._unreported.append(handled)
        self._unreported_count += 1

    def _is_default(self, dialog: Dialog, accepted: bool) -> bool:
        return self.answer == "default" and accepted == (dialog.kind in ("alert", "beforeunload"))

    @property
    def has_unreported(self) -> bool:
        return self._unreported_count > 0

    def take_unreported(self) -> tuple[str, ...]:
        """One line per dialog since the last call; of many, the last ones and the number of those before."""
        lines = [str(handled) for handled in list(self._unreported)[-_REPORTED:]]
        if self._unreported_count > len(lines):
            lines.insert(0, f"{self._unreported_count - len(lines)} dialogs before these")
        self._unreported.clear()
        self._unreported_count = 0
        return tuple(lines)

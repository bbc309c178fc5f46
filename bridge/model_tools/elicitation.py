"""Whom a tool may ask: the person behind the model, where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from bridge.policy.decision import Decision
from bridge.snapshot.escape import url_token

#: Of one call, to the person behind it.
MAX_QUESTIONS = 8


class Elicitation(Protocol):
    """Answers yes or no. The model is never asked: it must not be able to widen what it may do."""

    async def agrees(self, question: str) -> bool | None:
        """What the person says; None where nobody could be asked, or somebody waved the question away: that lets
        nothing through, and is no answer to keep. Raises Unanswered where it can only be put between two calls."""
        ...


class Unanswered(Exception):
    """The call has to be sent again with the answer to `question`."""

    def __init__(self, question: str) -> None:
        super().__init__(question)
        self.question = question


class NoElicitation:
    """NoElicitation there means no."""

    async def agrees(self, question: str) -> None:
        return None


@dataclass(eq=False, slots=True)
class _Call:
    person: Elicitation
    questions: int = 0


class PendingElicitation:
    """Finds the person behind what a policy wants to know.

    A question of the policy may come up in a call, or in the background while a page loads what it is made of; there
    it goes to the only call that is running, and where there is none, or are several, nobody is asked. Nor is anybody
    asked more than a few times in one call: a page may name as many hosts as it likes.
    """

    def __init__(self) -> None:
        self._present: ContextVar[_Call | None] = ContextVar("the call that asks", default=None)
        self._running: list[_Call] = []

    @contextmanager
    def call_of(self, person: Elicitation) -> Iterator[None]:
        """A call made for `person`."""
        call = _Call(person)
        token = self._present.set(call)
        self._running.append(call)
        try:
            yield
        finally:
            self._running.remove(call)
            self._present.reset(token)

    async def may_open(self, decision: Decision) -> bool | None:
        """The `ask` of an egress; None where nobody was asked."""
        call = self._present.get()
        if call not in self._running:
            call = self._running[0] if len(self._running) == 1 else None
        if call is None or call.questions >= MAX_QUESTIONS:
            return None
        call.questions += 1
        person = call.person
        where = url_token(decision.url)[:300] or f"{decision.host}:{decision.port}"
        return await person.agrees(f"May the browser open {where}? The answer holds for {decision.host} from now on.")

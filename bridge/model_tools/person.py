"""Whom a tool may ask: the person behind the model, where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from bridge.policy.judge import Decision
from bridge.snapshot.escape import url_token


class Person(Protocol):
    """Answers yes or no. The model is never asked: it must not be able to widen what it may do."""

    async def agrees(self, question: str) -> bool:
        """Whether the person says yes. Raises Unanswered where the question can only be put between two calls."""
        ...


class Unanswered(Exception):
    """The call has to be sent again with the answer to `question`."""

    def __init__(self, question: str) -> None:
        super().__init__(question)
        self.question = question


class Nobody:
    """Nobody there means no."""

    async def agrees(self, question: str) -> bool:
        return False


class Asking:
    """Finds the person behind what a policy wants to know.

    A question of the policy may come up in a call, or in the background while a page loads what it is made of; there
    it goes to the only call that is running, and where there is none, or are several, the answer is no.
    """

    def __init__(self) -> None:
        self._present: ContextVar[Person | None] = ContextVar("person behind the call", default=None)
        self._running: list[Person] = []

    @contextmanager
    def call_of(self, person: Person) -> Iterator[None]:
        """A call made for `person`."""
        token = self._present.set(person)
        self._running.append(person)
        try:
            yield
        finally:
            self._running.remove(person)
            self._present.reset(token)

    async def may_open(self, decision: Decision) -> bool:
        """The `ask` of an egress."""
        person = self._present.get()
        if person is None or not any(person is each for each in self._running):
            if len(self._running) != 1:
                return False
            person = self._running[0]
        where = url_token(decision.url)[:300] or f"{decision.host}:{decision.port}"
        return await person.agrees(f"May the browser open {where}? The answer holds for {decision.host} from now on.")

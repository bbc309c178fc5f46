"""Asking the person behind a model for what the policy leaves open. The model itself is never asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from bridge.policy.decision import Decision
from bridge.snapshot.escape import url_token

#: In one call. A page may name any number of hosts.
MAX_QUESTIONS = 8


class Elicitation(Protocol):
    """Puts a yes-or-no question to the person who uses a client."""

    async def confirm(self, question: str) -> bool | None:
        """The person's answer; None if the client cannot ask, or the person dismissed the question.

        None allows nothing and is not remembered.

        Raises:
            Unanswered: The client can ask only between two calls.
        """
        ...


class Unanswered(Exception):
    """The client has to repeat the call with the answer to `question`."""

    def __init__(self, question: str) -> None:
        super().__init__(question)
        self.question = question


class NoElicitation:
    """A client that cannot ask anyone."""

    async def confirm(self, question: str) -> None:
        return None


@dataclass(eq=False, slots=True)
class _Call:
    elicitation: Elicitation
    questions: int = 0


class PendingElicitation:
    """Routes questions of the egress policy to the call that caused them.

    A question may come up in a call, or in the background while a page loads its resources. The latter goes to the only
    call that is running; if none is, or several are, it is not asked. One call asks at most MAX_QUESTIONS.
    """

    def __init__(self) -> None:
        self._current: ContextVar[_Call | None] = ContextVar("current call", default=None)
        self._running: list[_Call] = []

    @contextmanager
    def during_call(self, elicitation: Elicitation) -> Iterator[None]:
        """Route questions to `elicitation` while the block runs."""
        call = _Call(elicitation)
        token = self._current.set(call)
        self._running.append(call)
        try:
            yield
        finally:
            self._running.remove(call)
            self._current.reset(token)

    async def may_open(self, decision: Decision) -> bool | None:
        """The `ask` callback of an egress; None if the question was not asked."""
        call = self._current.get()
        if call not in self._running:
            call = self._running[0] if len(self._running) == 1 else None
        if call is None or call.questions >= MAX_QUESTIONS:
            return None
        call.questions += 1
        where = url_token(decision.url)[:300] or f"{decision.host}:{decision.port}"
        return await call.elicitation.confirm(
            f"Allow the browser to open {where}? The answer applies to {decision.host} for the rest of the session."
        )

"""Tracks jobs and their outcomes while devices come and go. Pure: no devices, clocks or clusters."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True)
class JobOutcome(Generic[Value]):
    """The outcome of one job.

    Attributes:
        index: The index of its item, from 0.
        value: What the job returned; None if it failed.
        error: What it raised, or why it could not run; None if it succeeded.
        serial: The last device it ran on; "" if it had none.
        attempts: How often it was started: more than once if devices were lost, 0 if it never had one.
        lost: Why the device of the last attempt was lost; "" if it was not.
    """

    index: int = 0
    value: Value | None = None
    error: Exception | None = None
    serial: str = ""
    attempts: int = 1
    lost: str = ""

    def result(self) -> Value:
        """The return value of the job; raises its error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]  # a job that returns None has Value = None


@dataclass(frozen=True, slots=True)
class Ticket:
    """One attempt of one job."""

    index: int
    item: Any
    attempt: int = 1


class JobBook:
    """Hands out jobs and collects their outcomes. A job whose device was lost is handed out again.

    Args:
        attempts: The maximum number of attempts per job, so that a job that crashes devices ends.
    """

    def __init__(
        self, items: Iterable[Any], *, attempts: int, on_outcome: Callable[[JobOutcome[Any]], None] | None = None
    ) -> None:
        self._waiting = deque(Ticket(index, item) for index, item in enumerate(items))
        self._outcomes: list[JobOutcome[Any] | None] = [None] * len(self._waiting)
        self._attempts = attempts
        self._on_outcome = on_outcome

    def __len__(self) -> int:
        """The total number of jobs."""
        return len(self._outcomes)

    @property
    def is_settled(self) -> bool:
        return None not in self._outcomes

    @property
    def has_waiting(self) -> bool:
        return bool(self._waiting)

    def take(self) -> Ticket | None:
        """The next waiting job, or None; others may still be running."""
        return self._waiting.popleft() if self._waiting else None

    def settle(self, ticket: Ticket, outcome: JobOutcome[Any]) -> bool:
        """Record an attempt's outcome; False if the job waits again because its device was lost."""
        if outcome.lost and ticket.attempt < self._attempts:
            self._waiting.appendleft(replace(ticket, attempt=ticket.attempt + 1))
            return False
        begun = ticket.attempt if outcome.attempts else ticket.attempt - 1
        self._end(replace(outcome, index=ticket.index, attempts=begun))
        return True

    def abandon(self, error: Exception) -> None:
        """End every waiting job with `error`, because no device is left."""
        while (ticket := self.take()) is not None:
            self._end(JobOutcome(index=ticket.index, error=error, attempts=ticket.attempt - 1))

    def outcomes(self) -> list[JobOutcome[Any]]:
        """The outcomes in the order of the items, once all jobs have ended."""
        ended = [outcome for outcome in self._outcomes if outcome is not None]
        assert len(ended) == len(self), "a job has no outcome"
        return ended

    def _end(self, outcome: JobOutcome[Any]) -> None:
        self._outcomes[outcome.index] = outcome
        if self._on_outcome is not None:
            self._on_outcome(outcome)

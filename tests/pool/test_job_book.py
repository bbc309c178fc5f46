"""The book of jobs: whatever is lost and in whichever order, each job ends exactly once."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import errors
from bridge.errors import BridgeError, DeadlineExceeded, DeviceLost, HttpFailed
from bridge.surfaces.device_pool.jobs import JobBook, JobOutcome, Ticket

ATTEMPTS = 3


@given(st.integers(0, 30), st.integers(1, 5), st.data())
def test_each_job_ends_once_however_often_devices_are_lost(jobs: int, workers: int, data: st.DataObject) -> None:
    ended: list[int] = []
    book = JobBook(range(jobs), attempts=ATTEMPTS, on_outcome=lambda outcome: ended.append(outcome.index))
    begun = [0] * jobs
    at_work: list[Ticket] = []
    while not book.is_settled:
        while len(at_work) < workers and (ticket := book.take()) is not None:
            begun[ticket.index] += 1
            at_work.append(ticket)
        ticket = at_work.pop(data.draw(st.integers(0, len(at_work) - 1)))
        lost = data.draw(st.booleans())
        outcome = JobOutcome[int](error=DeviceLost("gone"), lost="gone") if lost else JobOutcome(value=ticket.item)
        assert book.settle(ticket, outcome) is not (lost and ticket.attempt < ATTEMPTS)
    outcomes = book.outcomes()
    assert sorted(ended) == [outcome.index for outcome in outcomes] == list(range(jobs))
    assert [outcome.attempts for outcome in outcomes] == begun
    assert all(outcome.attempts == ATTEMPTS for outcome in outcomes if outcome.lost)
    assert all(outcome.result() == outcome.index for outcome in outcomes if not outcome.lost)


def test_jobs_that_nothing_is_left_for_end_with_the_reason() -> None:
    book = JobBook("abc", attempts=2)
    first = book.take()
    assert first is not None
    book.settle(first, JobOutcome(error=DeviceLost("gone"), lost="gone"))
    book.abandon(DeviceLost("no device is left"))
    assert book.is_settled
    assert [outcome.attempts for outcome in book.outcomes()] == [1, 0, 0]
    for outcome in book.outcomes():
        with pytest.raises(DeviceLost, match="no device is left"):
            outcome.result()


def crossed(error: BridgeError) -> BridgeError:
    """The error as another process gets it."""
    return pickle.loads(pickle.dumps(error))  # type: ignore[no-any-return]  # noqa: S301 - our own bytes


def _leaves(kind: type[BridgeError]) -> list[type[BridgeError]]:
    return [kind, *(below for child in kind.__subclasses__() for below in _leaves(child))]


def test_every_error_crosses_to_another_process_as_it_is() -> None:
    for kind in _leaves(BridgeError):
        if kind.__module__ != errors.__name__:
            continue
        made = kind.__new__(kind)
        BridgeError.__init__(made, "what was seen", hint="Do this.", fact=1)
        assert type(crossed(made)) is kind
        assert (str(crossed(made)), crossed(made).details) == (str(made), {"fact": 1})
    for error in (DeadlineExceeded("a click", 5.0, "covered"), HttpFailed(404, "Not Found", "sorry", url="u")):
        there = crossed(error)
        assert (str(there), there.to_json(), vars(there)) == (str(error), error.to_json(), vars(error))


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("it is never opened", "error: it is never opened. Only http is."),
        ("It is never opened.", "error: It is never opened. Only http is."),
        ("is it open?", "error: is it open? Only http is."),
        ("it is …", "error: it is … Only http is."),
    ],
)
def test_a_hint_begins_a_sentence_of_its_own(message: str, told: str) -> None:
    assert str(BridgeError(message, hint="Only http is.")) == told

"""What earlier hangs decide about the next one, and which traffic counts as recent."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import BridgeError, DeadlineExceeded, TabLost
from bridge.page.recovery import hang_recovery
from bridge.page.recovery.hang_recovery import HangHistory, RecoveryStep
from bridge.page.recovery.liveness import heard_recently

STEPS: list[RecoveryStep] = [
    "terminate_script",
    "left_busy",
    "left_flooded",
    "fresh_connection",
    "kill_renderer",
    "failed",
]
RECORDS = st.lists(st.tuples(st.sampled_from(["a", "b", ""]), st.sampled_from(STEPS)), min_size=1, max_size=10)


@given(RECORDS)
def test_only_the_last_step_and_its_document_count(records: list[tuple[str, RecoveryStep]]) -> None:
    history = HangHistory()
    for document, step in records:
        history.record(document, step)
    last, step = records[-1]
    for document in ("a", "b"):
        expected = document == last and step in ("terminate_script", "left_flooded")
        assert history.was_terminated(document) is expected
    assert not history.was_terminated("")


@pytest.mark.parametrize("step", STEPS)
def test_a_busy_document_has_its_time_once_unless_another_step_worked(
    step: RecoveryStep, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr(hang_recovery, "time", clock)
    history = HangHistory()
    assert history.may_be_busy("a")
    clock.monotonic = lambda: hang_recovery.BUSY_S
    history.record("a", step)
    assert history.may_be_busy("a") is (step not in ("left_busy", "left_flooded"))
    assert history.may_be_busy("b")


@pytest.mark.parametrize(
    ("error", "ago_s", "expected"),
    [
        (DeadlineExceeded("snapshot", 5.0, ""), 0.5, True),
        (DeadlineExceeded("snapshot", 5.0, ""), 1.5, False),
        (DeadlineExceeded("snapshot", 0.2, ""), 0.5, False),  # it was received before the operation began
        (TabLost("t1 is gone"), 0.1, False),
        (TabLost("t1 is gone"), -1.0, True),
    ],
)
def test_traffic_since_shortly_before_a_timeout_is_recent(error: BridgeError, ago_s: float, expected: bool) -> None:
    now = time.monotonic()
    is_heard = heard_recently(error, lambda: now - 100, lambda: now - ago_s)
    assert is_heard() is expected
    assert not heard_recently(error)()

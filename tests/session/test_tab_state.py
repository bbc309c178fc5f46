"""The life of a tab: which states follow which, whatever the order in which reports of it arrive."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import TabLost
from bridge.session.tab_state import TRANSITIONS, TabLife, TabState

EVENTS: dict[str, Callable[[TabLife], object]] = {
    "opened": TabLife.opened,
    "idled": lambda life: life.lose("idle"),
    "crashed": lambda life: life.lose("renderer_crashed"),
    "killed by recovery": lambda life: life.move(TabState.KILLED),
    "page lost": lambda life: life.lose_page("it did not load"),
    "page forgotten": TabLife.forget_page,
    "closing": lambda life: life.move(TabState.CLOSING),
    "closed": TabLife.close,
    "closed by page": lambda life: life.move(TabState.CLOSED_BY_PAGE),
}
HISTORIES = st.lists(st.sampled_from(sorted(EVENTS)), max_size=20)


def after(*events: str) -> TabLife:
    life = TabLife()
    for event in events:
        EVENTS[event](life)
    return life


@given(HISTORIES)
def test_every_step_is_in_the_table(events: list[str]) -> None:
    life = TabLife()
    for event in events:
        before = life.state
        EVENTS[event](life)
        assert life.state is before or life.state in TRANSITIONS[before]
        assert (life.state is TabState.WITHOUT_PAGE) <= bool(life.page_lost)
        assert life.is_gone + life.is_closed <= 1


@given(HISTORIES, st.sampled_from(["closed", "closed by page"]), HISTORIES)
def test_a_closed_tab_stays_closed(before: list[str], closing: str, later: list[str]) -> None:
    life = after(*before, closing)
    end = life.state
    for event in later:
        EVENTS[event](life)
        assert life.is_closed
        if end is not TabState.CLOSING:
            assert life.state is end


@given(HISTORIES)
def test_a_tab_is_closed_once(events: list[str]) -> None:
    life = after(*events)
    closes_first = "closed" not in events and life.state is not TabState.CLOSED
    before = life.state
    assert life.close() == (before if closes_first or before is TabState.CLOSED_BY_PAGE else None)


@pytest.mark.parametrize("report", ["idled", "crashed"])
def test_a_report_does_not_hide_that_recovery_killed_the_renderer(report: str) -> None:
    life = after("opened", "killed by recovery", report)
    assert life.state is TabState.KILLED
    assert life.reopens_itself
    assert life.description == "closed because its page did not respond"


def test_a_crash_needs_a_reconnect_and_names_its_reason() -> None:
    life = after("opened", "crashed")
    assert life.is_gone
    assert not life.reopens_itself
    assert life.description == "lost (renderer_crashed)"
    assert after("opened", "idled").reopens_itself
    assert not after("opened", "idled", "crashed", "opened").is_gone


def test_a_lost_page_stays_lost_in_a_reopened_tab_until_a_goto() -> None:
    life = after("opened", "page lost", "killed by recovery", "opened")
    assert life.state is TabState.WITHOUT_PAGE
    with pytest.raises(TabLost, match="the page of t1 is gone: it did not load") as caught:
        life.require_page("t1")
    assert caught.value.details["recovery"] == "opened_blank"
    life.forget_page()
    assert life.state is TabState.OPEN
    life.require_page("t1")


def test_a_page_that_loads_late_is_not_lost() -> None:
    life, loaded = after("opened"), []
    life.lose_page("it did not load", has_loaded=lambda: bool(loaded))
    with pytest.raises(TabLost):
        life.require_page("t1")
    loaded.append(True)
    life.require_page("t1")
    assert life.state is TabState.OPEN

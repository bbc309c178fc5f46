"""What is on its way is counted on its way."""

from __future__ import annotations

from bridge.policy.traffic import Traffic


def test_a_watch_says_what_has_come_since_over_the_busiest_connection() -> None:
    traffic = Traffic()
    old, idle = traffic.begin(), traffic.begin()
    old.received(1_000)
    received = traffic.watch()
    assert received() == 0
    old.received(10)
    new = traffic.begin()
    new.received(30)
    new.sent(500)
    idle.sent(500)
    assert received() == 30


def test_what_is_over_is_not_counted_any_more() -> None:
    traffic = Traffic()
    received = traffic.watch()
    over = traffic.begin()
    over.received(10)
    assert received() == 10
    del over
    assert received() == 0

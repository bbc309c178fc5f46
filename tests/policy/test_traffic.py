"""Bytes are counted while they are transferred."""

from __future__ import annotations

from bridge.policy.traffic import Traffic


def test_watch_counts_bytes_of_the_busiest_connection() -> None:
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


def test_ended_transfers_are_not_counted() -> None:
    traffic = Traffic()
    received = traffic.watch()
    over = traffic.begin()
    over.received(10)
    assert received() == 10
    del over
    assert received() == 0

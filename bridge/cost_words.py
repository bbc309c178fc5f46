"""What an operation cost, in words; the command line has it as JSON and does without the protocol's modules."""

from __future__ import annotations

from typing import Protocol


class Spent(Protocol):
    """A cost record."""

    @property
    def ms(self) -> float: ...
    @property
    def round_trips(self) -> int: ...
    @property
    def bytes_sent(self) -> int: ...
    @property
    def bytes_received(self) -> int: ...


def cost_words(cost: Spent) -> str:
    """`12 ms · 2 round trips · 0.3 kB sent, 4.1 kB received`."""
    trips = "1 round trip" if cost.round_trips == 1 else f"{cost.round_trips} round trips"
    return (
        f"{cost.ms:.0f} ms · {trips} · {_kilobytes(cost.bytes_sent)} sent, {_kilobytes(cost.bytes_received)} received"
    )


def _kilobytes(size_bytes: int) -> str:
    return f"{size_bytes / 1000:.1f} kB"

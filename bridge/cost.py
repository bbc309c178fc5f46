"""The cost of an operation: time, round trips, bytes, and tokens of the result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Cost:
    """The cost of one operation, or of several in a row.

    Attributes:
        ms: Wall-clock time.
        round_trips: Waits for the peer. Commands sent without waiting for each other's replies count once.
        bytes_sent: Command messages, without the WebSocket's framing.
        bytes_received: Replies to these commands; events do not count.
        est_tokens: Estimated tokens of the result's text for a model, at four characters each; 0 without text.
    """

    ms: float
    round_trips: int
    bytes_sent: int
    bytes_received: int
    est_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        """The cost of one after the other."""
        return Cost(
            self.ms + other.ms,
            self.round_trips + other.round_trips,
            self.bytes_sent + other.bytes_sent,
            self.bytes_received + other.bytes_received,
            self.est_tokens + other.est_tokens,
        )

    def __str__(self) -> str:
        """`12 ms · 2 round trips · 0.3 kB sent, 4.1 kB received`."""
        trips = "1 round trip" if self.round_trips == 1 else f"{self.round_trips} round trips"
        sent, received = _kilobytes(self.bytes_sent), _kilobytes(self.bytes_received)
        return f"{self.ms:.0f} ms · {trips} · {sent} sent, {received} received"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "ms": round(self.ms, 2)}


def est_tokens(text: str) -> int:
    """Estimated number of tokens of a text."""
    return -(-len(text) // 4)


def _kilobytes(size_bytes: int) -> str:
    return f"{size_bytes / 1000:.1f} kB"

"""Measures the cost of an operation: time, round trips, bytes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from bridge.cost import Cost, est_tokens


@dataclass
class Meter:
    """Counts the commands of one operation.

    The depth of a command is 1 + the largest depth of the replies received before it was sent. The largest depth is
    the length of the critical path: the number of waits that followed one another.
    """

    bytes_sent: int = 0
    bytes_received: int = 0
    round_trips: int = 0
    _replied_depth: int = 0
    _started: float = field(default_factory=time.perf_counter)
    _ms: float | None = None

    def sent(self, size_bytes: int) -> int:
        """Count a command and return its depth, for `received`."""
        self.bytes_sent += size_bytes
        depth = self._replied_depth + 1
        self.round_trips = max(self.round_trips, depth)
        return depth

    def received(self, depth: int, size_bytes: int) -> None:
        """Count the reply to a command of that depth."""
        self.bytes_received += size_bytes
        self._replied_depth = max(self._replied_depth, depth)

    def stop(self) -> None:
        """Stop the clock."""
        if self._ms is None:
            self._ms = self._elapsed_ms()

    def cost(self, text: str = "") -> Cost:
        """The cost so far, or of the whole measured block if it has ended, with a result of this text."""
        ms = self._elapsed_ms() if self._ms is None else self._ms
        return Cost(ms, self.round_trips, self.bytes_sent, self.bytes_received, est_tokens(text))

    def _elapsed_ms(self) -> float:
        return (time.perf_counter() - self._started) * 1000


_meters: ContextVar[tuple[Meter, ...]] = ContextVar("cdp_meters", default=())


@contextmanager
def measure() -> Iterator[Meter]:
    """Count what this task, and tasks started by it, send inside the block, on any connection. Blocks may nest."""
    meter = Meter()
    token = _meters.set((*_meters.get(), meter))
    try:
        yield meter
    finally:
        _meters.reset(token)
        meter.stop()


class CommandMeter:
    """Counts one command in every meter that was running when it was sent."""

    __slots__ = ("_depths",)

    def __init__(self, size_bytes: int) -> None:
        self._depths = [(meter, meter.sent(size_bytes)) for meter in _meters.get()]

    def reply(self, size_bytes: int) -> None:
        for meter, depth in self._depths:
            meter.received(depth, size_bytes)

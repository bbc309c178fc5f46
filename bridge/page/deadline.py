"""One budget of time, handed down through everything that an operation waits for."""

from __future__ import annotations

import time


class Deadline:
    """`timeout_s` from now, on the monotonic clock; `last_seen` tells what the wait saw while it waited."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self.last_seen = ""
        self._end = time.monotonic() + timeout_s

    @property
    def remaining_s(self) -> float:
        return max(0.0, self._end - time.monotonic())

    @property
    def passed(self) -> bool:
        return self.remaining_s <= 0

    def at_most(self, timeout_s: float) -> float:
        """Seconds for a step that may take `timeout_s` but not more than is left."""
        return min(timeout_s, self.remaining_s)

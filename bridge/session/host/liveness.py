"""What came from a device lately: where there is anything, silence in answer to a question means slow and not lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from bridge.errors import BridgeError, DeadlineExceeded

# Whoever was heard longer ago may have gone since.
_LATELY_S = 1.0


class Speaker(Protocol):
    """A connection to something on the device."""

    @property
    def heard_at(self) -> float:
        """When something came over it last, on the monotonic clock."""
        ...


def signs_of_life(error: BridgeError, *speakers: Speaker) -> Callable[[], bool]:
    """Whether any of them has been heard, by the time of asking, in the last second of an operation whose time was up.

    Of one that failed before its time, what comes from now on counts.
    """
    before_s = min(error.timeout_s, _LATELY_S) if isinstance(error, DeadlineExceeded) else 0.0
    since = time.monotonic() - before_s
    return lambda: any(speaker.heard_at > since for speaker in speakers)

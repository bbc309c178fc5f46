"""Recent traffic from a device. If there was any, an unanswered probe means slow, not lost."""

from __future__ import annotations

import time
from collections.abc import Callable

from bridge.errors import BridgeError, DeadlineExceeded

# Traffic older than this says nothing: its sender may have gone since.
_RECENT_S = 1.0


def heard_recently(error: BridgeError, *last_heard: Callable[[], float]) -> Callable[[], bool]:
    """A predicate: whether any connection has received anything since shortly before an operation failed.

    Without it a flood of console messages, or a machine that is busy, would be reported as a lost device.

    Args:
        error: Of a timeout, the last second before it counts too; of any other error, only what comes from now on.
        last_heard: One per connection to the device: when it last received anything, on the monotonic clock.
    """
    before_s = min(error.timeout_s, _RECENT_S) if isinstance(error, DeadlineExceeded) else 0.0
    since = time.monotonic() - before_s
    return lambda: any(heard_at() > since for heard_at in last_heard)

"""What a tab remembers of documents that did not answer: how far the ladder climbs for one depends on what was done."""

from __future__ import annotations

import time

from bridge.page.recovery import hang_recovery


class StuckDocuments:
    """Documents are named by their loader ids; "" is one that is not known."""

    def __init__(self) -> None:
        self._freed = ""
        self._busy, self._busy_since_s = "", 0.0

    def was_freed(self, document: str) -> bool:
        """Its script has been terminated before."""
        return document != "" and document == self._freed

    def may_be_busy(self, document: str) -> bool:
        """It may still come to the end of what is no script; asked whenever it did not answer."""
        if document != self._busy or not document:
            self._busy, self._busy_since_s = document, time.monotonic()
        return time.monotonic() - self._busy_since_s < hang_recovery.BUSY_S

    def take(self, document: str, step: hang_recovery.RecoveryStep) -> None:
        """What the ladder did for it."""
        self._freed = document if step in ("terminate_script", "left_flooded") else ""
        if step not in ("left_busy", "left_flooded"):
            self._busy = ""

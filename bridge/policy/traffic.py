"""What the open connections of an egress have carried, counted while it is on its way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary, WeakSet

Count: TypeAlias = Callable[[int], None]


@dataclass(eq=False)
class TransferCounts:
    """By one tunnel, or by one exchange on a connection that is kept."""

    bytes_sent: int = 0
    bytes_received: int = 0

    @property
    def bytes_both(self) -> int:
        return self.bytes_sent + self.bytes_received

    def sent(self, size_bytes: int) -> None:
        self.bytes_sent += size_bytes

    def received(self, size_bytes: int) -> None:
        self.bytes_received += size_bytes


class Traffic:
    """All that is being carried."""

    def __init__(self) -> None:
        self._open: WeakSet[TransferCounts] = WeakSet()

    def begin(self) -> TransferCounts:
        """The counts of what has just begun; it is over when nobody holds them any more."""
        begun = TransferCounts()
        self._open.add(begun)
        return begun

    def watch(self) -> Callable[[], int]:
        """Each call says how many bytes have come since now by the one way that most came by."""
        before = WeakKeyDictionary({it: it.bytes_received for it in self._open})
        return lambda: max((it.bytes_received - before.get(it, 0) for it in self._open), default=0)

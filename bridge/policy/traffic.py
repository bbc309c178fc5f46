"""Byte counts of the connections of an egress while they are open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary, WeakSet

Count: TypeAlias = Callable[[int], None]


@dataclass(eq=False)
class TransferCounts:
    """Bytes of one tunnel, or of one exchange on a kept connection."""

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
    """The counts of all transfers in progress."""

    def __init__(self) -> None:
        self._open: WeakSet[TransferCounts] = WeakSet()

    def begin(self) -> TransferCounts:
        """The counts of a new transfer, which ends when nothing refers to them."""
        begun = TransferCounts()
        self._open.add(begun)
        return begun

    def watch(self) -> Callable[[], int]:
        """A function that returns the bytes received since now by the transfer that received most."""
        before = WeakKeyDictionary({counts: counts.bytes_received for counts in self._open})
        return lambda: max((counts.bytes_received - before.get(counts, 0) for counts in self._open), default=0)

"""A slow cable: delays chunks by latency and bandwidth, in order and with bounded memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

QUEUE_LIMIT_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LinkShape:
    """One-way latency and bandwidth per direction; 0 means unlimited."""

    latency_ms: float = 0.0
    bytes_per_s: float = 0.0

    @property
    def is_straight(self) -> bool:
        return self.latency_ms <= 0 and self.bytes_per_s <= 0


class Lane:
    """One direction of the cable. Calls `deliver` with each chunk, and `on_full` to pause and resume the sender."""

    def __init__(self, deliver: Callable[[bytes], None], on_full: Callable[[bool], None]) -> None:
        self.shape = LinkShape()
        self._deliver = deliver
        self._on_full = on_full
        self._queue: deque[tuple[float, bytes]] = deque()
        self._queued_bytes = 0
        self._is_full = False
        self._sent_until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def put(self, chunk: bytes) -> None:
        """Delivers the chunk when the shape allows it."""
        if self.shape.is_straight and not self._queue:
            self._deliver(chunk)
            return
        loop = asyncio.get_running_loop()
        rate = self.shape.bytes_per_s
        sent = max(loop.time(), self._sent_until) + (len(chunk) / rate if rate > 0 else 0.0)
        self._sent_until = sent
        self._queue.append((sent + self.shape.latency_ms / 1000, chunk))
        self._queued_bytes += len(chunk)
        self._tell_fullness()
        if self._timer is None:
            self._timer = loop.call_at(self._queue[0][0], self._release)

    def close(self) -> None:
        """Drops the chunks in flight, as a pulled cable does."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._queue.clear()
        self._queued_bytes = 0

    def _release(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        now = loop.time() + 0.0005  # The loop's clock rounds: do not wake up twice for half a millisecond.
        while self._queue and self._queue[0][0] <= now:
            _, chunk = self._queue.popleft()
            self._queued_bytes -= len(chunk)
            self._deliver(chunk)
        self._tell_fullness()
        if self._queue and self._timer is None:
            self._timer = loop.call_at(self._queue[0][0], self._release)

    def _tell_fullness(self) -> None:
        is_full = self._queued_bytes > QUEUE_LIMIT_BYTES
        if is_full != self._is_full:
            self._is_full = is_full
            self._on_full(is_full)

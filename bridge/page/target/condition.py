"""Waiting for a state that events bring about, without polling and without missing it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Condition:
    """Futures that are settled by the first `notify` after which their predicate gives something."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Callable[[], object], asyncio.Future[None]]] = []
        self._ended: BaseException | None = None

    def notify(self) -> None:
        """The state has changed: look at every predicate once, synchronously."""
        for predicate, future in list(self._waiting):
            if not future.done() and predicate():
                future.set_result(None)

    def end(self, reason: BaseException) -> None:
        """Nothing will change any more: every present and future wait raises `reason`."""
        self._ended = reason
        for _, future in self._waiting:
            if not future.done():
                future.set_exception(reason)

    async def wait(self, predicate: Callable[[], object], *, timeout_s: float) -> bool:
        """True as soon as `predicate()` is truthy, False when `timeout_s` passes first."""
        if predicate():
            return True
        if self._ended is not None:
            raise self._ended
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (predicate, future)
        self._waiting.append(entry)
        try:
            async with asyncio.timeout(timeout_s):
                await future
        except TimeoutError:
            return bool(predicate())  # what it waited for may have come with the end of its time
        finally:
            self._waiting.remove(entry)
        return True

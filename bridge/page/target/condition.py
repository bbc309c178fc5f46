"""Waits for a state that events change, without polling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Condition:
    """Waits until a predicate holds; `notify` checks the predicates of all waits."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Callable[[], object], asyncio.Future[None]]] = []
        self._ended: BaseException | None = None

    def notify(self) -> None:
        """Check every predicate once, because the state has changed."""
        for predicate, future in list(self._waiting):
            if not future.done() and predicate():
                future.set_result(None)

    def end(self, reason: BaseException) -> None:
        """Raise `reason` in every present and future wait: the state will not change again."""
        self._ended = reason
        for _, future in self._waiting:
            if not future.done():
                future.set_exception(reason)

    async def wait(self, predicate: Callable[[], object], *, timeout_s: float) -> bool:
        """True as soon as `predicate()` is truthy; False if `timeout_s` passes first."""
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
            return bool(predicate())  # it may have become true at the very end
        finally:
            self._waiting.remove(entry)
        return True

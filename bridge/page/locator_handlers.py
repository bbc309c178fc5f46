"""Handlers of what may get in an action's way: banners, consent dialogs, sign-up overlays.

    await page.add_locator_handler(page.get_by_role("dialog", name="Cookies"), decline)

Before an action, while its element is covered, and before each check of an expectation, the handlers whose locator is
visible are called. A handler may use the page: it runs in the operation that it interrupts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from bridge.deadline import Deadline
from bridge.errors import UsageError

if TYPE_CHECKING:
    from bridge.page.locators.locators import Locator
    from bridge.page.operation import OperationLock

#: Called with the locator; may be a coroutine function.
LocatorHandler: TypeAlias = "Callable[[Locator], Any]"


@dataclass(slots=True)
class _Registered:
    locator: Locator
    handler: LocatorHandler
    no_wait_after: bool
    left: int | None


class LocatorHandlers:
    """The handlers of one page, in the order in which they were added."""

    def __init__(self, lock: OperationLock) -> None:
        self._lock = lock
        self._registered: list[_Registered] = []
        self._is_running = False

    @property
    def are_waiting(self) -> bool:
        """True if there is a handler that could be called now: none calls another one."""
        return bool(self._registered) and not self._is_running

    def add(self, locator: Locator, handler: LocatorHandler, *, no_wait_after: bool, times: int | None) -> None:
        """
        Raises:
            UsageError: A handler that cannot be called, or `times` is not a positive number.
        """
        if not callable(handler):
            raise UsageError(f"a locator handler must be a function, not {type(handler).__name__}")
        if times is not None and (not isinstance(times, int) or isinstance(times, bool) or times < 1):
            raise UsageError(f"times is {times!r}; it must be 1 or more")
        self._registered.append(_Registered(locator, handler, no_wait_after, times))

    def remove(self, locator: Locator) -> None:
        """Remove the handlers of a locator; does nothing if there are none."""
        self._registered = [one for one in self._registered if repr(one.locator) != repr(locator)]

    async def run(self, deadline: Deadline, *, inside_operation: bool) -> None:
        """Call the handlers whose locator is visible now, and wait until it is hidden.

        Raises:
            DeadlineExceeded: A handler has returned, and its element stays visible.
        """
        if not self.are_waiting:
            return
        self._is_running = True
        try:
            with self._lock.lent() if inside_operation else nullcontext():
                for one in tuple(self._registered):
                    if await one.locator.first.is_visible():
                        await self._call(one, deadline)
        finally:
            self._is_running = False

    async def _call(self, one: _Registered, deadline: Deadline) -> None:
        if one.left is not None:
            one.left -= 1
            if not one.left:
                self._registered.remove(one)
        result = one.handler(one.locator)
        if inspect.isawaitable(result):
            await result
        if not one.no_wait_after:
            await one.locator.first.wait_for(state="hidden", timeout_s=deadline.remaining_s)

"""Operations as somebody who looks on sees them: one place where a trace listens, and no operation knows of it.

The operations are the public coroutine methods of pages, of locators and of what is expected of either. `instrumented`
puts one thin function before each of them, which asks the page for its observer and calls straight through where there
is none. What an operation calls in turn is part of it: `locator.click()` is one operation, the `page.click(ref)` in it
is not another.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from bridge.page.page import Page

K = TypeVar("K")
Ended = Callable[[Any, BaseException | None], Awaitable[None]]
# Public for other modules of ours, and no operations of users.
_INTERNAL = frozenset({"attached", "look", "one"})
_within: ContextVar[bool] = ContextVar("within_an_operation", default=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """A call that has begun.

    Attributes:
        subject: What was called: "" for the page itself, else a locator as it is written, or `expect(…)` of one.
        arguments: By name, those that were given.
    """

    page: Page
    subject: str
    name: str
    arguments: Mapping[str, Any]


class Observer(Protocol):
    """Sees operations and must not change what they do: what it raises is its own mistake, and is raised."""

    async def begin(self, operation: Operation) -> Ended:
        """Called before the operation; gives what to await with its result or its error when it has ended."""
        ...

    def hide(self, redact: Callable[[Any], Any]) -> None:
        """Pass whatever is told through `redact`, which takes secrets out of a JSON value, also what came before."""
        ...


def instrumented(page_of: Callable[[Any], Any], subject_of: Callable[[Any], str]) -> Callable[[type[K]], type[K]]:
    """A class decorator.

    Args:
        page_of: The page that an object of the class is about.
        subject_of: How the object is written.
    """

    def decorated(kind: type[K]) -> type[K]:
        for name in dir(kind):
            method = inspect.getattr_static(kind, name)
            if not name.startswith("_") and name not in _INTERNAL and inspect.iscoroutinefunction(method):
                setattr(kind, name, _observed(name, method, page_of, subject_of))
        return kind

    return decorated


def _observed(
    name: str, method: Callable[..., Awaitable[Any]], page_of: Callable[[Any], Any], subject_of: Callable[[Any], str]
) -> Callable[..., Awaitable[Any]]:
    signature = inspect.signature(method)

    @functools.wraps(method)
    async def operation(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # one frame less in pytest's tracebacks
        page = page_of(self)
        if page.observer is None or _within.get():
            return await method(self, *args, **kwargs)
        bound = signature.bind(self, *args, **kwargs).arguments
        arguments = {key: value for key, value in bound.items() if key != "self"}
        token = _within.set(True)
        try:
            ended = await page.observer.begin(Operation(page, subject_of(self), name, arguments))
            try:
                result = await method(self, *args, **kwargs)
            except BaseException as error:
                await ended(None, error)
                raise
            await ended(result, None)
            return result
        finally:
            _within.reset(token)

    return operation

"""Instrumentation of the public API: reports each call on a page, a locator or an expectation to an observer.

`instrumented` wraps the public coroutine methods of a class. Without an observer the wrapper returns the method's own
coroutine, so a call costs one attribute lookup and no frame. Calls inside a call belong to it: `locator.click()` is
reported, the `page.click(ref)` in it is not.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bridge.page.misuse import check_arguments, parameters_of

if TYPE_CHECKING:
    from bridge.page.page import Page

K = TypeVar("K")
Method = Callable[..., Coroutine[Any, Any, Any]]
Ended = Callable[[Any, BaseException | None], Awaitable[None]]
# Public methods for other modules of this package, which users do not call.
_INTERNAL = frozenset({"attached"})
_is_inside_call: ContextVar[bool] = ContextVar("is_inside_call", default=False)


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call of a public method.

    Attributes:
        subject: What it was called on: "" for the page itself, else the source text of a locator or `expect(…)`.
        arguments: The given arguments by name.
    """

    page: Page
    subject: str
    name: str
    arguments: Mapping[str, Any]


class Observer(Protocol):
    """Sees calls and does not change what they do. Its own errors are raised."""

    async def begin(self, call: ApiCall, /) -> Ended:
        """Called before the method runs; returns a function to await with its result or error."""
        ...

    def hide(self, redact: Callable[[Any], Any]) -> None:
        """Pass everything recorded, also so far, through `redact`, which removes secrets from a JSON value."""
        ...


def instrumented(page_of: Callable[[Any], Any], subject_of: Callable[[Any], str]) -> Callable[[type[K]], type[K]]:
    """A class decorator.

    Args:
        page_of: Returns the page that an object of the class belongs to.
        subject_of: Returns `ApiCall.subject` of an object.
    """

    def decorated(kind: type[K]) -> type[K]:
        for name in dir(kind):
            method = inspect.getattr_static(kind, name)
            if not name.startswith("_") and name not in _INTERNAL and inspect.iscoroutinefunction(method):
                setattr(kind, name, _instrumented_method(name, method, page_of, subject_of))
        return kind

    return decorated


def _instrumented_method(
    name: str, method: Method, page_of: Callable[[Any], Any], subject_of: Callable[[Any], str]
) -> Callable[..., Coroutine[Any, Any, Any]]:
    signature = inspect.signature(method)
    known = parameters_of(method)

    @functools.wraps(method)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
        if known is not None and not kwargs.keys() <= known:
            check_arguments(name, known, kwargs)
        page = page_of(self)
        if page.observer is None or _is_inside_call.get():
            return method(self, *args, **kwargs)
        bound = signature.bind(self, *args, **kwargs).arguments
        arguments = {key: value for key, value in bound.items() if key != "self"}
        call = ApiCall(page, subject_of(self), name, arguments)
        return _reported(page.observer, call, method(self, *args, **kwargs))

    return wrapper


async def _reported(observer: Observer, call: ApiCall, running: Coroutine[Any, Any, Any]) -> Any:
    __tracebackhide__ = True  # hides this frame in pytest's tracebacks
    token = _is_inside_call.set(True)
    try:
        ended = await observer.begin(call)
        try:
            result = await running
        except BaseException as error:
            await ended(None, error)
            raise
        await ended(result, None)
        return result
    finally:
        running.close()  # where the observer failed, it has not begun
        _is_inside_call.reset(token)

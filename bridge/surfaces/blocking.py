"""The same objects without `await`: calls are handed to one event loop in a thread of its own.

There is no second copy of any method. A blocking object stands before one of ours: what is asked of it is asked of
ours in the loop's thread, a coroutine is run to its end, an asynchronous context manager or iterator becomes one of
the ordinary kind, and what comes back is put behind a blocking object again where it needs one. The loop starts with
the first block that is entered and ends with the last one that is left.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

from bridge.errors import UsageError

_JOIN_S = 10.0


class LoopThread:
    """An event loop in a thread, for as long as somebody holds it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            if self._holders == 0:
                self._start()
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0:
                    self._stop()

    def is_loop(self, loop: asyncio.AbstractEventLoop) -> bool:
        return loop is self._loop

    def run(self, work: Callable[[], Any]) -> Any:
        """`work()` in the loop's thread, awaited where it gives something to await.

        Raises:
            UsageError: Outside of every session, or out of a handler, which runs in the loop's own thread.
        """
        loop = self._loop
        if loop is None:
            raise UsageError("the session is over", hint="Use it inside its `with` block.")
        if threading.current_thread() is self._thread:
            raise UsageError(
                "a handler called a blocking object, which would wait for itself for ever",
                hint="Answer with a value, or use the asynchronous API.",
            )

        async def awaited() -> Any:
            result = work()
            return await result if inspect.isawaitable(result) else result

        future = asyncio.run_coroutine_threadsafe(awaited(), loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise
        except BaseException:
            if not future.done():  # Ctrl-C in this thread: the operation must not go on behind our back
                future.cancel()
                concurrent.futures.wait([future], timeout=_JOIN_S)
            raise

    def _start(self) -> None:
        started = threading.Event()
        loop = self._loop = asyncio.new_event_loop()

        def live() -> None:
            asyncio.set_event_loop(loop)
            loop.call_soon(started.set)
            loop.run_forever()
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

        self._thread = threading.Thread(target=live, name="webview-bridge", daemon=True)
        self._thread.start()
        started.wait()

    def _stop(self) -> None:
        assert self._loop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_JOIN_S)
        self._loop = self._thread = None


THE_LOOP = LoopThread()


async def in_a_thread(plain: Callable[..., Any], *given: Any) -> Any:
    """What a plain function returns that is called in a thread, with blocking objects in place of ours.

    Raises:
        UsageError: This is not the loop that blocking objects hand their calls to.
    """
    loop = asyncio.get_running_loop()
    if not THE_LOOP.is_loop(loop):
        raise UsageError(
            f"{getattr(plain, '__name__', 'the function')} is no coroutine function",
            hint="Define it with 'async def', or use what bridge.sync has.",
        )
    blocked = [_wrapped(value) for value in given]

    def call() -> Any:
        try:
            return plain(*blocked)
        except StopIteration as error:  # no future takes one
            raise RuntimeError("the function raised StopIteration") from error

    # A thread of its own: those of the loop are few, and each of these waits for the loop.
    executor = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="webview-bridge-call")
    try:
        return await loop.run_in_executor(executor, call)
    finally:
        executor.shutdown(wait=False)


class Blocking:
    """Stands before `_ours`; subclasses are made by `blocking`, one for each class of ours."""

    _of: type
    _ours: Any

    def __init__(self, ours: Any) -> None:
        object.__setattr__(self, "_ours", ours)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = inspect.getattr_static(type(self._ours), name, None)
        if callable(found) or isinstance(found, classmethod | staticmethod):
            return method(getattr(self._ours, name))
        return _wrapped(THE_LOOP.run(lambda: getattr(self._ours, name)))

    def __setattr__(self, name: str, value: Any) -> None:
        THE_LOOP.run(lambda: setattr(self._ours, name, value))

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._ours) if not name.startswith("_")]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blocking) and other._ours is self._ours

    def __hash__(self) -> int:
        return hash(id(self._ours))

    def __repr__(self) -> str:
        return f"<blocking {self._ours!r}>"


_stand_ins: dict[type, type[Blocking]] = {}


def blocking(ours: type) -> type[Blocking]:
    """The class of blocking objects for objects of `ours`; its class methods are those of `ours`."""
    made = type(ours.__name__, (Blocking,), {"_of": ours, "__doc__": ours.__doc__, "__module__": "bridge.sync"})
    for name in dir(ours):
        if not name.startswith("_") and isinstance(inspect.getattr_static(ours, name), classmethod):
            setattr(made, name, staticmethod(method(getattr(ours, name))))
    _stand_ins[ours] = made
    return made


def method(bound: Callable[..., Any]) -> Callable[..., Any]:
    """`bound`, which is ours, for callers in other threads."""

    @functools.wraps(bound)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [_unwrapped(value) for value in args]
        named = {name: _unwrapped(value) for name, value in kwargs.items()}
        if inspect.isasyncgenfunction(inspect.unwrap(bound)):
            made = bound(*given, **named)  # only made: nothing of it runs before it is entered or asked for an item
            return block(made) if isinstance(made, AbstractAsyncContextManager) else _items(made)
        return _wrapped(THE_LOOP.run(lambda: bound(*given, **named)))

    return call


@contextmanager
def block(manager: AbstractAsyncContextManager[Any], loop: LoopThread = THE_LOOP) -> Iterator[Any]:
    """The asynchronous block as one of the ordinary kind; it keeps the loop alive."""
    with loop.held():
        entered = loop.run(manager.__aenter__)
        try:
            yield _wrapped(entered)
        except BaseException as error:
            caught = error
            if not loop.run(lambda: manager.__aexit__(type(caught), caught, caught.__traceback__)):
                raise
        else:
            loop.run(lambda: manager.__aexit__(None, None, None))


def _items(items: AsyncIterator[Any]) -> Iterator[Any]:
    while True:
        try:
            yield _wrapped(THE_LOOP.run(items.__anext__))
        except StopAsyncIteration:
            return


def _wrapped(value: Any) -> Any:
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_wrapped(item) for item in value)
    for kind in type(value).__mro__:
        if kind in _stand_ins:
            return _stand_ins[kind](value)
    if isinstance(value, AbstractAsyncContextManager):
        return block(value)
    return value


def _unwrapped(value: Any) -> Any:
    return value._ours if isinstance(value, Blocking) else value

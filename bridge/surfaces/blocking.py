"""The same objects without `await`: each call runs on one event loop in a thread of its own.

No method is written twice. A BlockingProxy stands before an asynchronous object: it runs a call in the loop's thread,
waits for a coroutine, turns an asynchronous context manager or iterator into a plain one, and wraps results that need
it. The loop starts with the first block that is entered and stops with the last one that is left.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

from bridge.errors import UsageError

_JOIN_S = 10.0
# Methods that take a function which may call the page: it runs in a thread of its own.
_TAKES_HANDLER = frozenset({"add_locator_handler"})


class LoopThread:
    """An event loop in a thread, while at least one block holds it."""

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
        """Run `work()` in the loop's thread and await its result if it is awaitable.

        Raises:
            UsageError: No session is open, or the caller is a handler, which runs in the loop's own thread.
        """
        loop = self._loop
        if loop is None:
            raise UsageError("the session is closed", hint="Use it inside its `with` block.")
        if threading.current_thread() is self._thread:
            raise UsageError(
                "a handler called a blocking object, which would deadlock",
                hint="Return a value, or use the asynchronous API.",
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
            if not future.done():  # Ctrl-C in this thread: the operation must not continue in the background
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


SHARED_LOOP = LoopThread()


async def in_a_thread(plain: Callable[..., Any], *given: Any) -> Any:
    """Call a plain function in a thread, with blocking objects instead of asynchronous ones.

    Raises:
        UsageError: This is not the loop of the blocking objects.
    """
    loop = asyncio.get_running_loop()
    if not SHARED_LOOP.is_loop(loop):
        raise UsageError(
            f"{getattr(plain, '__name__', 'the function')} is not a coroutine function",
            hint="Define it with 'async def', or use bridge.sync.",
        )
    blocked = [_proxied(value) for value in given]

    def call() -> Any:
        try:
            return plain(*blocked)
        except StopIteration as error:  # a future cannot hold a StopIteration
            raise RuntimeError("the function raised StopIteration") from error

    # A thread of its own: the loop's default executor has few, and each of these waits for the loop.
    executor = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="webview-bridge-call")
    try:
        # Calls of the function belong to the operation that it interrupts, if any.
        return await loop.run_in_executor(executor, contextvars.copy_context().run, call)
    finally:
        executor.shutdown(wait=False)


def _in_threads(value: Any) -> Any:
    return functools.partial(in_a_thread, value) if inspect.isfunction(value) or inspect.ismethod(value) else value


class BlockingProxy:
    """Wraps `_target`; `blocking_class` makes a subclass for each wrapped class."""

    _of: type
    _target: Any

    def __init__(self, target: Any) -> None:
        object.__setattr__(self, "_target", target)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _proxied(SHARED_LOOP.run(lambda: getattr(self._target, name)))

    def __setattr__(self, name: str, value: Any) -> None:
        SHARED_LOOP.run(lambda: setattr(self._target, name, value))

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._target) if not name.startswith("_")]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BlockingProxy) and other._target is self._target

    def __hash__(self) -> int:
        return hash(id(self._target))

    def __repr__(self) -> str:
        return f"<blocking {self._target!r}>"


_proxy_classes: dict[type, type[BlockingProxy]] = {}


def blocking_class(target: type) -> type[BlockingProxy]:
    """The class of blocking objects for `target`, with its class methods."""
    made = type(
        target.__name__, (BlockingProxy,), {"_of": target, "__doc__": target.__doc__, "__module__": "bridge.sync"}
    )
    for name in dir(target):
        if not name.startswith("_") and (member := _member(target, name)) is not None:
            setattr(made, name, member)
    _proxy_classes[target] = made
    return made


def _member(target: type, name: str) -> Any:
    """The member of a blocking class for one of its target: with the same signature and docstring, for `help`."""
    found = inspect.getattr_static(target, name)
    if isinstance(found, classmethod):
        return staticmethod(method(getattr(target, name)))
    if isinstance(found, property):
        return property(lambda self: _proxied(SHARED_LOOP.run(lambda: getattr(self._target, name))), doc=found.__doc__)
    if not inspect.isfunction(found):
        return None

    @functools.wraps(found)
    def call(self: BlockingProxy, *args: Any, **kwargs: Any) -> Any:
        return method(getattr(self._target, name))(*args, **kwargs)

    return call


def method(bound: Callable[..., Any]) -> Callable[..., Any]:
    """`bound` for callers in other threads."""

    @functools.wraps(bound)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [_target_of(value) for value in args]
        named = {name: _target_of(value) for name, value in kwargs.items()}
        if bound.__name__ in _TAKES_HANDLER:
            given = [_in_threads(value) for value in given]
            named = {name: _in_threads(value) for name, value in named.items()}
        if inspect.isasyncgenfunction(inspect.unwrap(bound)):
            made = bound(*given, **named)  # nothing runs before it is entered or iterated
            return block(made) if isinstance(made, AbstractAsyncContextManager) else _items(made)
        return _proxied(SHARED_LOOP.run(lambda: bound(*given, **named)))

    return call


@contextmanager
def block(manager: AbstractAsyncContextManager[Any], loop: LoopThread = SHARED_LOOP) -> Iterator[Any]:
    """An asynchronous context manager as a plain one; keeps the loop running."""
    with loop.held():
        entered = loop.run(manager.__aenter__)
        try:
            yield _proxied(entered)
        except BaseException as error:
            caught = error
            if not loop.run(lambda: manager.__aexit__(type(caught), caught, caught.__traceback__)):
                raise
        else:
            loop.run(lambda: manager.__aexit__(None, None, None))


def _items(items: AsyncIterator[Any]) -> Iterator[Any]:
    while True:
        try:
            yield _proxied(SHARED_LOOP.run(items.__anext__))
        except StopAsyncIteration:
            return


def _proxied(value: Any) -> Any:
    if type(value) in (tuple, list):
        return type(value)(_proxied(item) for item in value)
    for kind in type(value).__mro__:
        if kind in _proxy_classes:
            return _proxy_classes[kind](value)
    if isinstance(value, AbstractAsyncContextManager):
        return block(value)
    return value


def _target_of(value: Any) -> Any:
    return value._target if isinstance(value, BlockingProxy) else value

"""Listeners of a page: `page.on("console", …)`, and waits for the next event: `page.expect_request(…)`.

The reader task calls listeners when the event arrives. A listener must not wait for the page; a coroutine function runs
in a task, which ends with the page.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, get_args

from bridge.deadline import Deadline
from bridge.errors import BridgeError, UsageError
from bridge.page.events.dialog_event import DialogEvent
from bridge.page.events.messages import ConsoleMessage, Request, Response, UncaughtError
from bridge.page.logs.console import entry_of_call, entry_of_exception
from bridge.page.url_pattern import url_pattern

if TYPE_CHECKING:
    from bridge.page.navigation.wait_for_url import UrlMatch
    from bridge.page.page import Page
    from bridge.page.tab_handle import TabHandle
    from bridge.page.target.attachment import Attachment
    from bridge.page.target.page_state import Dialog

logger = logging.getLogger(__name__)

Event = Literal[
    "close",
    "console",
    "dialog",
    "domcontentloaded",
    "load",
    "pageerror",
    "popup",
    "request",
    "requestfailed",
    "requestfinished",
    "response",
]
Listener: TypeAlias = Callable[[Any], Any]
T = TypeVar("T")
_REQUESTS_KEPT = 2_000


class EventInfo(Generic[T]):
    """Yielded by `page.expect_…()`: `value` is the event, once it has come."""

    def __init__(self, coming: asyncio.Future[T]) -> None:
        self._coming = coming

    @property
    def value(self) -> asyncio.Future[T]:
        """To be awaited (without `await` in `bridge.sync`)."""
        return self._coming

    @property
    def is_done(self) -> bool:
        """True once the event has come."""
        return self._coming.done()


class Listeners:
    """The listeners of one page."""

    def __init__(self, page: Page, tab: TabHandle) -> None:
        self._page = page
        self._tab = tab
        self._listeners: dict[str, list[tuple[Listener, bool]]] = {}
        self._requests: dict[str, Request] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._popups = ExitStack()
        self._hears_popups = False

    def add(self, event: Event, listener: Listener, *, is_once: bool = False) -> None:
        """
        Raises:
            UsageError: An unknown event, or a listener that cannot be called.
        """
        if event not in get_args(Event):
            raise UsageError(f"{event!r} is not an event of a page", hint=f"Events are {', '.join(get_args(Event))}.")
        if not callable(listener):
            raise UsageError(f"a listener must be a function, not {type(listener).__name__}")
        if event == "popup" and not self._hears_popups:
            self._popups.enter_context(self._tab.popups()).listener = self._take_popup
            self._hears_popups = True
        self._listeners.setdefault(event, []).append((listener, is_once))

    def remove(self, event: Event, listener: Listener) -> None:
        """Remove a listener; does nothing if there is none."""
        kept = self._listeners.get(event, [])
        found = next((entry for entry in kept if entry[0] == listener), None)
        if found is not None:
            kept.remove(found)

    @asynccontextmanager
    async def expect(
        self, event: Event, fits: Callable[[Any], Any] | None, what: str, timeout_s: float
    ) -> AsyncIterator[EventInfo[Any]]:
        """Run the block, then wait for the first event since its beginning that fits.

        Raises:
            DeadlineExceeded: None came.
        """
        deadline = Deadline.after(timeout_s)
        coming: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        with self._hearing(event, fits, coming):
            yield EventInfo(coming)
            async with deadline.bound(f"waiting for {what}", lambda: "none came"):
                await coming

    @contextmanager
    def _hearing(self, event: Event, fits: Callable[[Any], Any] | None, coming: asyncio.Future[Any]) -> Iterator[None]:
        def listener(value: Any) -> None:
            if coming.done():
                return
            try:
                if fits is None or fits(value):
                    coming.set_result(value)
            except Exception as error:  # the caller's predicate failed, so the caller gets its error
                coming.set_exception(error)

        self.add(event, listener)
        try:
            yield
        finally:
            self.remove(event, listener)
            coming.cancel()

    @asynccontextmanager
    async def expect_popup(self, timeout_s: float) -> AsyncIterator[EventInfo[Page]]:
        """Run the block, then wait for the window that the page opened in it."""
        coming: asyncio.Future[Page] = asyncio.get_running_loop().create_future()
        with self._tab.popups() as opened:
            yield EventInfo(coming)
            coming.set_result(await opened.next(timeout_s=timeout_s))

    async def attach(self, attachment: Attachment) -> None:
        """Hear the events of a new attachment."""
        self._requests.clear()

        def take(method: str, params: Mapping[str, Any], session_id: str | None) -> None:
            if self._listeners:
                self._take(attachment, method, params, session_id)

        attachment.connection.on_event(take)

    async def close(self) -> None:
        """Report the end of the page and cancel the tasks of listeners."""
        self._emit("close", self._page)
        self._popups.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def answer_of(self, dialog: Dialog) -> bool | str | None:
        """The answer that a listener gives to a dialog; None if none gives any."""
        event = DialogEvent(dialog, self._page)
        await asyncio.gather(*self._emit("dialog", event), return_exceptions=True)
        return event.answer

    def _take(self, attachment: Attachment, method: str, params: Mapping[str, Any], session_id: str | None) -> None:
        try:
            match method:
                case "Runtime.consoleAPICalled" if self._listeners.get("console"):
                    entry = entry_of_call("", params)
                    if entry is not None:
                        self._emit("console", ConsoleMessage(str(params.get("type")), entry.text, entry.location))
                case "Runtime.exceptionThrown" if self._listeners.get("pageerror"):
                    thrown = entry_of_exception("", params)
                    name, colon, message = thrown.text.removeprefix("Uncaught ").partition(": ")
                    stack = "\n".join(thrown.stack)
                    if not (colon and name.isidentifier()):
                        name, message = "", thrown.text
                    self._emit("pageerror", UncaughtError(name, message, stack))
                case "Page.loadEventFired" | "Page.domContentEventFired" if session_id is None:
                    self._emit("load" if method == "Page.loadEventFired" else "domcontentloaded", self._page)
                case _ if method.startswith("Network."):
                    self._take_request(attachment, method, params)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            # An event of a newer WebView may have another shape; later ones still count.
            logger.debug("an event of the page was not understood: %s: %r", method, error)

    def _take_request(self, attachment: Attachment, method: str, params: Mapping[str, Any]) -> None:
        request_id = str(params.get("requestId", ""))
        if method == "Network.requestWillBeSent":
            entry = attachment.state.requests.get(request_id)
            if entry is None:
                return
            post = params["request"].get("postData")
            request = self._requests[request_id] = Request(entry, attachment, post if isinstance(post, str) else None)
            if len(self._requests) > _REQUESTS_KEPT:
                self._requests.pop(next(iter(self._requests)))
            self._emit("request", request)
            return
        known = self._requests.get(request_id)
        if known is None:
            return
        match method:
            case "Network.responseReceived":
                self._emit("response", Response(known, known.entry, attachment))
            case "Network.loadingFinished":
                self._emit("requestfinished", known)
            case "Network.loadingFailed":
                self._emit("requestfailed", known)

    def _take_popup(self, outcome: Page | BridgeError) -> None:
        if not isinstance(outcome, BridgeError):
            self._emit("popup", outcome)

    def _emit(self, event: str, value: Any) -> list[asyncio.Task[Any]]:
        """Call the listeners; the tasks of those that are coroutine functions."""
        started = []
        for entry in list(self._listeners.get(event, ())):
            listener, is_once = entry
            if is_once and entry in self._listeners[event]:
                self._listeners[event].remove(entry)
            try:
                result = listener(value)
            except Exception:
                logger.exception("a listener of %s failed", event)
                continue
            if inspect.isawaitable(result):
                task = asyncio.ensure_future(_logged(event, result))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                started.append(task)
        return started


async def _logged(event: str, work: Any) -> None:
    try:
        await work
    except Exception:
        logger.exception("a listener of %s failed", event)


def of_url(wanted: UrlMatch | Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A test of requests and responses by their URL, or the caller's own function of them."""
    if callable(wanted):
        return wanted
    pattern = url_pattern(wanted)
    return lambda found: pattern.matches(found.url)

"""One CDP connection to one tab: commands, scripts in its frames, the state from its events, and its dialogs."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from bridge.cdp import CdpConnection
from bridge.deadline import Deadline
from bridge.errors import (
    DeadlineExceeded,
    ExecutionContextDestroyed,
    PolicyRefused,
    ProtocolError,
    ScriptFailed,
    TabLost,
    TransportError,
)
from bridge.page.fetch_domain import FetchDomain
from bridge.page.logs.request_reducer import RequestReducer
from bridge.page.target.condition import Condition
from bridge.page.target.dialogs import Dialogs
from bridge.page.target.execution_contexts import ExecutionContext
from bridge.page.target.frame_calls import FrameCall, outcomes_of_frames
from bridge.page.target.frames import Frame
from bridge.page.target.oopif_sessions import ADD_SCRIPT, AUTO_ATTACH, Commands, OopifSessions
from bridge.page.target.page_state import PageState
from bridge.page.target.title_binding import REPORT_NOW, REPORT_TITLE, TitleBinding, binding_command
from bridge.snapshot.injected import isolated_source

logger = logging.getLogger(__name__)

CONTEXT_NAME = "webview-bridge"
# WebView sometimes acknowledges Runtime.enable without replaying the contexts that exist.
_ENABLE_TRIES = 10
_ENABLE_PAUSE_S = 0.25
# The script's own promise ends first; the reply needs time to travel.
_REPLY_MARGIN_S = 0.5
_DIALOG_S = 2.0
_CONTEXT_DESTROYED = (
    "Cannot find context with specified id",
    "uniqueContextId not found",
    "Execution context was destroyed",
    "Inspected target navigated or closed",
    "Promise was collected",
    "Cannot find default execution context",
    "Target crashed",
)
# Chromium refuses commands of the Page domain while a document that has just been committed replaces the one before.
_NOT_ACTIVE = "Not attached to an active page"
_BECOMES_ACTIVE_S = 1.0
_NOT_ACTIVE_PAUSE_S = 0.02
# How long attaching waits for out-of-process iframes. Those that answer later join then.
_OOPIF_S = 2.0
_OPTIONAL = frozenset({"Emulation.setFocusEmulationEnabled", "Target.setAutoAttach"})

# Commands that return content of the document.
_RETURNS_CONTENT = frozenset(
    {
        "Accessibility.getFullAXTree",
        "DOM.getDocument",
        "DOM.getOuterHTML",
        "DOMSnapshot.captureSnapshot",
        "Page.captureScreenshot",
        "Page.captureSnapshot",
        "Page.getResourceContent",
        "Page.printToPDF",
        "Runtime.callFunctionOn",
        "Runtime.evaluate",
    }
)

_REFUSALS_KEPT = 5


class Attachment:
    """A tab that is ready for commands. Made by `attach`.

    Attributes:
        connection: The CDP connection, used by this tab only.
        state: What CDP events reported. The reader task updates it before any caller wakes up.
        condition: Waits for changes of `state`.
        oopif_sessions: Sessions of out-of-process iframes.
        fetching: The only owner of request interception.
        dialogs: How dialogs are answered; the page sets its own.
        titles: Titles that documents report by themselves.
        silent_sessions: Sessions of out-of-process iframes that did not respond the last call.
        refused_navigations: Those of the main frame that the policy refused, since they were last taken.
        check_shown: Called with the main document's address after each command that returns its content; raises if the
            policy forbids to show it.
    """

    def __init__(self, connection: CdpConnection, requests: RequestReducer | None = None) -> None:
        self.connection = connection
        self.state = PageState(requests)
        self.condition = Condition()
        self.oopif_sessions = OopifSessions(connection, self.state, self._first_commands)
        self.fetching = FetchDomain(connection, self.oopif_sessions.sessions)
        self.dialogs = Dialogs()
        self.titles = TitleBinding(self.state, CONTEXT_NAME)
        self.silent_sessions: set[str] = set()
        self.refused_navigations: list[PolicyRefused] = []
        self.check_shown: Callable[[str], None] = _any_address
        self._script = isolated_source()
        self._dialog_waiting = asyncio.Event()

    def refuse_navigation(self, error: PolicyRefused) -> None:
        """Remember a refused navigation of the main frame: the document stays as it was."""
        self.refused_navigations = [*self.refused_navigations, error][-_REFUSALS_KEPT:]
        self.condition.notify()

    def take_refused_navigations(self) -> list[PolicyRefused]:
        """The refused navigations that no result has reported yet."""
        taken, self.refused_navigations = self.refused_navigations, []
        return taken

    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_s: float, session_id: str | None = None
    ) -> dict[str, Any]:
        """Send a command to the page's session, or to that of an out-of-process iframe, and wait for its result."""
        deadline, give_up = Deadline.after(timeout_s), Deadline.after(_BECOMES_ACTIVE_S)
        while True:
            try:
                left_s = deadline.remaining_s
                reply = await self.connection.call(method, params, timeout_s=left_s, session_id=session_id)
                break
            except ProtocolError as error:
                if error.reason != _NOT_ACTIVE or give_up.passed or deadline.passed:
                    raise
            await asyncio.sleep(_NOT_ACTIVE_PAUSE_S)
        if session_id is None:
            self.oopif_sessions.repeat(method, params, reply)
        # Events and replies are handled in order: the reply's content is of this document, or of an earlier one.
        if method in _RETURNS_CONTENT and (main := self.state.main) is not None:
            self.check_shown(main.address)
        return reply

    async def evaluate(self, frame_id: str, expression: str, *, timeout_s: float) -> Any:
        """The JSON value of `expression` in our execution context of the frame's document: one round trip.

        Raises:
            ExecutionContextDestroyed: The page navigated before the reply came.
            ScriptFailed: The script threw.
        """
        frame = self.state.frames.get(frame_id)
        if frame is not None and frame.is_crashed:
            raise ExecutionContextDestroyed("the renderer of the frame has crashed")
        deadline = Deadline.after(timeout_s)
        context = self.state.context_of(frame_id, CONTEXT_NAME) or await self._create_context(frame_id, deadline)
        awaited, session_id = f"JSON.stringify(await({expression}))", context.session_id
        try:
            params = _in_context(context, f"(async()=>globalThis.__agentBrowser?{awaited}:0)()")
            reply_s = timeout_s + _REPLY_MARGIN_S
            reply = await self.call("Runtime.evaluate", params, timeout_s=reply_s, session_id=session_id)
            if reply.get("result", {}).get("value") == 0:
                if await self._is_foreign(context, deadline):
                    return await self.evaluate(frame_id, expression, timeout_s=deadline.remaining_s)
                # The context exists and our script is not in it yet: its creator was cancelled, or is about to run it.
                await self._run_script(session_id, context.context_id, deadline)
                params = _in_context(context, f"(async()=>{awaited})()")
                reply_s = deadline.remaining_s + _REPLY_MARGIN_S
                reply = await self.call("Runtime.evaluate", params, timeout_s=reply_s, session_id=session_id)
        except (ProtocolError, TransportError) as error:
            self._raise_if_destroyed(error, session_id)
            raise
        return _script_value(reply)

    async def evaluate_in_frames(
        self,
        frames: Sequence[Frame],
        expression_of: Callable[[Frame], str],
        *,
        main_frame_id: str,
        timeout_s: float,
        busy_s: float = 0.0,
        and_then: Sequence[Coroutine[Any, Any, Any]] = (),
    ) -> list[Any]:
        """`evaluate` in all these frames at once; their values or exceptions, in the order of the frames.

        A frame in another renderer gets a little more time than `main_frame_id`, and ExecutionContextDestroyed if it
        does not answer then.

        Args:
            main_frame_id: The frame that is waited for until `timeout_s`.
            busy_s: How long the expression takes by itself.
            and_then: Started after all frames were called, and waited for; the outcomes follow those of the frames.
        """
        if len(frames) == 1 and not and_then:  # as most pages: without the event loop's turns that tasks take
            try:
                return [await self.evaluate(frames[0].frame_id, expression_of(frames[0]), timeout_s=timeout_s)]
            except Exception as error:
                return [error]
        calls = [
            FrameCall(
                frame, asyncio.ensure_future(self.evaluate(frame.frame_id, expression_of(frame), timeout_s=timeout_s))
            )
            for frame in frames
        ]
        others = list(map(asyncio.ensure_future, and_then))
        return await outcomes_of_frames(calls, others, main_frame_id, self.silent_sessions, busy_s)

    async def evaluate_raw(
        self, params: Mapping[str, Any], *, timeout_s: float, session_id: str | None = None
    ) -> dict[str, Any]:
        """`Runtime.evaluate` with these parameters; its result as it came.

        Raises:
            ExecutionContextDestroyed: The page navigated before the reply came.
        """
        try:
            return await self.call(
                "Runtime.evaluate", params, timeout_s=timeout_s + _REPLY_MARGIN_S, session_id=session_id
            )
        except (ProtocolError, TransportError) as error:
            self._raise_if_destroyed(error, session_id)
            raise

    def _raise_if_destroyed(self, error: ProtocolError | TransportError, session_id: str | None) -> None:
        if isinstance(error, ProtocolError):
            if any(text in error.reason for text in _CONTEXT_DESTROYED):
                raise ExecutionContextDestroyed("the page navigated while the script ran") from error
        elif session_id is not None and not self.connection.closed.is_set():
            raise ExecutionContextDestroyed("the frame left its renderer while the script ran") from error

    async def _create_context(self, frame_id: str, deadline: Deadline) -> ExecutionContext:
        """Create our context in a document that began before our document-start script: two round trips."""
        session_id = self.state.session_of(frame_id)
        params = {"frameId": frame_id, "worldName": CONTEXT_NAME}
        created = await self._call_frame("Page.createIsolatedWorld", params, deadline, session_id)
        context_id = created["executionContextId"]
        await self._run_script(session_id, context_id, deadline)
        known = self.state.contexts.get((session_id, context_id))
        return known or ExecutionContext(
            context_id, f"{frame_id}:{context_id}", frame_id, CONTEXT_NAME, False, session_id
        )

    async def _is_foreign(self, context: ExecutionContext, deadline: Deadline) -> bool:
        """True if our script is in a namesake of this context, which is set aside then."""
        for other in self.state.namesakes(context):
            params = _in_context(other, "!!globalThis.__agentBrowser")
            reply = await self._call_frame("Runtime.evaluate", params, deadline, context.session_id)
            if reply.get("result", {}).get("value") is True:
                self.state.set_aside(context)
                return True
        return False

    async def _run_script(self, session_id: str | None, context_id: int, deadline: Deadline) -> None:
        """Run our script in a context. Where it has run before, it changes nothing (injected_js/src/api.js)."""
        params = {"expression": self._script, "contextId": context_id}
        await self._call_frame("Runtime.evaluate", params, deadline, session_id)

    async def _call_frame(
        self, method: str, params: Mapping[str, Any], deadline: Deadline, session_id: str | None
    ) -> dict[str, Any]:
        try:
            return await self.call(method, params, timeout_s=deadline.remaining_s, session_id=session_id)
        except ProtocolError as error:
            raise ExecutionContextDestroyed(f"the frame cannot run the script: {error.reason}") from error
        except TransportError as error:
            if session_id is None or self.connection.closed.is_set():
                raise
            raise ExecutionContextDestroyed("the frame left its renderer") from error

    def _first_commands(self) -> Commands:
        """The first commands of every session, those of out-of-process iframes included."""
        fetch, source = self.fetching.command(), f"{self._script}\n{REPORT_TITLE}"
        return [
            ("Page.enable", {}),
            ("Page.setLifecycleEventsEnabled", {"enabled": True}),
            ("Network.enable", {}),
            ("Runtime.enable", {}),
            ("Log.enable", {}),
            (ADD_SCRIPT, {"source": source, "worldName": CONTEXT_NAME, "runImmediately": True}),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            *((fetch,) if fetch is not None else ()),
            AUTO_ATTACH,
        ]

    async def _set_up(self, deadline: Deadline) -> None:
        commands = (*self._first_commands(), ("Page.getFrameTree", {}))
        pending = [(method, self.connection.send(method, params)) for method, params in commands]
        # In the reader task: a document that is shown before this task wakes up is newer than the reply.
        pending[-1][1].reduce(lambda reply: self.state.load_tree(reply["frameTree"]))
        for method, call in pending:
            try:
                await call.result(timeout_s=deadline.remaining_s)
            except ProtocolError:
                if method not in _OPTIONAL:
                    raise
                logger.warning("this WebView has no %s", method)
        await self._wait_for_contexts(deadline)
        self.connection.send(*binding_command(CONTEXT_NAME)).abandon()
        context = self.state.context_of(self.state.main_frame_id or "", CONTEXT_NAME)
        if context is not None:
            self.connection.send("Runtime.evaluate", _in_context(context, REPORT_NOW)).abandon()
        await self.oopif_sessions.started(Deadline.after(min(_OOPIF_S, deadline.remaining_s)))

    async def _wait_for_contexts(self, deadline: Deadline) -> None:
        main = self.state.main_frame_id or ""
        for _ in range(_ENABLE_TRIES):
            if self.state.has_main_context(main):
                return
            await self.call("Runtime.disable", timeout_s=deadline.remaining_s)
            await self.call("Runtime.enable", timeout_s=deadline.remaining_s)
            if await self.condition.wait(
                lambda: self.state.has_main_context(main), timeout_s=min(_ENABLE_PAUSE_S, deadline.remaining_s)
            ):
                return
        raise TabLost(
            f"the WebView did not report the tab's execution contexts after {_ENABLE_TRIES} tries",
            hint="Reopen the tab. If that does not help, update Android System WebView.",
        )

    def _take_event(self, method: str, params: Mapping[str, Any], session_id: str | None) -> None:
        self.fetching.take_event(method, params, session_id)
        dialog = self.state.dialog
        if not self.state.reduce(method, params, session_id):
            if self.titles.take_event(method, params, session_id):
                self.condition.notify()
            return
        self.oopif_sessions.take_event(method, params)
        if method == "Page.javascriptDialogOpening":
            self._dialog_waiting.set()
        elif method == "Page.javascriptDialogClosed" and dialog is not None:
            self.dialogs.record_closed(dialog, accepted=bool(params.get("result")), text=params.get("userInput"))
        if self.state.crashed:
            self.condition.end(TabLost("the tab's renderer crashed"))
        elif self.state.detached_reason:
            self.condition.end(TabLost(f"the tab is gone: {self.state.detached_reason}"))
        self.condition.notify()

    async def _answer_dialogs(self) -> None:
        """Answer each dialog as soon as it opens, so that the page cannot block the operation."""
        while True:
            await self._dialog_waiting.wait()
            self._dialog_waiting.clear()
            dialog = self.state.dialog
            if dialog is None:
                continue
            handled = await self.dialogs.decide(dialog)
            answer = {"accept": handled.accepted, "promptText": handled.text}
            try:
                await self.call("Page.handleJavaScriptDialog", answer, timeout_s=_DIALOG_S)
            except (ProtocolError, DeadlineExceeded) as error:
                logger.debug("the dialog closed before the reply: %s", error)

    async def _report_loss(self) -> None:
        await self.connection.closed.wait()
        self.condition.end(TransportError(f"the connection to the tab ended: {self.connection.close_reason}"))


def _in_context(context: ExecutionContext, expression: str) -> dict[str, Any]:
    return {
        "expression": expression,
        "contextId": context.context_id,
        "awaitPromise": True,
        "returnByValue": True,
    }


def _any_address(_url: str) -> None:
    """Without a policy, every address may be shown."""


def _script_value(reply: Mapping[str, Any]) -> Any:
    thrown = reply.get("exceptionDetails")
    if thrown:
        described = (thrown.get("exception") or {}).get("description") or thrown.get("text", "")
        raise ScriptFailed(f"the injected script threw: {str(described)[:500]}")
    value = reply.get("result", {}).get("value")
    if not isinstance(value, str):
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise ScriptFailed(f"the injected script returned invalid JSON: {error}") from error


@asynccontextmanager
async def attach(
    connection: CdpConnection, *, timeout_s: float, requests: RequestReducer | None = None
) -> AsyncIterator[Attachment]:
    """Make a fresh page connection ready: domains on, our script in every document, dialogs answered.

    Args:
        requests: Reduces the connection's `Network.*` events; one of its own where no log keeps them.

    Raises:
        DeadlineExceeded: The tab did not respond in `timeout_s`.
        TabLost: It answered, but without script contexts.
    """
    attachment = Attachment(connection, requests)
    remove = connection.on_event(attachment._take_event)
    tasks = [
        asyncio.ensure_future(attachment._answer_dialogs()),
        asyncio.ensure_future(attachment._report_loss()),
    ]
    try:
        await attachment._set_up(Deadline.after(timeout_s))
        yield attachment
    finally:
        remove()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await attachment.fetching.close()

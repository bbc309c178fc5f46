"""One CDP connection to one tab: its state, its script worlds, and the dialogs it would otherwise block on."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from bridge.cdp import CdpConnection
from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, ProtocolError, ScriptFailed, TabLost, TransportError
from bridge.page.interception.fetch_domain import FetchDomain
from bridge.page.logs.request_reducer import RequestReducer
from bridge.page.target.condition import Condition
from bridge.page.target.dialogs import Dialogs
from bridge.page.target.execution_contexts import ExecutionContext
from bridge.page.target.oopif_sessions import ADD_SCRIPT, AUTO_ATTACH, Commands, OopifSessions
from bridge.page.target.page_state import PageState
from bridge.page.target.title_binding import SOURCE as TELLS_TITLE
from bridge.page.target.title_binding import TitleBinding, binding_command
from bridge.snapshot.injected import isolated_source

logger = logging.getLogger(__name__)

WORLD_NAME = "webview-bridge"
# WebView sometimes acknowledges Runtime.enable without replaying the contexts that exist.
_ENABLE_TRIES = 10
_ENABLE_PAUSE_S = 0.25
# The page's own promise ends first; this is for the reply to travel.
_REPLY_MARGIN_S = 0.5
_DIALOG_S = 2.0
_WORLD_GONE = (
    "Cannot find context with specified id",
    "uniqueContextId not found",
    "Execution context was destroyed",
    "Inspected target navigated or closed",
    "Promise was collected",
    "Cannot find default execution context",
    "Target crashed",
)
# Frames in other renderers that are there when we attach may answer so long; they join later as well.
_CHILDREN_S = 2.0
_DISPENSABLE = frozenset({"Emulation.setFocusEmulationEnabled", "Target.setAutoAttach"})

# What hands out something of the document that is shown.
_SHOWS_CONTENT = frozenset(
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


class WorldGone(BridgeError):
    """The document in which the script ran was left while it ran."""

    code = "world_gone"


class Attachment:
    """What `attach` yields: a tab that is ready to be driven.

    Attributes:
        connection: The CDP connection; it is this tab's alone.
        state: Reduced from every event before anybody waits for it.
        fetching: The one owner of request interception.
        dialogs: How dialogs are answered; the page puts its own here.
        titles: What documents tell of their title by themselves.
        silent_sessions: Those of frames in renderers of their own that did not answer the last time.
        check_shown: Asked with the top document's address after every command that hands out content of it; raises
            where that may not be shown.
    """

    def __init__(self, connection: CdpConnection, requests: RequestReducer | None = None) -> None:
        self.connection = connection
        self.state = PageState(requests)
        self.watch = Condition()
        self.children = OopifSessions(connection, self.state, self._first_commands)
        self.fetching = FetchDomain(connection, self.children.sessions)
        self.dialogs = Dialogs()
        self.titles = TitleBinding(self.state, WORLD_NAME)
        self.silent_sessions: set[str] = set()
        self.check_shown: Callable[[str], None] = _any_address
        self._script = isolated_source()
        self._dialog_waiting = asyncio.Event()

    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_s: float, session_id: str | None = None
    ) -> dict[str, Any]:
        """A command to the page's own session, or to that of a frame in a renderer of its own."""
        reply = await self.connection.call(method, params, timeout_s=timeout_s, session_id=session_id)
        if session_id is None:
            self.children.repeat(method, params, reply)
        # Events are reduced in their order with replies, so this is where the reply's content came from, or later.
        if method in _SHOWS_CONTENT and (main := self.state.main) is not None:
            self.check_shown(main.address)
        return reply

    async def evaluate(self, frame_id: str, expression: str, *, timeout_s: float) -> Any:
        """The JSON value of `expression` in our world of the frame's present document: one round trip.

        Raises:
            WorldGone: The document was left before the answer came.
            ScriptFailed: The script threw.
        """
        frame = self.state.frames.get(frame_id)
        if frame is not None and frame.is_crashed:
            raise WorldGone("the renderer of the frame has crashed")
        deadline = Deadline.after(timeout_s)
        world = self.state.world_of(frame_id, WORLD_NAME) or await self._create_world(frame_id, deadline)
        asked = f"JSON.stringify(await({expression}))"
        reply = await self._run(world, f"(async()=>globalThis.__agentBrowser?{asked}:0)()", timeout_s=timeout_s)
        if reply.get("result", {}).get("value") == 0:
            # Made empty, and told of at once: whoever asked for it was cancelled, or has not come to this yet.
            await self._fill(world.session_id, world.context_id, deadline)
            reply = await self._run(world, f"(async()=>{asked})()", timeout_s=deadline.remaining_s)
        return _script_value(reply)

    async def _run(self, world: ExecutionContext, expression: str, *, timeout_s: float) -> dict[str, Any]:
        params = {
            "expression": expression,
            "contextId": world.context_id,
            "awaitPromise": True,
            "returnByValue": True,
        }
        return await self.evaluate_raw(params, timeout_s=timeout_s, session_id=world.session_id)

    async def evaluate_raw(
        self, params: Mapping[str, Any], *, timeout_s: float, session_id: str | None = None
    ) -> dict[str, Any]:
        """`Runtime.evaluate` with these parameters, and its result as it came.

        Raises:
            WorldGone: The document was left before the answer came.
        """
        try:
            return await self.call(
                "Runtime.evaluate", params, timeout_s=timeout_s + _REPLY_MARGIN_S, session_id=session_id
            )
        except ProtocolError as error:
            if any(text in error.reason for text in _WORLD_GONE):
                raise WorldGone("the document was left while the script ran") from error
            raise
        except TransportError as error:
            if session_id is None or self.connection.closed.is_set():
                raise
            raise WorldGone("the frame went out of its renderer while the script ran") from error

    async def _create_world(self, frame_id: str, deadline: Deadline) -> ExecutionContext:
        """Make our world where the document-start script has not made one; costs two round trips."""
        session_id = self.state.session_of(frame_id)
        made = await self._call_of_frame(
            "Page.createIsolatedWorld", {"frameId": frame_id, "worldName": WORLD_NAME}, deadline, session_id
        )
        context_id = made["executionContextId"]
        await self._fill(session_id, context_id, deadline)
        known = self.state.worlds.get((session_id, context_id))
        return known or ExecutionContext(
            context_id, f"{frame_id}:{context_id}", frame_id, WORLD_NAME, False, session_id
        )

    async def _fill(self, session_id: str | None, context_id: int, deadline: Deadline) -> None:
        """Run our script in a world that has been made; what is there already stays (injected_js/src/api.js)."""
        params = {"expression": self._script, "contextId": context_id}
        await self._call_of_frame("Runtime.evaluate", params, deadline, session_id)

    async def _call_of_frame(
        self, method: str, params: Mapping[str, Any], deadline: Deadline, session_id: str | None
    ) -> dict[str, Any]:
        try:
            return await self.call(method, params, timeout_s=deadline.remaining_s, session_id=session_id)
        except ProtocolError as error:
            raise WorldGone(f"the frame cannot run the script: {error.reason}") from error
        except TransportError as error:
            if session_id is None or self.connection.closed.is_set():
                raise
            raise WorldGone("the frame went out of its renderer") from error

    def _first_commands(self) -> Commands:
        """What every session of the page begins with, frames in renderers of their own included."""
        fetch = self.fetching.command()
        return [
            ("Page.enable", {}),
            ("Page.setLifecycleEventsEnabled", {"enabled": True}),
            ("Network.enable", {}),
            ("Runtime.enable", {}),
            ("Log.enable", {}),
            (ADD_SCRIPT, {"source": f"{self._script}\n{TELLS_TITLE}", "worldName": WORLD_NAME, "runImmediately": True}),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            *((fetch,) if fetch is not None else ()),
            AUTO_ATTACH,
        ]

    async def _set_up(self, deadline: Deadline) -> None:
        commands = (*self._first_commands(), ("Page.getFrameTree", {}))
        pending = [(method, self.connection.send(method, params)) for method, params in commands]
        # In the reader: a document that is shown while we wake up is newer than what the reply says.
        pending[-1][1].reduce(lambda reply: self.state.load_tree(reply["frameTree"]))
        for method, call in pending:
            try:
                await call.result(timeout_s=deadline.remaining_s)
            except ProtocolError:
                if method not in _DISPENSABLE:
                    raise
                logger.warning("this WebView has no %s", method)
        await self._insist_on_contexts(deadline)
        self.connection.send(*binding_command(WORLD_NAME)).abandon()
        await self.children.started(Deadline.after(min(_CHILDREN_S, deadline.remaining_s)))

    async def _insist_on_contexts(self, deadline: Deadline) -> None:
        main = self.state.main_frame_id or ""
        for _ in range(_ENABLE_TRIES):
            if self.state.has_main_world(main):
                return
            await self.call("Runtime.disable", timeout_s=deadline.remaining_s)
            await self.call("Runtime.enable", timeout_s=deadline.remaining_s)
            if await self.watch.wait(
                lambda: self.state.has_main_world(main), timeout_s=min(_ENABLE_PAUSE_S, deadline.remaining_s)
            ):
                return
        raise TabLost(
            f"the WebView did not name the tab's script contexts after {_ENABLE_TRIES} tries",
            hint="Reopen the tab; if it stays so, update Android System WebView.",
        )

    def _take_event(self, method: str, params: Mapping[str, Any], session_id: str | None) -> None:
        self.fetching.take_event(method, params, session_id)
        if not self.state.reduce(method, params, session_id):
            if self.titles.take_event(method, params, session_id):
                self.watch.notify()
            return
        self.children.take_event(method, params)
        if method == "Page.javascriptDialogOpening":
            self._dialog_waiting.set()
        if self.state.crashed:
            self.watch.end(TabLost("the tab's renderer crashed"))
        elif self.state.detached_reason:
            self.watch.end(TabLost(f"the tab is gone: {self.state.detached_reason}"))
        self.watch.notify()

    async def _answer_dialogs(self) -> None:
        """A page cannot block us with dialogs: each is answered as soon as it opens."""
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
                logger.debug("dialog was gone before it was answered: %s", error)

    async def _report_loss(self) -> None:
        await self.connection.closed.wait()
        self.watch.end(TransportError(f"the connection to the tab ended: {self.connection.close_reason}"))


def _any_address(_url: str) -> None:
    """Without a policy every address may be shown."""


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
        raise ScriptFailed(f"the injected script answered with something that is no JSON: {error}") from error


@asynccontextmanager
async def attach(
    connection: CdpConnection, *, timeout_s: float, requests: RequestReducer | None = None
) -> AsyncIterator[Attachment]:
    """Make a fresh page connection ready: domains on, our script in every document, dialogs answered.

    Args:
        requests: Reduces the connection's `Network.*` events; one of its own where no log keeps them.

    Raises:
        DeadlineExceeded: The tab did not answer in `timeout_s`.
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

"""Out-of-process iframes (OOPIFs): a browser that isolates sites reports each as a target with a flattened session.

The browser attaches such a target when its first document is about to commit and holds it until all our commands are
sent, so that the page's code runs after our script and under the same interception as in other frames. WebView has no
OOPIFs and reports none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from bridge.cdp import CdpConnection, PendingCall
from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, ProtocolError, TransportError
from bridge.page.target.page_state import PageState

Commands: TypeAlias = list[tuple[str, dict[str, Any]]]

# Without a filter: where a filter leaves a type out, up to Chromium 143, a target of that type is still held and
# has no session to resume it. Service workers would never start.
AUTO_ATTACH = ("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True})
ADD_SCRIPT = "Page.addScriptToEvaluateOnNewDocument"
_REMOVE_SCRIPT = "Page.removeScriptToEvaluateOnNewDocument"
# Commands for the whole page, which every session has to get.
_PAGE_WIDE = frozenset(
    {
        "Emulation.setEmulatedMedia",
        "Emulation.setLocaleOverride",
        "Emulation.setTimezoneOverride",
        "Emulation.setUserAgentOverride",
        "Network.emulateNetworkConditions",
        "Network.setExtraHTTPHeaders",
    }
)


class OopifSessions:
    """The OOPIF sessions of one attachment.

    Attributes:
        sessions: The id of the topmost frame, by session id.
    """

    def __init__(self, connection: CdpConnection, state: PageState, first: Callable[[], Commands]) -> None:
        """`first` returns the first commands of every session."""
        self.sessions: dict[str, str] = {}
        self._connection = connection
        self._state = state
        self._first = first
        self._page_wide: dict[str, Mapping[str, Any]] = {}
        self._scripts: dict[str, Mapping[str, Any]] = {}
        self._script_ids: dict[tuple[str, str], str] = {}
        self._starting: dict[str, PendingCall] = {}

    def take_event(self, method: str, params: Mapping[str, Any]) -> None:
        """Called by the reader task for every event of any session, after the state."""
        if method == "Target.attachedToTarget":
            session_id, target = str(params["sessionId"]), params["targetInfo"]
            if target.get("type") == "iframe":
                self.sessions[session_id] = str(target["targetId"])
                self._start(session_id)
            else:
                self._resume(session_id)
        elif method == "Target.detachedFromTarget":
            session_id = str(params["sessionId"])
            self.sessions.pop(session_id, None)
            self._starting.pop(session_id, None)
            for key in [key for key in self._script_ids if key[0] == session_id]:
                del self._script_ids[key]
        elif method in ("Page.frameStoppedLoading", "Page.lifecycleEvent"):
            frame = self._state.frames.get(str(params.get("frameId", "")))
            # A document that was about to commit when we attached may commit between our tree request and our first
            # event: then only its loading is reported, never its commit.
            if frame is not None and not frame.url and frame.session_id in self.sessions:
                self._ask_tree(frame.session_id)

    async def started(self, deadline: Deadline) -> None:
        """Wait until every session, also a nested one, has taken its first commands."""
        while self._starting:
            _, call = self._starting.popitem()
            with suppress(ProtocolError, TransportError, DeadlineExceeded):
                await call.result(timeout_s=deadline.remaining_s)

    def repeat(self, method: str, params: Mapping[str, Any] | None, reply: Mapping[str, Any]) -> None:
        """Send a command that the page's session has taken to the other sessions, if it is for the whole page."""
        params = params or {}
        if method in _PAGE_WIDE:
            self._page_wide[method] = params
            for session_id in self.sessions:
                self._connection.send(method, params, session_id=session_id).abandon()
        elif method == ADD_SCRIPT:
            identifier = str(reply.get("identifier", ""))
            self._scripts[identifier] = params
            for session_id in self.sessions:
                self._add_script(session_id, identifier)
        elif method == _REMOVE_SCRIPT:
            identifier = str(params.get("identifier", ""))
            self._scripts.pop(identifier, None)
            for session_id in self.sessions:
                if (own_identifier := self._script_ids.pop((session_id, identifier), None)) is not None:
                    self._connection.send(method, {"identifier": own_identifier}, session_id=session_id).abandon()

    def _resume(self, session_id: str) -> None:
        """Resume a worker and detach from it. Detaching before it has resumed would block it forever."""
        resumed = self._connection.send("Runtime.runIfWaitingForDebugger", session_id=session_id)
        resumed.reduce(
            lambda _reply: self._connection.send("Target.detachFromTarget", {"sessionId": session_id}).abandon()
        )

    def _start(self, session_id: str) -> None:
        send = self._connection.send
        for method, params in self._first():
            send(method, params, session_id=session_id).abandon()
        for method, page_wide in self._page_wide.items():
            send(method, page_wide, session_id=session_id).abandon()
        for identifier in self._scripts:
            self._add_script(session_id, identifier)
        self._ask_tree(session_id)
        self._starting[session_id] = send("Runtime.runIfWaitingForDebugger", session_id=session_id)

    def _ask_tree(self, session_id: str) -> None:
        tree = self._connection.send("Page.getFrameTree", session_id=session_id)
        tree.reduce(lambda reply: self._state.load_tree(reply["frameTree"], session_id))

    def _add_script(self, session_id: str, identifier: str) -> None:
        added = self._connection.send(ADD_SCRIPT, self._scripts[identifier], session_id=session_id)
        added.reduce(lambda reply: self._know_script(session_id, identifier, str(reply.get("identifier", ""))))

    def _know_script(self, session_id: str, identifier: str, own_identifier: str) -> None:
        if session_id in self.sessions:
            self._script_ids[session_id, identifier] = own_identifier

"""WebView's quirks: the messages of a devtools WebSocket that are refused, changed or dropped.

QUIRKS.md lists each quirk, where it is imitated, and its test.

A message is parsed only if its first bytes show that it may matter: Chromium and clients write `id` or `method` first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from bridge.virtual_device.engine.defects import is_refused
from bridge.virtual_device.engine.devtools_server.capture import WebViewCapture, plan_capture, reshaped
from bridge.virtual_device.engine.devtools_server.refusals import NAMING_A_TARGET, NO_TARGET, Refusal, refused
from bridge.virtual_device.engine.responses import dumped, error_response, result_response
from bridge.virtual_device.engine.tabs import EngineTab

if TYPE_CHECKING:
    from bridge.virtual_device.engine.engine import Engine

CLIENT_HEAD = re.compile(rb'\s*\{\s*"id"\s*:\s*(\d+)\s*,\s*"method"\s*:\s*"([A-Za-z.]+)"')
HEAD_BYTES = 160
_REPLY_HEAD = re.compile(rb'\{"id":(\d+)')
_SOCKS_FAILED = "net::ERR_SOCKS_CONNECTION_FAILED"
# Chromium's error for an address that chromium.py's preferences block, and WebView's for an unknown scheme.
_KEPT_FROM, _UNKNOWN_SCHEME = "net::ERR_BLOCKED_BY_ADMINISTRATOR", "net::ERR_UNKNOWN_URL_SCHEME"

_DEBUG_URLS = re.compile(r"(?i)(about:blank(#.*)?|chrome://(crash|kill|hang|shorthang|memory-exhaust|checkcrash)/?)")
_EVENTS_OF_INTEREST = (
    b'{"method":"Target.',
    b'{"method":"Network.loadingFailed"',
    b'{"method":"Log.entryAdded"',
    b'{"method":"Page.javascriptDialogOpening"',
)
_CONTEXT_CREATED = b'{"method":"Runtime.executionContextCreated"'


@dataclass(frozen=True)
class MessageOutcome:
    """The handling of a client's message: pass it, replace it, or respond instead of Chromium.

    Attributes:
        before: A command of the relay that goes to Chromium first; its response is dropped.
    """

    replacement: bytes | None = None
    response: bytes | None = None
    before: bytes | None = None


PASS = MessageOutcome()


class NoQuirks:
    """Chromium as it is; see ConnectionQuirks."""

    def from_client(self, payload: bytes) -> MessageOutcome:
        return PASS

    def wants(self, head: bytes) -> bool:
        return False

    def from_browser(self, payload: bytes) -> bytes | None:
        return payload

    def own_commands(self) -> list[bytes]:
        return []

    def closed(self) -> list[EngineTab]:
        return []


@dataclass
class _Session:
    """A CDP session of the connection: the page's own or a flattened one."""

    target_id: str | None
    metrics: Mapping[str, Any] | None = None
    page_enabled: bool = False
    emulated: bool = False
    dense: bool = False
    losses_left: int | None = None
    losing: bool = False


@dataclass
class _Watched:
    session_id: str | None
    rewrite: Callable[[dict[str, Any]], None]


class ConnectionQuirks:
    """The quirks of one WebSocket; `target_id` is None for the browser-level one."""

    def __init__(self, engine: Engine, target_id: str | None) -> None:
        self._engine = engine
        self._browser_level = target_id is None
        self._sessions: dict[str | None, _Session] = {None: _Session(target_id)}
        self._watched: dict[int, _Watched] = {}
        self._hidden: set[str] = set()
        self._losing = 0
        self._own_ids = 2**31 - 1
        self._to_browser: list[bytes] = []
        if target_id is not None:
            engine.attached(target_id, 1)

    def from_client(self, payload: bytes) -> MessageOutcome:
        head = CLIENT_HEAD.match(payload, 0, HEAD_BYTES)
        if head is not None and not self._engine.defects and not _is_of_interest(head[2].decode()):
            return PASS
        try:
            message = json.loads(payload)
        except (ValueError, RecursionError):
            return PASS  # Chromium reports the error
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return PASS
        return self._handle(message)

    def wants(self, head: bytes) -> bool:
        """True if `from_browser` must see a message of Chromium that starts like this."""
        start = head[:64]
        if start.startswith(b'{"id":'):
            if not self._watched:
                return False
            found = _REPLY_HEAD.match(start)
            return found is not None and int(found[1]) in self._watched
        return start.startswith(_EVENTS_OF_INTEREST) or (self._losing > 0 and start.startswith(_CONTEXT_CREATED))

    def from_browser(self, payload: bytes) -> bytes | None:
        """The message for the client; None drops it."""
        if payload.startswith((b'{"method":"Network.', b'{"method":"Log.')):
            refused = payload.replace(_SOCKS_FAILED.encode(), self._net_error("").encode())
            return refused.replace(_KEPT_FROM.encode(), _UNKNOWN_SCHEME.encode())
        if payload.startswith(b'{"method":"Page.'):
            return None if self._engine.secret.encode() in payload else payload
        message = json.loads(payload)
        if "id" in message:
            return self._reply(message, payload)
        if message["method"] == "Runtime.executionContextCreated":
            session = self._sessions.get(message.get("sessionId"))
            return None if session is not None and session.losing else payload
        return payload if self._target_event(message) else None

    def own_commands(self) -> list[bytes]:
        """Commands of the relay to send to Chromium; their responses are dropped."""
        mine, self._to_browser = self._to_browser, []
        return mine

    def closed(self) -> list[EngineTab]:
        """Ends the sessions; returns the tabs whose emulation this client changed."""
        changed = []
        for session in self._sessions.values():
            self._end_session(session)
            tab = self._tab(session)
            if tab is not None and session.emulated:
                changed.append(tab)
        self._sessions.clear()
        return changed

    def _handle(self, message: dict[str, Any]) -> MessageOutcome:
        method, session_id = message["method"], message.get("sessionId")
        given = message.get("params")
        params: dict[str, Any] = given if isinstance(given, dict) else {}
        refusal = self._refusal(method, session_id, params)
        if refusal is not None:
            return MessageOutcome(response=error_response(message, *refusal))
        session = self._sessions.get(session_id)
        tab = self._tab(session) if session is not None else None
        if method == "Target.getTargets":
            self._watch(message, self._own_targets)
        elif method == "Browser.crash":
            self._engine.host_dies("Browser.crash")
        if session is None or tab is None:
            return PASS
        if method.startswith("Input."):
            self._engine.show(tab)
        elif method == "Page.captureScreenshot":
            self._engine.show(tab)
            return self._capture(message, params, session, tab)
        elif method == "Page.navigate":
            return self._navigate(message, params, tab)
        elif method in ("Page.enable", "Page.disable"):
            self._page_domain(session, tab, method == "Page.enable")
        elif method == "Runtime.enable":
            self._runtime_enable(message, session)
        elif method.startswith(("Emulation.", "Network.setUserAgentOverride")):
            return self._emulation(message, params, session, tab)
        return PASS

    def _refusal(self, method: str, session_id: Any, params: Mapping[str, Any]) -> Refusal | None:
        if is_refused(method, self._engine.defects):
            return -32601, f"'{method}' wasn't found"
        if (refusal := refused(method, at_browser=self._browser_level and session_id is None)) is not None:
            return refusal
        target_id = params.get("targetId")
        hidden = target_id in self._hidden or self._engine.is_foreign({"targetId": target_id, "type": "page"})
        return NO_TARGET if method in NAMING_A_TARGET and hidden else None

    def _capture(
        self, message: dict[str, Any], params: Mapping[str, Any], session: _Session, tab: EngineTab
    ) -> MessageOutcome:
        if params.get("fromSurface") is False:
            return MessageOutcome(response=error_response(message, -32000, "Unable to capture screenshot"))
        plan = plan_capture(params, tab.view, overridden=session.metrics is not None)
        if plan.size_px is not None:
            self._watch(message, lambda reply: _reshape(reply, plan))
        before = self._in_device_px(message, session, tab)
        return MessageOutcome(replacement=dumped({**message, "params": plan.params}), before=before)

    def _in_device_px(self, message: Mapping[str, Any], session: _Session, tab: EngineTab) -> bytes | None:
        """Makes Chromium capture device pixels, as WebView does, in a session that has not set metrics itself."""
        if session.dense or session.metrics is not None or tab.view.scale == 1:
            return None
        session.dense = session.emulated = True
        self._own_ids -= 1
        session_id = message.get("sessionId")
        self._watched[self._own_ids] = _Watched(session_id, _drop)
        command: dict[str, Any] = {"id": self._own_ids, "method": "Emulation.setDeviceMetricsOverride"}
        command["params"] = tab.view.metrics()
        return dumped({**command, **({"sessionId": session_id} if session_id is not None else {})})

    def _navigate(self, message: dict[str, Any], params: Mapping[str, Any], tab: EngineTab) -> MessageOutcome:
        url = str(params.get("url", "")).strip()
        scheme = url.partition(":")[0].lower()
        if ":" in url and scheme not in ("http", "https") and not _DEBUG_URLS.fullmatch(url):
            # shouldOverrideUrlLoading cancels such a main frame navigation.
            result = {"frameId": params.get("frameId", tab.target_id), "errorText": "net::ERR_ABORTED"}
            return MessageOutcome(response=result_response(message, result))

        def rewrite(reply: dict[str, Any]) -> None:
            result = reply.get("result", {})
            if result.get("errorText") == _SOCKS_FAILED:
                result["errorText"] = self._net_error(scheme)
            elif result.get("errorText") == _KEPT_FROM:
                result["errorText"] = _UNKNOWN_SCHEME

        self._watch(message, rewrite)
        return PASS

    def _net_error(self, scheme: str) -> str:
        if not self._engine.cleartext_permitted and scheme != "https":
            return "net::ERR_CLEARTEXT_NOT_PERMITTED"
        return "net::ERR_CONNECTION_REFUSED"

    def _page_domain(self, session: _Session, tab: EngineTab, enabled: bool) -> None:
        if session.page_enabled != enabled:
            session.page_enabled = enabled
            tab.page_clients += 1 if enabled else -1

    def _runtime_enable(self, message: dict[str, Any], session: _Session) -> None:
        if session.losses_left is None:
            session.losses_left = self._engine.lost_runtime_enables()
        if session.losses_left <= 0 or session.losing:
            return
        session.losses_left -= 1
        session.losing = True
        self._losing += 1

        def acknowledged(_reply: dict[str, Any]) -> None:
            session.losing = False
            self._losing -= 1

        self._watch(message, acknowledged)

    def _emulation(
        self, message: dict[str, Any], params: Mapping[str, Any], session: _Session, tab: EngineTab
    ) -> MessageOutcome:
        session.emulated = True
        if message["method"] == "Emulation.setDeviceMetricsOverride":
            session.metrics = dict(params)
        elif message["method"] == "Emulation.clearDeviceMetricsOverride":
            session.metrics = None
            native = {"method": "Emulation.setDeviceMetricsOverride", "params": tab.view.metrics()}
            return MessageOutcome(replacement=dumped({**message, **native}))
        return PASS

    def _own_targets(self, reply: dict[str, Any]) -> None:
        targets = reply.get("result", {}).get("targetInfos", [])
        own = [target for target in targets if not self._engine.is_foreign(target)]
        for target in own:
            target["attached"] = self._engine.is_attached(target["targetId"])
        reply.get("result", {})["targetInfos"] = own

    def _target_event(self, message: dict[str, Any]) -> bool:
        """True if the client gets an event of the Target domain."""
        method, params = message["method"], message["params"]
        target = params.get("targetInfo")
        if target is not None and self._engine.is_foreign(target):
            self._hidden.add(target["targetId"])
            if method == "Target.attachedToTarget":
                self._own_ids -= 1
                self._watched[self._own_ids] = _Watched(None, _drop)
                detach = {"sessionId": params["sessionId"]}
                self._to_browser.append(
                    dumped({"id": self._own_ids, "method": "Target.detachFromTarget", "params": detach})
                )
            return False
        if method == "Target.attachedToTarget":
            self._sessions[params["sessionId"]] = _Session(target["targetId"])
            self._engine.attached(target["targetId"], 1)
        elif method == "Target.detachedFromTarget":
            session = self._sessions.pop(params["sessionId"], None)
            if session is None:
                return False
            self._end_session(session)
        return params.get("targetId") not in self._hidden

    def _end_session(self, session: _Session) -> None:
        if session.target_id is not None:
            self._engine.attached(session.target_id, -1)
            tab = self._tab(session)
            if tab is not None:
                self._page_domain(session, tab, False)

    def _reply(self, message: dict[str, Any], payload: bytes) -> bytes | None:
        watched = self._watched.get(message["id"])
        if watched is None or watched.session_id != message.get("sessionId"):
            return payload
        del self._watched[message["id"]]
        if watched.rewrite is _drop:
            return None
        watched.rewrite(message)
        return dumped(message)

    def _watch(self, message: Mapping[str, Any], rewrite: Callable[[dict[str, Any]], None]) -> None:
        if isinstance(message.get("id"), int):
            self._watched[message["id"]] = _Watched(message.get("sessionId"), rewrite)

    def _tab(self, session: _Session) -> EngineTab | None:
        return self._engine.tab(session.target_id) if session.target_id is not None else None


Quirks: TypeAlias = ConnectionQuirks | NoQuirks


def _is_of_interest(method: str) -> bool:
    domain, _, name = method.partition(".")
    if domain in ("Browser", "Emulation", "Input", "Storage", "Target"):
        return True
    if domain == "Page":
        return name in (
            "captureScreenshot", "navigate", "enable", "disable", "printToPDF", "setDownloadBehavior"
        )  # fmt: skip
    return method in ("Runtime.enable", "Network.setUserAgentOverride")


def _drop(_reply: dict[str, Any]) -> None:
    """Marks a response to a command of the relay, which is dropped."""


def _reshape(reply: dict[str, Any], plan: WebViewCapture) -> None:
    if "result" in reply:
        reply["result"]["data"] = reshaped(reply["result"]["data"], plan)

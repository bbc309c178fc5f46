"""What a page session knows from CDP events alone: frames, script worlds, navigation, dialogs, requests.

`PageState.reduce` is called by the connection's reader for every event, before anybody waits for it, so whoever reads
the state after a reply sees everything the browser said before that reply. No I/O, no clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

# Requests that say nothing about whether a page has finished reacting.
_BACKGROUND_TYPES = frozenset({"WebSocket", "EventSource", "Media", "Ping", "CSPViolationReport", "Prefetch", "Other"})


@dataclass(slots=True)
class Frame:
    """One frame and the document it shows; `lifecycle` holds the names seen for `loader_id`."""

    frame_id: str
    parent_id: str | None
    url: str = ""
    loader_id: str = ""
    lifecycle: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class World:
    """A script world of one document; `key` is never used again for another one."""

    context_id: int
    key: str
    frame_id: str
    name: str
    is_main: bool


@dataclass(frozen=True, slots=True)
class Dialog:
    """A JavaScript dialog: `kind` is alert, confirm, prompt or beforeunload."""

    kind: str
    message: str
    url: str
    default_prompt: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """The main document's HTTP answer."""

    url: str
    status: int
    mime_type: str


@dataclass(frozen=True, slots=True)
class Request:
    request_id: str
    url: str
    kind: str
    order: int
    is_main: bool = False


class PageState:
    """The reducer. `main` is the top frame, or None until the first frame tree has been read."""

    def __init__(self) -> None:
        self.frames: dict[str, Frame] = {}
        self.worlds: dict[int, World] = {}
        self.main_frame_id: str | None = None
        self.navigating_to: str | None = None
        self.navigations = 0
        self.moves_within = 0
        self.main_failure_count = 0
        self.certificate_errors: deque[str] = deque(maxlen=1)
        self.responses: dict[str, Response] = {}
        self.failures: dict[str, str] = {}
        self.requests: dict[str, Request] = {}
        self.request_order = 0
        self.dialog: Dialog | None = None
        self.crashed = False
        self.detached_reason: str | None = None
        self._handlers: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "Page.frameAttached": self._frame_attached,
            "Page.frameNavigated": self._frame_navigated,
            "Page.navigatedWithinDocument": self._navigated_within_document,
            "Page.frameDetached": self._frame_detached,
            "Page.lifecycleEvent": self._lifecycle,
            "Page.frameRequestedNavigation": self._navigation_wanted,
            "Page.frameStartedNavigating": self._navigation_wanted,
            "Page.frameStoppedLoading": self._stopped_loading,
            "Page.javascriptDialogOpening": self._dialog_opening,
            "Page.javascriptDialogClosed": self._dialog_closed,
            "Runtime.executionContextCreated": self._world_created,
            "Runtime.executionContextDestroyed": self._world_destroyed,
            "Runtime.executionContextsCleared": self._worlds_cleared,
            "Network.requestWillBeSent": self._request_sent,
            "Network.responseReceived": self._response_received,
            "Network.loadingFinished": self._request_done,
            "Network.loadingFailed": self._request_failed,
            "Security.certificateError": self._certificate_error,
            "Inspector.targetCrashed": self._crashed,
            "Inspector.detached": self._detached,
        }

    @property
    def main(self) -> Frame | None:
        return self.frames.get(self.main_frame_id or "")

    def reduce(self, method: str, params: Mapping[str, Any]) -> bool:
        """Take one event; True when it was one that this state is made of."""
        handler = self._handlers.get(method)
        if handler is None:
            return False
        handler(params)
        return True

    def load_tree(self, tree: Mapping[str, Any]) -> None:
        """Take the reply of `Page.getFrameTree`, in its order with events; known frames keep their lifecycle."""
        pending: list[tuple[Mapping[str, Any], str | None]] = [(tree, None)]
        while pending:
            node, parent_id = pending.pop()
            described = node["frame"]
            frame_id = described["id"]
            if parent_id is None:
                self.main_frame_id = frame_id
            frame = self.frames.setdefault(frame_id, Frame(frame_id, parent_id))
            frame.url = described.get("url", "") + described.get("urlFragment", "")
            frame.loader_id = described.get("loaderId", "")
            pending.extend((child, frame_id) for child in node.get("childFrames", ()))

    def world_of(self, frame_id: str, name: str) -> World | None:
        """The newest world called `name` in the frame's present document."""
        found = None
        for world in self.worlds.values():
            if world.frame_id == frame_id and world.name == name:
                found = world
        return found

    def main_world(self, frame_id: str) -> World | None:
        """The page's own world of the frame's present document."""
        found = [world for world in self.worlds.values() if world.is_main and world.frame_id == frame_id]
        return found[-1] if found else None

    def has_main_world(self, frame_id: str) -> bool:
        return self.main_world(frame_id) is not None

    def ordered_frames(self) -> list[Frame]:
        """All frames, parents before their children, siblings in the order in which they appeared."""
        by_parent: dict[str | None, list[Frame]] = {}
        for frame in self.frames.values():
            by_parent.setdefault(frame.parent_id, []).append(frame)
        ordered: list[Frame] = []
        main = self.main
        pending = [main] if main else []
        while pending:
            frame = pending.pop(0)
            ordered.append(frame)
            pending.extend(by_parent.get(frame.frame_id, ()))
        return ordered

    def requests_since(self, order: int) -> list[Request]:
        """Requests in flight that began after `order` and that a reacting page may be waiting for."""
        return [
            request
            for request in self.requests.values()
            if request.order > order and request.kind not in _BACKGROUND_TYPES
        ]

    def _frame_attached(self, params: Mapping[str, Any]) -> None:
        self.frames.setdefault(params["frameId"], Frame(params["frameId"], params.get("parentFrameId")))

    def _frame_navigated(self, params: Mapping[str, Any]) -> None:
        described = params["frame"]
        frame = self.frames.setdefault(described["id"], Frame(described["id"], described.get("parentId")))
        frame.url = described.get("url", "") + described.get("urlFragment", "")
        frame.loader_id = described.get("loaderId", "")
        frame.lifecycle = set()
        # The frames of the document that was left are not always told of as detached.
        self._forget_below({frame.frame_id})
        if frame.parent_id is None:
            self.main_frame_id = frame.frame_id
            self.navigating_to = None
            self.navigations += 1
            # Requests of the document that was left never report their end to us.
            self.requests = {key: value for key, value in self.requests.items() if key == frame.loader_id}

    def _navigated_within_document(self, params: Mapping[str, Any]) -> None:
        frame = self.frames.get(params["frameId"])
        if frame:
            frame.url = params["url"]
        if params["frameId"] == self.main_frame_id:
            self.moves_within += 1

    def _frame_detached(self, params: Mapping[str, Any]) -> None:
        if params.get("reason") == "swap":
            return
        self._forget_below({params["frameId"]})
        self.frames.pop(params["frameId"], None)

    def _forget_below(self, above: set[str]) -> None:
        while above:
            above = {frame.frame_id for frame in self.frames.values() if frame.parent_id in above}
            for frame_id in above:
                del self.frames[frame_id]

    def _lifecycle(self, params: Mapping[str, Any]) -> None:
        frame = self.frames.get(params["frameId"])
        if frame is None:
            return
        if params["name"] == "init":
            frame.lifecycle = set()
        elif not frame.loader_id or params.get("loaderId") == frame.loader_id:
            frame.lifecycle.add(params["name"])

    def _navigation_wanted(self, params: Mapping[str, Any]) -> None:
        # `frameStartedNavigating` also tells of moves inside the document, which commit without a new loader.
        if (
            "sameDocument" in str(params.get("navigationType", ""))
            or params.get("disposition", "currentTab") != "currentTab"
        ):
            return
        if params["frameId"] == self.main_frame_id:
            self.navigating_to = params.get("url") or "?"

    def _stopped_loading(self, params: Mapping[str, Any]) -> None:
        if params["frameId"] == self.main_frame_id:
            self.navigating_to = None

    def _dialog_opening(self, params: Mapping[str, Any]) -> None:
        self.dialog = Dialog(
            kind=params.get("type", "alert"),
            message=params.get("message", ""),
            url=params.get("url", ""),
            default_prompt=params.get("defaultPrompt", ""),
        )

    def _dialog_closed(self, params: Mapping[str, Any]) -> None:
        self.dialog = None

    def _world_created(self, params: Mapping[str, Any]) -> None:
        context = params["context"]
        aux = context.get("auxData") or {}
        if "frameId" not in aux:
            return
        self.worlds[context["id"]] = World(
            context_id=context["id"],
            key=str(context.get("uniqueId") or context["id"]),
            frame_id=aux["frameId"],
            name=context.get("name", ""),
            is_main=bool(aux.get("isDefault")),
        )

    def _world_destroyed(self, params: Mapping[str, Any]) -> None:
        self.worlds.pop(params["executionContextId"], None)

    def _worlds_cleared(self, params: Mapping[str, Any]) -> None:
        self.worlds.clear()

    def _request_sent(self, params: Mapping[str, Any]) -> None:
        self.request_order += 1
        request_id = params["requestId"]
        kind = params.get("type", "Other")
        url = params.get("request", {}).get("url", "")
        is_main = (
            kind == "Document" and params.get("frameId") == self.main_frame_id and request_id == params.get("loaderId")
        )
        self.requests[request_id] = Request(request_id, url, kind, self.request_order, is_main)
        if is_main:
            self.navigating_to = url

    def _response_received(self, params: Mapping[str, Any]) -> None:
        if params.get("type") == "Document":
            answer = params["response"]
            self.responses[params["requestId"]] = Response(
                answer.get("url", ""), int(answer.get("status", 0)), answer.get("mimeType", "")
            )
            while len(self.responses) > 50:
                self.responses.pop(next(iter(self.responses)))

    def _request_done(self, params: Mapping[str, Any]) -> None:
        self.requests.pop(params["requestId"], None)

    def _request_failed(self, params: Mapping[str, Any]) -> None:
        request = self.requests.pop(params["requestId"], None)
        if request and request.kind == "Document":
            self.failures[request.request_id] = params.get("errorText", "")
            self.main_failure_count += request.is_main
            while len(self.failures) > 50:
                self.failures.pop(next(iter(self.failures)))

    def _certificate_error(self, params: Mapping[str, Any]) -> None:
        self.certificate_errors.append(str(params.get("errorType", "")))

    def _crashed(self, params: Mapping[str, Any]) -> None:
        self.crashed = True

    def _detached(self, params: Mapping[str, Any]) -> None:
        self.detached_reason = str(params.get("reason", "detached"))

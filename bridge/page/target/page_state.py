"""The state of a page, from CDP events alone: frames, execution contexts, navigation, dialogs, requests.

The reader task calls `PageState.reduce` for every event before any caller wakes up, so a caller that reads the state
after a reply sees every event sent before that reply. No I/O, no clock.

A browser that isolates sites runs frames of other sites in other renderers, each a target with a flattened session
(Target.setAutoAttach); its frames are frames of this page. `session_id` is None for the page's own session.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.page.logs.request_reducer import RequestReducer
from bridge.page.target.execution_contexts import ExecutionContexts
from bridge.page.target.frames import Frame
from bridge.page.target.inflight_requests import InflightRequests
from bridge.snapshot.address import shown_url

# Schemes that a tab may navigate to (core/Navigation.java of the host app), and those that never leave a page.
_OPENED = frozenset({"http", "https", "about", "blob", "data", "javascript", "file", "filesystem"})
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,40}):")
_SCHEMES_KEPT = 8
_ABORTED = "net::ERR_ABORTED"


@dataclass(frozen=True, slots=True)
class Dialog:
    """A JavaScript dialog: `kind` is alert, confirm, prompt or beforeunload."""

    kind: str
    message: str
    url: str
    default_prompt: str = ""


class PageState(ExecutionContexts, InflightRequests):
    """Reduces events to frames, contexts and requests, and to what concerns the tab as a whole.

    Attributes:
        navigating_to: Where the main frame navigates to; None if it does not.
        navigations: The number of documents that the main frame has shown.
        moves_within: The number of navigations inside a document.
    """

    def __init__(self, requests: RequestReducer | None = None) -> None:
        ExecutionContexts.__init__(self)
        InflightRequests.__init__(self, requests)
        self.navigating_to: str | None = None
        self.navigations = 0
        self.moves_within = 0
        self.dialog: Dialog | None = None
        self._for_apps: dict[str, None] = {}
        self.crashed = False
        self.detached_reason: str | None = None
        self._handlers: dict[str, Callable[[Mapping[str, Any], str | None], None]] = {
            "Page.frameAttached": self._frame_attached,
            "Page.frameNavigated": self._frame_navigated,
            "Page.navigatedWithinDocument": self._navigated_within_document,
            "Page.frameDetached": self._frame_detached,
            "Page.lifecycleEvent": self._lifecycle,
            "Page.frameScheduledNavigation": self._navigation_scheduled,
            "Page.frameRequestedNavigation": self._navigation_wanted,
            "Page.frameStartedNavigating": self._navigation_wanted,
            "Page.frameStoppedLoading": self._stopped_loading,
            "Page.javascriptDialogOpening": self._dialog_opening,
            "Page.javascriptDialogClosed": self._dialog_closed,
            "Runtime.executionContextCreated": self._context_created,
            "Runtime.executionContextDestroyed": self._context_destroyed,
            "Runtime.executionContextsCleared": self._contexts_cleared,
            "Security.certificateError": self._certificate_error,
            "Inspector.targetCrashed": self._crashed,
            "Inspector.detached": self._detached,
            "Target.attachedToTarget": self._target_attached,
            "Target.detachedFromTarget": self._target_detached,
        }

    def reduce(self, method: str, params: Mapping[str, Any], session_id: str | None = None) -> bool:
        """Take one event; True if the state depends on events of this kind."""
        if method.startswith("Network."):
            return self._take_request(method, params, session_id)
        handler = self._handlers.get(method)
        if handler is None:
            return False
        handler(params, session_id)
        return True

    def _frame_navigated(self, params: Mapping[str, Any], session_id: str | None) -> None:
        frame = self._show(params["frame"], session_id)
        if frame.parent_id is None and session_id is None:
            self.main_frame_id = frame.frame_id
            self.navigating_to = None
            self.navigations += 1
            # The end of a request of the document that was left may never be reported.
            self.requests = {key: value for key, value in self.requests.items() if key == frame.loader_id}

    def _navigated_within_document(self, params: Mapping[str, Any], session_id: str | None) -> None:
        frame = self._still_in(session_id, params["frameId"])
        if frame:
            frame.url = shown_url(params["url"])
        if params["frameId"] == self.main_frame_id:
            self.moves_within += 1

    def take_schemes_for_apps(self) -> tuple[str, ...]:
        """Schemes for other apps (`tel`) that frames have navigated to since the last call."""
        schemes, self._for_apps = tuple(self._for_apps), {}
        return schemes

    def _is_for_apps(self, params: Mapping[str, Any]) -> bool:
        found = _SCHEME.match(params.get("url") or "")
        if found is None or (scheme := found[1].lower()) in _OPENED or scheme.startswith("chrome"):
            return False
        if len(self._for_apps) < _SCHEMES_KEPT:
            self._for_apps[scheme] = None
        return True

    def _navigation_scheduled(self, params: Mapping[str, Any], session_id: str | None) -> None:
        # Reported for every link and script, also where the navigation is prevented.
        self._is_for_apps(params)

    def _navigation_wanted(self, params: Mapping[str, Any], session_id: str | None) -> None:
        if self._is_for_apps(params):
            return
        # `frameStartedNavigating` also reports navigations inside the document, which commit without a new loader.
        if (
            "sameDocument" in str(params.get("navigationType", ""))
            or params.get("disposition", "currentTab") != "currentTab"
        ):
            return
        if params["frameId"] == self.main_frame_id:
            self.navigating_to = params.get("url") or "?"

    def _stopped_loading(self, params: Mapping[str, Any], session_id: str | None) -> None:
        if params["frameId"] == self.main_frame_id:
            self.navigating_to = None

    def _take_request(self, method: str, params: Mapping[str, Any], session_id: str | None) -> bool:
        entry = self._network_event(method, params, session_id)
        if entry is None:
            return False
        if entry.is_document and entry.frame_id == self.main_frame_id:
            if method == "Network.requestWillBeSent":
                self.navigating_to = entry.url.partition("#")[0]
            elif method == "Network.loadingFailed":
                self.main_failure_count += 1
                if (
                    self.failures.get(entry.request_id) == _ABORTED
                    and self.navigating_to == entry.url.partition("#")[0]
                ):
                    self.navigating_to = None  # the document stays, and no other event says so
        return True

    def _dialog_opening(self, params: Mapping[str, Any], session_id: str | None) -> None:
        self.dialog = Dialog(
            kind=params.get("type", "alert"),
            message=params.get("message", ""),
            url=params.get("url", ""),
            default_prompt=params.get("defaultPrompt", ""),
        )

    def _dialog_closed(self, params: Mapping[str, Any], session_id: str | None) -> None:
        self.dialog = None

    def _crashed(self, params: Mapping[str, Any], session_id: str | None) -> None:
        if session_id is None:
            self.crashed = True
            return
        self._forget_contexts(session_id)
        for frame in self.frames.values():
            frame.is_crashed |= frame.session_id == session_id

    def _detached(self, params: Mapping[str, Any], session_id: str | None) -> None:
        if session_id is None:
            self.detached_reason = str(params.get("reason", "detached"))

    def _target_attached(self, params: Mapping[str, Any], session_id: str | None) -> None:
        target = params["targetInfo"]
        if target.get("type") == "iframe":
            frame_id = target["targetId"]
            frame = self.frames.setdefault(frame_id, Frame(frame_id, target.get("parentFrameId")))
            frame.session_id, frame.is_crashed = params["sessionId"], False

    def _target_detached(self, params: Mapping[str, Any], session_id: str | None) -> None:
        """The frame is gone, or has moved to another renderer, which reports it."""
        gone = params["sessionId"]
        self._forget_contexts(gone)
        left = {frame.frame_id for frame in self.frames.values() if frame.session_id == gone}
        self._forget_below(left)
        for frame_id in left:
            self.frames.pop(frame_id, None)
        self.requests = {key: request for key, request in self.requests.items() if request.session_id != gone}

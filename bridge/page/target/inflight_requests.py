"""What a page has asked the network for and has not got yet, and how its documents were answered."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Requests that say nothing about whether a page has finished reacting.
_BACKGROUND_TYPES = frozenset({"WebSocket", "EventSource", "Media", "Ping", "CSPViolationReport", "Prefetch", "Other"})
_KEPT = 50


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
    session_id: str | None = None


class Requests:
    """Those in flight by id, numbered as they come; the latest answers and failures of documents."""

    def __init__(self) -> None:
        self.requests: dict[str, Request] = {}
        self.request_order = 0
        self.responses: dict[str, Response] = {}
        self.failures: dict[str, str] = {}
        self.main_failure_count = 0
        self.certificate_errors: deque[str] = deque(maxlen=1)

    def requests_since(self, order: int) -> list[Request]:
        """Requests in flight that began after `order` and that a reacting page may be waiting for."""
        return [
            request
            for request in self.requests.values()
            if request.order > order and request.kind not in _BACKGROUND_TYPES
        ]

    def _add_request(self, params: Mapping[str, Any], session_id: str | None, main_frame_id: str | None) -> Request:
        self.request_order += 1
        request_id = params["requestId"]
        kind = params.get("type", "Other")
        url = params.get("request", {}).get("url", "")
        is_main = kind == "Document" and params.get("frameId") == main_frame_id and request_id == params.get("loaderId")
        request = Request(request_id, url, kind, self.request_order, is_main, session_id)
        self.requests[request_id] = request
        return request

    def _response_received(self, params: Mapping[str, Any], session_id: str | None) -> None:
        if params.get("type") == "Document":
            answer = params["response"]
            self.responses[params["requestId"]] = Response(
                answer.get("url", ""), int(answer.get("status", 0)), answer.get("mimeType", "")
            )
            while len(self.responses) > _KEPT:
                self.responses.pop(next(iter(self.responses)))

    def _request_done(self, params: Mapping[str, Any], session_id: str | None) -> None:
        self.requests.pop(params["requestId"], None)

    def _request_failed(self, params: Mapping[str, Any], session_id: str | None) -> None:
        request = self.requests.pop(params["requestId"], None)
        if request and request.kind == "Document":
            self.failures[request.request_id] = params.get("errorText", "")
            self.main_failure_count += request.is_main
            while len(self.failures) > _KEPT:
                self.failures.pop(next(iter(self.failures)))

    def _certificate_error(self, params: Mapping[str, Any], session_id: str | None) -> None:
        self.certificate_errors.append(str(params.get("errorType", "")))

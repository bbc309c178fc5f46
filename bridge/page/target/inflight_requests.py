"""Requests of a page that have not ended, and responses and failures of its documents: a view of the request entries.

Navigation and settling read it. The entries come from `logs/request_reducer.py`, which also feeds the session's log.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, TypeVar

from bridge.page.logs.request_entry import RequestEntry
from bridge.page.logs.request_reducer import RequestReducer

# Requests that do not show whether a page has finished reacting.
_BACKGROUND_TYPES = frozenset({"websocket", "eventsource", "media", "ping", "cspviolationreport", "prefetch", "other"})
_DOCUMENTS_KEPT = 50
_T = TypeVar("_T")


class InflightRequests:
    """Requests in flight, and the latest responses and failures of documents.

    Attributes:
        requests: By request id. Those of a document that was left are dropped: their end may never be reported.
        request_order: How many requests have begun over this connection.
        statuses: HTTP statuses of documents that have a response, by loader id.
        failures: Chromium's net error of documents that failed, by loader id.
    """

    def __init__(self, reducer: RequestReducer | None = None) -> None:
        self.requests: dict[str, RequestEntry] = {}
        self.request_order = 0
        self.statuses: dict[str, int | None] = {}
        self.failures: dict[str, str] = {}
        self.main_failure_count = 0
        self.certificate_errors: deque[str] = deque(maxlen=1)
        self._reducer = reducer or RequestReducer()

    def requests_since(self, order: int) -> list[RequestEntry]:
        """Requests in flight that began after `order` and that a reacting page may be waiting for."""
        return [
            entry
            for entry in self.requests.values()
            if entry.order > order and entry.resource_type not in _BACKGROUND_TYPES
        ]

    def _network_event(self, method: str, params: Mapping[str, Any], session_id: str | None) -> RequestEntry | None:
        """Take an event of the Network domain; return its entry where this view is concerned, else None."""
        entry = self._reducer.reduce(method, params, session_id)
        if entry is None:
            return None
        match method:
            case "Network.requestWillBeSent":
                self.request_order = entry.order
                self.requests[entry.request_id] = entry
            case "Network.responseReceived":
                if entry.resource_type == "document":
                    _keep(self.statuses, entry.request_id, entry.status)
            case "Network.loadingFinished":
                self.requests.pop(entry.request_id, None)
            case "Network.loadingFailed":
                self.requests.pop(entry.request_id, None)
                if entry.resource_type == "document":
                    _keep(self.failures, entry.request_id, entry.net_error)
            case _:
                return None
        return entry

    def _certificate_error(self, params: Mapping[str, Any], session_id: str | None) -> None:
        self.certificate_errors.append(str(params.get("errorType", "")))


def _keep(documents: dict[str, _T], loader_id: str, found: _T) -> None:
    documents[loader_id] = found
    while len(documents) > _DOCUMENTS_KEPT:
        documents.pop(next(iter(documents)))

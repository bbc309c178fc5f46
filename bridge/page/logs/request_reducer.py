"""Reduces the `Network.*` events of one connection to one `RequestEntry` per request. Bodies are not kept.

These events are read here and nowhere else: the session's log and a page's requests in flight are two views of the
entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bridge.page.logs import websocket_entries
from bridge.page.logs.headers import URL_CHARS, kept_headers
from bridge.page.logs.request_entry import DocumentTimes, RequestEntry

_EARLY_KEPT = 100
_PENDING_KEPT = 5_000
_EXTRA_INFO = "Network.requestWillBeSentExtraInfo"


class RequestReducer:
    """The requests of one connection to one tab. Called by the connection's reader task.

    Args:
        on_request: Takes each new entry, which later events go on to fill.
        on_document: Takes the times of each document that a top frame or a frame loads.
    """

    def __init__(
        self,
        tab_id: str = "",
        on_request: Callable[[RequestEntry], None] | None = None,
        on_document: Callable[[DocumentTimes], None] | None = None,
    ) -> None:
        self._tab_id = tab_id
        self._on_request = on_request
        self._on_document = on_document
        self._http_requests = 0
        self._pending: dict[str, RequestEntry] = {}
        # The extra info, with the headers as sent, may come before the event that begins its request.
        self._early_headers: dict[str, dict[str, str]] = {}

    def reduce(self, method: str, params: Mapping[str, Any], session_id: str | None = None) -> RequestEntry | None:
        """Take one event and return the entry that it is about.

        Returns None for an event of another domain, for a request whose beginning was not seen, and where the fields
        have a shape that is not known: a newer WebView's event must not stop the others.
        """
        try:
            if method == "Network.requestWillBeSent":
                return self._begin_request(str(params["requestId"]), params, session_id)
            if method == "Network.webSocketCreated":
                return self._begin_websocket(str(params["requestId"]), params, session_id)
            if (update := _UPDATES.get(method)) is None:
                return None
            request_id = str(params["requestId"])
            entry = self._pending.get(request_id)
            if entry is not None:
                update(entry, params)
            elif method == _EXTRA_INFO:
                self._keep_early_headers(request_id, params)
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        if entry is not None and entry.ended_at is not None:
            del self._pending[request_id]
        return entry

    def lose_pending(self) -> None:
        """Mark the requests whose end this connection will not report."""
        for entry in self._pending.values():
            entry.state = "lost"

    def _begin_request(self, request_id: str, params: Mapping[str, Any], session_id: str | None) -> RequestEntry:
        request, redirect = params["request"], params.get("redirectResponse")
        before = self._pending.pop(request_id, None)
        if before is not None and isinstance(redirect, Mapping):
            _take_response(before, redirect)
            before.redirect_url = str(request.get("url", ""))
            _end(before, params, "redirected", _number(redirect, "encodedDataLength"))
        self._http_requests += 1
        entry = RequestEntry(
            tab_id=self._tab_id,
            request_id=request_id,
            session_id=session_id,
            order=self._http_requests,
            loader_id=str(params.get("loaderId", "")),
            frame_id=str(params.get("frameId", "")),
            url=(str(request.get("url", "")) + str(request.get("urlFragment", "")))[:URL_CHARS],
            method=str(request.get("method", "")),
            resource_type=str(params.get("type", "Other")).lower(),
            started_s=_number(params, "wallTime"),
            started_at=_number(params, "timestamp"),
            initiator=_initiator(params.get("initiator")),
            request_headers={**kept_headers(request.get("headers")), **self._early_headers.pop(request_id, {})},
            post_bytes=len(str(request.get("postData", "")).encode("utf-8", "replace")),
        )
        self._begin(entry)
        if self._on_document is not None and entry.is_document:
            self._on_document(
                DocumentTimes(entry.tab_id, entry.loader_id, entry.url, entry.started_s, entry.started_at)
            )
        return entry

    def _begin_websocket(self, request_id: str, params: Mapping[str, Any], session_id: str | None) -> RequestEntry:
        entry = RequestEntry(
            tab_id=self._tab_id,
            request_id=request_id,
            session_id=session_id,
            url=str(params.get("url", ""))[:URL_CHARS],
            method="GET",
            resource_type="websocket",
        )
        self._begin(entry)
        return entry

    def _begin(self, entry: RequestEntry) -> None:
        self._pending[entry.request_id] = entry
        if len(self._pending) > _PENDING_KEPT:
            self._pending.pop(next(iter(self._pending))).state = "lost"
        if self._on_request is not None:
            self._on_request(entry)

    def _keep_early_headers(self, request_id: str, params: Mapping[str, Any]) -> None:
        self._early_headers[request_id] = kept_headers(params.get("headers"))
        if len(self._early_headers) > _EARLY_KEPT:  # of requests that never began
            del self._early_headers[next(iter(self._early_headers))]


def _sent_headers(entry: RequestEntry, params: Mapping[str, Any]) -> None:
    entry.request_headers.update(kept_headers(params.get("headers")))


def _response_received(entry: RequestEntry, params: Mapping[str, Any]) -> None:
    entry.resource_type = str(params.get("type", entry.resource_type)).lower()
    _take_response(entry, params["response"])


def _received_headers(entry: RequestEntry, params: Mapping[str, Any]) -> None:
    entry.response_headers.update(kept_headers(params.get("headers")))


def _data_received(entry: RequestEntry, params: Mapping[str, Any]) -> None:
    entry.body_bytes += int(_number(params, "dataLength"))
    entry.encoded_bytes += int(_number(params, "encodedDataLength"))


def _finished(entry: RequestEntry, params: Mapping[str, Any]) -> None:
    _end(entry, params, "done", _number(params, "encodedDataLength"))


def _failed(entry: RequestEntry, params: Mapping[str, Any]) -> None:
    cors = params.get("corsErrorStatus")
    reason = params.get("blockedReason") or (cors.get("corsError") if isinstance(cors, Mapping) else "")
    entry.net_error = str(params.get("errorText", ""))
    entry.failure = " ".join(str(part) for part in (entry.net_error or "failed", reason) if part)
    _end(entry, params, "failed", entry.encoded_bytes)


def _served_from_cache(entry: RequestEntry, _params: Mapping[str, Any]) -> None:
    entry.from_cache = True


_UPDATES: dict[str, Callable[[RequestEntry, Mapping[str, Any]], None]] = {
    **websocket_entries.UPDATES,
    _EXTRA_INFO: _sent_headers,
    "Network.responseReceived": _response_received,
    "Network.responseReceivedExtraInfo": _received_headers,
    "Network.dataReceived": _data_received,
    "Network.loadingFinished": _finished,
    "Network.loadingFailed": _failed,
    "Network.requestServedFromCache": _served_from_cache,
}


def _end(entry: RequestEntry, params: Mapping[str, Any], state: str, encoded_bytes: float) -> None:
    entry.ended_at = _number(params, "timestamp", entry.started_at)
    entry.encoded_bytes = max(0, int(encoded_bytes))
    entry.state = state


def _take_response(entry: RequestEntry, response: Mapping[str, Any]) -> None:
    entry.status = int(_number(response, "status")) or None
    entry.status_text = str(response.get("statusText", ""))
    entry.protocol = str(response.get("protocol", ""))
    entry.mime_type = str(response.get("mimeType", ""))
    entry.response_headers.update(kept_headers(response.get("headers")))
    sent = response.get("requestHeaders")
    if isinstance(sent, Mapping):
        entry.request_headers.update(kept_headers(sent))
    entry.from_cache = entry.from_cache or bool(response.get("fromDiskCache") or response.get("fromServiceWorker"))
    address, port = response.get("remoteIPAddress"), response.get("remotePort")
    entry.remote_address = f"{address}:{port}" if address else ""
    timing = response.get("timing")
    if isinstance(timing, Mapping):
        entry.timing = {str(name): float(value) for name, value in timing.items() if isinstance(value, int | float)}


def _number(fields: Mapping[str, Any], name: str, default: float = 0.0) -> float:
    value = fields.get(name)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else default


def _initiator(initiator: Any) -> str:
    """The initiator with the innermost script location that has a URL: `script https://a.example/:12`."""
    if not isinstance(initiator, Mapping):
        return ""
    kind, place = str(initiator.get("type", "other")), ""
    trace = initiator.get("stack")
    frames: Iterable[Any] = trace.get("callFrames", ()) if isinstance(trace, Mapping) else ()
    for frame in frames:
        if isinstance(frame, Mapping) and frame.get("url"):
            place = f"{frame['url']}:{int(_number(frame, 'lineNumber')) + 1}"
            break
    if not place and initiator.get("url"):
        line = initiator.get("lineNumber")
        place = f"{initiator['url']}:{int(line) + 1}" if isinstance(line, int | float) else str(initiator["url"])
    return f"{kind} {place[:500]}".strip()

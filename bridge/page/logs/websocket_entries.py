"""WebSockets in the network log: an entry from the handshake to the close, with how much went each way and never what.

Chromium tells of them by events of their own (CDP, Network.webSocketCreated and those after it).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bridge.page.logs.headers import URL_CHARS, kept_headers

if TYPE_CHECKING:
    from bridge.page.logs.request_events import Requests

_Key = tuple[str, str]


def _created(requests: Requests, key: _Key, params: Mapping[str, Any]) -> None:
    requests.begin(key, url=str(params.get("url", ""))[:URL_CHARS], method="GET", resource_type="websocket")


def _asked(requests: Requests, key: _Key, params: Mapping[str, Any]) -> None:
    if (entry := requests.under_way(key)) is not None:
        entry.started_s, entry.started_at = float(params.get("wallTime", 0)), float(params.get("timestamp", 0))
        entry.request_headers = kept_headers(params.get("request", {}).get("headers"))


def _answered(requests: Requests, key: _Key, params: Mapping[str, Any]) -> None:
    if (entry := requests.under_way(key)) is not None:
        response = params.get("response", {})
        entry.status, entry.status_text = int(response.get("status", 0)), str(response.get("statusText", ""))
        entry.response_headers = kept_headers(response.get("headers"))
        entry.protocol = "http/1.1"


def _sent(requests: Requests, key: _Key, params: Mapping[str, Any]) -> None:
    if (entry := requests.under_way(key)) is not None:
        entry.messages_sent += 1
        entry.post_bytes += _size(params)


def _received(requests: Requests, key: _Key, params: Mapping[str, Any]) -> None:
    if (entry := requests.under_way(key)) is not None:
        entry.messages_received += 1
        entry.body_bytes += _size(params)


def _failed(requests: Requests, key: _Key, params: Mapping[str, Any]) -> None:
    if (entry := requests.under_way(key)) is not None:
        entry.failure = str(params.get("errorMessage", "failed"))[:500]


def _closed(requests: Requests, key: _Key, params: Mapping[str, Any]) -> None:
    if (entry := requests.under_way(key)) is not None:
        # Without an answer there was no WebSocket to close.
        requests.end(key, "failed" if entry.failure or entry.status is None else "done", params.get("timestamp"))


def _size(params: Mapping[str, Any]) -> int:
    """Bytes of a message; binary ones come in Base64 (opcode 2, RFC 6455 §5.2)."""
    response = params.get("response", {})
    payload = str(response.get("payloadData", ""))
    if response.get("opcode") == 2:
        return len(payload) * 3 // 4 - payload[-2:].count("=")
    return len(payload.encode("utf-8", "replace"))


HANDLERS: dict[str, Callable[[Requests, _Key, Mapping[str, Any]], None]] = {
    "Network.webSocketCreated": _created,
    "Network.webSocketWillSendHandshakeRequest": _asked,
    "Network.webSocketHandshakeResponseReceived": _answered,
    "Network.webSocketFrameSent": _sent,
    "Network.webSocketFrameReceived": _received,
    "Network.webSocketFrameError": _failed,
    "Network.webSocketClosed": _closed,
}

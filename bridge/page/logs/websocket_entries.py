"""WebSocket events of the Network domain: handshake, message counts and sizes, close. Messages are not kept.

Chromium reports WebSockets by events of their own (CDP, Network.webSocketCreated and those after it).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bridge.page.logs.headers import kept_headers
from bridge.page.logs.request_entry import RequestEntry


def _handshake_sent(entry: RequestEntry, params: Mapping[str, Any]) -> None:
    entry.started_s, entry.started_at = float(params.get("wallTime", 0)), float(params.get("timestamp", 0))
    entry.request_headers = kept_headers(params.get("request", {}).get("headers"))


def _handshake_received(entry: RequestEntry, params: Mapping[str, Any]) -> None:
    response = params.get("response", {})
    entry.status, entry.status_text = int(response.get("status", 0)), str(response.get("statusText", ""))
    entry.response_headers = kept_headers(response.get("headers"))
    entry.protocol = "http/1.1"


def _message_sent(entry: RequestEntry, params: Mapping[str, Any]) -> None:
    entry.messages_sent += 1
    entry.post_bytes += _message_bytes(params)


def _message_received(entry: RequestEntry, params: Mapping[str, Any]) -> None:
    entry.messages_received += 1
    entry.body_bytes += _message_bytes(params)


def _failed(entry: RequestEntry, params: Mapping[str, Any]) -> None:
    entry.failure = str(params.get("errorMessage", "failed"))[:500]


def _closed(entry: RequestEntry, params: Mapping[str, Any]) -> None:
    at = params.get("timestamp")
    entry.ended_at = float(at) if isinstance(at, int | float) else entry.started_at
    # Without a handshake response there was no WebSocket to close.
    entry.state = "failed" if entry.failure or entry.status is None else "done"


def _message_bytes(params: Mapping[str, Any]) -> int:
    """Size of a message; a binary one comes in Base64 (opcode 2, RFC 6455 §5.2)."""
    response = params.get("response", {})
    payload = str(response.get("payloadData", ""))
    if response.get("opcode") == 2:
        return len(payload) * 3 // 4 - payload[-2:].count("=")
    return len(payload.encode("utf-8", "replace"))


UPDATES: dict[str, Callable[[RequestEntry, Mapping[str, Any]], None]] = {
    "Network.webSocketWillSendHandshakeRequest": _handshake_sent,
    "Network.webSocketHandshakeResponseReceived": _handshake_received,
    "Network.webSocketFrameSent": _message_sent,
    "Network.webSocketFrameReceived": _message_received,
    "Network.webSocketFrameError": _failed,
    "Network.webSocketClosed": _closed,
}

"""HTTP requests and responses of a devtools socket (Chromium, content/browser/devtools/devtools_http_handler.cc)."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_HEAD_BYTES = 16 * 1024
_REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 500: "Internal Server Error"}
_WEBSOCKET_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_HOST_REFUSED = "Host header is specified and is not an IP address or localhost."


@dataclass(frozen=True)
class HttpRequest:
    """An HTTP request; header names are lower-case, and a repeated header keeps its last value."""

    method: str
    path: str
    headers: Mapping[str, str]

    @property
    def is_websocket(self) -> bool:
        return self.headers.get("upgrade", "").lower() == "websocket"


class BadRequest(ValueError):
    """The bytes are not an HTTP request."""


def parse_request(head: bytes) -> HttpRequest:
    """Parses a request head, which ends with an empty line; BadRequest if it is malformed."""
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest(lines[0][:80])
    headers = {}
    for line in lines[1:]:
        if line:
            name, colon, value = line.partition(":")
            if not colon:
                raise BadRequest(line[:80])
            headers[name.strip().lower()] = value.strip()
    return HttpRequest(words[0], words[1], headers)


def refusal(request: HttpRequest) -> bytes | None:
    """The response to a request with a refused Host or Origin; None if both are acceptable."""
    host = request.headers.get("host", "")
    if host and not _host_allowed(host):
        return response(500, _HOST_REFUSED)
    origin = request.headers.get("origin")
    if request.is_websocket and origin is not None:
        return response(
            403,
            f"Rejected an incoming WebSocket connection from the {origin} origin. Use the command line flag "
            f"--remote-allow-origins={origin} to allow connections from this origin or --remote-allow-origins=* "
            "to allow all origins.",
        )
    return None


def _host_allowed(host: str) -> bool:
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name == "localhost":
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def response(status: int, text: str) -> bytes:
    return _response(status, text.encode(), "text/html")


def json_response(value: Any) -> bytes:
    return _response(200, json.dumps(value, indent=3, ensure_ascii=False).encode(), "application/json; charset=UTF-8")


def _response(status: int, body: bytes, content_type: str) -> bytes:
    head = f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Length:{len(body)}\r\nContent-Type:{content_type}\r\n\r\n"
    return head.encode() + body


def upgrade_response(request: HttpRequest) -> bytes:
    """Accepts a WebSocket handshake (RFC 6455 §4.2.2), without extensions: compressed frames could not be inspected.

    Raises:
        BadRequest: The request has no key, or another version of the protocol.
    """
    key = request.headers.get("sec-websocket-key", "")
    if not key or request.headers.get("sec-websocket-version", "13") != "13":
        raise BadRequest("not a WebSocket handshake")
    accept = base64.b64encode(hashlib.sha1(key.encode("latin-1") + _WEBSOCKET_GUID).digest())  # noqa: S324
    return (
        b"HTTP/1.1 101 WebSocket Protocol Handshake\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )

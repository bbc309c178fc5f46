"""HTTP/1.1 messages for a proxy: heads, framing, and the proxy's own error pages (RFC 9112, RFC 9110 §7.6.1). Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

from bridge.policy.address import Address, parse_address

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([0-9]{3})(?: .*)?")
_BAD_VALUE = re.compile(rb"[\x00\r\n]")
_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"te",
        b"upgrade",
    }
)
MAX_CONTENT_BYTES = 1 << 50
_MAX_HEADER_LINES = 1000
CHUNKED, UNTIL_CLOSE = -1, -2

Headers = tuple[tuple[bytes, bytes], ...]


class InvalidMessage(ValueError):
    """Bytes that are not an HTTP/1.1 message, or one that two readers could read differently."""


class InvalidResponse(Exception):
    """A response that is an `InvalidMessage`, or breaks the protocol otherwise."""


@dataclass(frozen=True, slots=True)
class RequestHead:
    """A request's head.

    Attributes:
        body: Length of the body in bytes, or CHUNKED.
        keeps_alive: Whether the client wants to keep the connection open.
    """

    method: str
    target: str
    headers: Headers
    body: int
    keeps_alive: bool


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """A response's head.

    Attributes:
        body: Length of the body in bytes, CHUNKED or UNTIL_CLOSE.
        keeps_alive: Whether the server keeps the connection open.
    """

    status: int
    line: bytes
    headers: Headers
    body: int
    keeps_alive: bool


def parse_request(head: bytes) -> RequestHead:
    """Parse a request's head, with its empty line.

    Raises:
        InvalidMessage: The head is malformed or ambiguous.
    """
    line, headers = _split(head)
    parts = line.split(b" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or parts[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
        raise InvalidMessage("the request line is malformed")
    try:
        target = parts[1].decode("ascii")
    except UnicodeDecodeError as error:
        raise InvalidMessage("the target is not ASCII") from error
    framing = _framing(headers)
    tokens = _tokens(headers, b"connection") | _tokens(headers, b"proxy-connection")
    keeps_alive = b"close" not in tokens and (parts[2] == b"HTTP/1.1" or b"keep-alive" in tokens)
    return RequestHead(parts[0].decode(), target, headers, 0 if framing is None else framing, keeps_alive)


def parse_response(head: bytes, method: str) -> ResponseHead:
    """Parse the head of a response to a request with this method.

    Raises:
        InvalidMessage: The head is malformed or ambiguous.
    """
    line, headers = _split(head)
    found = _STATUS_LINE.fullmatch(line)
    if found is None:
        raise InvalidMessage("the status line is malformed")
    status = int(found[1])
    framing = _framing(headers)
    if method == "HEAD" or status < 200 or status in (204, 304):
        framing = 0
    body = UNTIL_CLOSE if framing is None else framing
    tokens = _tokens(headers, b"connection")
    keeps_alive = body != UNTIL_CLOSE and b"close" not in tokens
    if line.startswith(b"HTTP/1.0"):
        keeps_alive = keeps_alive and b"keep-alive" in tokens
    return ResponseHead(status, b"HTTP/1.1" + line[8:], headers, body, keeps_alive)


def parse_connect_target(target: str) -> Address:
    """The address in CONNECT's target, which must have a host and a port (RFC 9110 §9.3.6)."""
    if target.count(":") < 1 or any(character in target for character in "/\\?#@") or not target[-1:].isdigit():
        raise InvalidMessage("the target of CONNECT must be a host and a port")
    address = parse_address(f"http://{target}/")
    if address.host is None or address.port is None:
        raise InvalidMessage("the target of CONNECT is not a valid host and port")
    return address


def parse_absolute_target(target: str) -> tuple[Address, str]:
    """The address and the path of a target in absolute form. A target in origin form would be for the gate itself."""
    address = parse_address(target)
    if address.scheme != "http" or address.host is None or address.port is None:
        raise InvalidMessage("the target is not an absolute http: URL")
    authority_end = address.url.index("/", len("http://"))
    return address, address.url[authority_end:].partition("#")[0]


def end_to_end(headers: Headers) -> Iterable[tuple[bytes, bytes]]:
    """Headers to forward: without those for this connection only, and those that Connection lists."""
    named = _tokens(headers, b"connection") - {b"transfer-encoding", b"content-length", b"host"}
    return ((name, value) for name, value in headers if name.lower() not in _HOP_BY_HOP | named)


def forwarded_request(request: RequestHead, host: str, target: str) -> bytes:
    """The head for the server: a new Host (RFC 9112 §3.2.2), the path as target, only end-to-end headers."""
    headers = [(b"Host", host.encode("ascii"))]
    headers += [pair for pair in end_to_end(request.headers) if pair[0].lower() != b"host"]
    return _joined(f"{request.method} {target} HTTP/1.1".encode("ascii"), headers)


def forwarded_response(response: ResponseHead, *, keeps_alive: bool) -> bytes:
    """The head for the client."""
    headers = list(end_to_end(response.headers))
    if not keeps_alive:
        headers.append((b"Connection", b"close"))
    return _joined(response.line, headers)


def error_page(status: int, title: str, text: str, hint: str = "", *, code: str) -> bytes:
    """A complete response of the gate itself; programs find the reason, `code`, in X-Webview-Bridge."""
    reasons = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Timeout"}
    body = (
        f'<!doctype html><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<h1>{html.escape(title)}</h1><p>{html.escape(text)}</p>"
        + (f"<p>{html.escape(hint)}</p>" if hint else "")
        + "<p>This page is from the webview-bridge egress gate, not from the site.</p>\n"
    ).encode("utf-8", "replace")
    head = (
        f"HTTP/1.1 {status} {reasons.get(status, 'Error')}\r\nContent-Type: text/html; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\nX-Webview-Bridge: {code}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode("ascii") + body


def _split(head: bytes) -> tuple[bytes, Headers]:
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    if len(lines) > _MAX_HEADER_LINES:
        raise InvalidMessage("there are too many header lines")
    headers = []
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        if not colon or not _TOKEN.fullmatch(name) or _BAD_VALUE.search(value):
            raise InvalidMessage("a header line is malformed")
        headers.append((name, value.strip(b" \t")))
    if _BAD_VALUE.search(lines[0]):
        raise InvalidMessage("the first line is malformed")
    return lines[0], tuple(headers)


def _framing(headers: Headers) -> int | None:
    """RFC 9112 §6.3: CHUNKED, a length, or None for neither. Both at once would allow request smuggling: refused."""
    lengths = {value for name, value in headers if name.lower() == b"content-length"}
    encodings = [value.lower() for name, value in headers if name.lower() == b"transfer-encoding"]
    if encodings:
        if lengths or encodings != [b"chunked"]:
            raise InvalidMessage("the length of the body is ambiguous")
        return CHUNKED
    if not lengths:
        return None
    (length, *others) = lengths
    if others or not length.isdigit() or len(length) > 16 or int(length) > MAX_CONTENT_BYTES:
        raise InvalidMessage("the length of the body is ambiguous")
    return int(length)


def _tokens(headers: Headers, name: bytes) -> frozenset[bytes]:
    joined = b",".join(value for key, value in headers if key.lower() == name)
    return frozenset(token.strip().lower() for token in joined.split(b",") if token.strip())


def _joined(line: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    return b"\r\n".join((line, *(name + b": " + value for name, value in headers), b"", b""))

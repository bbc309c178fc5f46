"""HTTP/1.1 as a proxy reads it: heads, framing, and the pages of its own (RFC 9112, RFC 9110 §7.6.1). Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

from bridge.policy.address import parse_address

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
CHUNKED, UNTIL_CLOSE = -1, -2

Headers = tuple[tuple[bytes, bytes], ...]


class InvalidMessage(ValueError):
    """Bytes that are no HTTP/1.1 message that we would pass on."""


class InvalidResponse(Exception):
    """A server's message that is one of those."""


@dataclass(frozen=True, slots=True)
class RequestHead:
    """Attributes:
    body: Its length in bytes, or CHUNKED.
    keeps_alive: Whether the client wants the connection to stay.
    """

    method: str
    target: str
    headers: Headers
    body: int
    keeps_alive: bool


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """Attributes:
    body: Its length in bytes, CHUNKED or UNTIL_CLOSE.
    keeps_alive: Whether the server keeps the connection.
    """

    status: int
    line: bytes
    headers: Headers
    body: int
    keeps_alive: bool


def parse_request(head: bytes) -> RequestHead:
    """A request's head with its empty line; InvalidMessage where two readers could read it differently."""
    line, headers = _split(head)
    parts = line.split(b" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or parts[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
        raise InvalidMessage("the request line is malformed")
    try:
        target = parts[1].decode("ascii")
    except UnicodeDecodeError as error:
        raise InvalidMessage("the target is not ASCII") from error
    framing = _framing(headers)
    words = _words(headers, b"connection") | _words(headers, b"proxy-connection")
    keeps_alive = b"close" not in words and (parts[2] == b"HTTP/1.1" or b"keep-alive" in words)
    return RequestHead(parts[0].decode(), target, headers, 0 if framing is None else framing, keeps_alive)


def parse_response(head: bytes, method: str) -> ResponseHead:
    """A response's head to a request of that method."""
    line, headers = _split(head)
    found = _STATUS_LINE.fullmatch(line)
    if found is None:
        raise InvalidMessage("the status line is malformed")
    status = int(found[1])
    framing = _framing(headers)
    if method == "HEAD" or status < 200 or status in (204, 304):
        framing = 0
    body = UNTIL_CLOSE if framing is None else framing
    words = _words(headers, b"connection")
    keeps_alive = body != UNTIL_CLOSE and b"close" not in words
    if line.startswith(b"HTTP/1.0"):
        keeps_alive = keeps_alive and b"keep-alive" in words
    return ResponseHead(status, b"HTTP/1.1" + line[8:], headers, body, keeps_alive)


def parse_connect_target(target: str) -> tuple[str, int]:
    """Host and port of CONNECT's target, which has to name both (RFC 9110 §9.3.6)."""
    if target.count(":") < 1 or any(character in target for character in "/\\?#@") or not target[-1:].isdigit():
        raise InvalidMessage("CONNECT names a host and a port")
    address = parse_address(f"http://{target}/")
    if address.host is None or address.port is None:
        raise InvalidMessage("CONNECT names no host and port that can be read")
    return address.host, address.port


def parse_absolute_target(target: str) -> tuple[str, int, str]:
    """Host, port and path of a target in parse_absolute_target form; a request for the gate itself is none."""
    address = parse_address(target)
    if address.scheme != "http" or address.host is None or address.port is None:
        raise InvalidMessage("its target is no parse_absolute_target http: URL")
    authority_end = address.url.index("/", len("http://"))
    return address.host, address.port, address.url[authority_end:].partition("#")[0]


def end_to_end(headers: Headers) -> Iterable[tuple[bytes, bytes]]:
    """The headers that are passed on: none that is for this connection only, nor one that Connection names."""
    named = _words(headers, b"connection") - {b"transfer-encoding", b"content-length", b"host"}
    return ((name, value) for name, value in headers if name.lower() not in _HOP_BY_HOP | named)


def forwarded_request(request: RequestHead, host: str, target: str) -> bytes:
    """The head for the server: its own Host (RFC 9112 §3.2.2), the path alone, only end-to-end headers."""
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
    """A whole answer of the gate itself; `code` names the reason for programs in X-Webview-Bridge."""
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
    """RFC 9112 §6.3: chunked, a length, or neither. Both at once is how requests are smuggled: refused."""
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


def _words(headers: Headers, name: bytes) -> frozenset[bytes]:
    joined = b",".join(value for key, value in headers if key.lower() == name)
    return frozenset(word.strip().lower() for word in joined.split(b",") if word.strip())


def _joined(line: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    return b"\r\n".join((line, *(name + b": " + value for name, value in headers), b"", b""))

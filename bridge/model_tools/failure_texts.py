"""Texts of failures for clients that match how they begin: only the bridge's own words and facts that it checked."""

from __future__ import annotations

import http
import mimetypes
import re

from bridge.errors import (
    BridgeError,
    DeadlineExceeded,
    EmptyBody,
    FetchFailed,
    HttpFailed,
    NameNotResolved,
    NavigationFailed,
    NotText,
    RequestTimedOut,
    TlsFailed,
    TooManyRedirects,
    followed_by,
)
from bridge.model_tools.tool_result import ToolResult
from bridge.policy.address import parse_address
from bridge.snapshot.escape import clean, cut

_CAUSE_CHARS = 300
_WORD = re.compile(r"\w+")
_NET_ERROR = re.compile(r"net::ERR_[A-Z0-9_]{1,60}")
# Words of V8's messages (chromium/v8: src/common/message-template.h) and of DOMExceptions around names from a script.
_ENGINE_WORDS = frozenset(
    """
    Uncaught Error ReferenceError TypeError SyntaxError RangeError EvalError URIError DOMException AggregateError
    is not defined a function constructor iterable an object Cannot read set properties property of null undefined
    reading setting access before initialization Assignment to constant variable Identifier has already been declared
    Unexpected token identifier string number end input reserved word strict mode template eval or arguments
    Invalid invalid regular expression flags missing after argument list Illegal return break continue statement await
    only valid in async functions and the top level bodies modules Maximum call stack size exceeded Missing initializer
    const declaration Failed execute on Document Element querySelector querySelectorAll selector JSON position at line
    column Promise was collected Converting circular structure Do know how serialize BigInt delete private field class
    extends value super new target with left hand side for loop assignment
    """.split()
)


def fetch_failure(error: BridgeError, requested_url: str) -> ToolResult | None:
    """The result for a failure of `webfetch`; None if it has no known first words."""
    text, page_text = "", error.message
    match error:
        case HttpFailed():
            text, page_text = _http_words(error)
        case RequestTimedOut():
            text = f"Request timed out: {error.timeout_s:g} s{f', {error.phase}' if error.phase else ''}"
        case NameNotResolved():
            host = parse_address(requested_url).host
            is_requested = host is not None and error.details.get("host", host) == host
            text = "DNS resolution failed: " + (f"{host} has no address" if is_requested else "the host of a redirect")
        case TlsFailed():
            text = f"TLS error: {error.cause}"
        case TooManyRedirects():
            text = f"Too many redirects: {error.cause}"
        case EmptyBody():
            return ToolResult("Empty response body", is_error=True)
        case NotText():
            size = "" if error.size_bytes is None else f", {error.size_bytes:,} bytes"
            known = mimetypes.guess_extension(error.content_type) is not None
            text = f"Not text: {error.content_type if known else 'binary'}{size}"
        case FetchFailed() if error.cause:
            text = f"Network error: {error.cause}"
        case _:
            return None
    return ToolResult(followed_by(cut(text, _CAUSE_CHARS), error.hint), page_text, requested_url, is_error=True)


def page_load_failure(error: NavigationFailed | DeadlineExceeded, requested_url: str) -> ToolResult:
    """The result for a page that did not load: Chromium's net error, or the seconds."""
    if isinstance(error, DeadlineExceeded):
        cause = f"timed out after {error.timeout_s:g} s"
    else:
        cause = error.net_error if _NET_ERROR.fullmatch(error.net_error) else "it did not load"
    text = followed_by(f"Page load error: {cause}", error.hint)
    return ToolResult(text, clean(error.message), requested_url, is_error=True)


def error_status(status: int) -> str:
    """The status of a failed request, with the phrase of RFC 9110."""
    try:
        return f"HTTP {status}: {http.HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}: an error status"


def script_failure(thrown: str, javascript: str, page_url: str) -> ToolResult:
    """The result for a script that threw.

    A page can choose what its functions throw. So the message is part of the first words only if each word of it is in
    the script or one of the engine's; any other message stands inside the markers.
    """
    lines = thrown.strip().splitlines() or ["unknown"]
    message = cut(clean(lines[0]), _CAUSE_CHARS)
    known = _ENGINE_WORDS.union(_WORD.findall(javascript))
    if known.issuperset(_WORD.findall(message)):
        for prefix in ("Uncaught ", "Error: "):
            message = message.removeprefix(prefix)
        return ToolResult(f"JavaScript error: {message}", page_url=page_url, is_error=True)
    return ToolResult("JavaScript error: the page threw it", message, page_url, is_error=True)


def _http_words(error: HttpFailed) -> tuple[str, str]:
    """The status in our words; the server's own phrase and body are the server's words."""
    text = error_status(error.status)
    own = "" if text.endswith(f": {error.reason}") else error.reason
    return text, "\n\n".join(filter(None, [own, error.body_start]))

"""One GET of webfetch, redirects included: checks, size limits, and the error of each failure."""

from __future__ import annotations

import asyncio
import contextlib
import http
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urljoin

import httpcore
import httpx

from bridge.deadline import Deadline
from bridge.errors import (
    BridgeError,
    EmptyBody,
    HttpFailed,
    NameNotResolved,
    NetworkFailed,
    NotText,
    PolicyRefused,
    TlsFailed,
    TooManyRedirects,
)
from bridge.host.user_agent import mobile_user_agent
from bridge.policy.pinning import PinnedEgress
from bridge.reading.fetch.coding import ACCEPT_ENCODING, CodingError, Decoder
from bridge.reading.fetch.dial import EgressBackend, default_tls
from bridge.reading.fetch.response import MAX_BODY_BYTES, FetchedResponse
from bridge.reading.fetch.response_text import read_plain_text
from bridge.reading.media_type import kind_by_type, parse_content_type, sniffed_type

MAX_REDIRECTS = 5
#: Limit of the body on the wire: a coding can also consume input for ever and return nothing.
_MAX_WIRE_BYTES = MAX_BODY_BYTES + 256 * 1024
_ERROR_BODY_BYTES = 16 * 1024
_ERROR_BODY_S = 3.0
_ERROR_CHARS = 1_000

_HEADERS = [
    ("Accept", "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"),
    ("Accept-Language", "en-US,en;q=0.9"),
    ("Accept-Encoding", ACCEPT_ENCODING),
]
_INVALID_HTTP = "the server sent invalid HTTP"
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_CERTIFICATE = re.compile(r"certificate verify failed: ([^(]+)")


class Fetcher:
    """The requests of one operation, which share its deadline. They share no other state, not even cookies."""

    def __init__(
        self,
        egress: PinnedEgress,
        deadline: Deadline,
        tls: ssl.SSLContext | None = None,
        user_agent: str | None = None,
    ) -> None:
        self._egress = egress
        self._user_agent = user_agent or mobile_user_agent()
        self._tls = tls
        self.wire = EgressBackend(egress, deadline)
        self.requests = 0

    async def get(self, url: str) -> FetchedResponse:
        """Fetches `url`: a response, or the redirect's target.

        Raises:
            PolicyRefused: A rule forbids the URL, a redirect or an address.
            FetchFailed: A subclass names the failure.
        """
        address = await self._egress.check_url(url)
        if not address.startswith(("http://", "https://")):
            raise PolicyRefused(f"{address[:200]} cannot be fetched: only http and https URLs are supported.")
        passed: list[str] = []
        while True:
            async with self._exchange(address) as response:
                headers = _header_map(response)
                target = headers.get("location", "") if response.status in _REDIRECTS else ""
                if not target:
                    return await self._receive(address, response, headers, tuple(passed))
            passed.append(address)
            address = await self._redirected(address, target, passed)

    async def _redirected(self, address: str, target: str, passed: list[str]) -> str:
        try:
            target = urljoin(address, target.strip())
        except ValueError as error:
            raise NetworkFailed(
                f"Network error: {address} redirects to {target[:200]!r}, which is not a valid URL.",
                cause="a redirect to what is not a valid URL",
            ) from error
        if len(passed) > MAX_REDIRECTS:
            raise TooManyRedirects(
                f"{passed[0]} redirects more than {MAX_REDIRECTS} times.",
                cause=f"more than {MAX_REDIRECTS}",
                redirects=passed,
            )
        try:
            target = await self._egress.check_url(target)
        except PolicyRefused as error:
            message = f"{address} redirects to a URL that is refused: {error.message}"
            raise PolicyRefused(message, hint=error.hint, **error.details) from error
        if target in passed:
            raise TooManyRedirects(
                f"{passed[0]} redirects in a loop, back to {target}.", cause="a loop", redirects=passed
            )
        return target

    @asynccontextmanager
    async def _exchange(self, address: str) -> AsyncIterator[httpcore.Response]:
        try:
            # Browsers send the part before the "@" as credentials; a reader of public pages must not.
            url = httpx.URL(address).copy_with(userinfo=b"", fragment=None)
        except httpx.InvalidURL as error:
            raise NetworkFailed(
                f"Network error: {address[:200]} cannot be requested: {error}.", cause="not a valid URL"
            ) from error
        tls = (self._tls or default_tls()) if url.scheme == "https" else None
        self.requests += 1
        try:
            async with (
                httpcore.AsyncConnectionPool(ssl_context=tls, network_backend=self.wire) as pool,
                pool.stream(
                    "GET",
                    httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                    headers=[("Host", url.netloc), ("User-Agent", self._user_agent), *_HEADERS],
                ) as response,
            ):
                self.wire.saw(f"HTTP {response.status}, waiting for the body", "waiting for the body")
                yield response
        except NameNotResolved as error:
            if error.message.startswith("DNS resolution failed"):
                raise
            raise NameNotResolved(
                f"DNS resolution failed: {error.message}", hint=error.hint, **error.details
            ) from error
        except httpcore.RemoteProtocolError as error:
            cause = _protocol_cause(error)
            words = f"{cause}: {str(error)[:200]}" if cause == _INVALID_HTTP else cause
            raise NetworkFailed(f"Network error: {words}.", cause=cause, url=address) from error
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError) as error:
            raise _translated(error, address) from error

    async def _receive(
        self, address: str, response: httpcore.Response, headers: dict[str, str], passed: tuple[str, ...]
    ) -> FetchedResponse:
        content_type, charset = parse_content_type(headers.get("content-type", ""))
        if not 200 <= response.status < 300:
            raise await self._refusal(address, response, headers, content_type, charset)
        if response.status in (204, 205):
            raise EmptyBody(f"Empty response body: HTTP {response.status} {_reason(response)}.", url=address)
        length = headers.get("content-length", "")
        size_bytes = int(length) if re.fullmatch(r"[0-9]{1,18}", length) else None
        if kind_by_type(content_type) == "binary":
            raise NotText(content_type, size_bytes, url=address)
        body, truncated = await self._body(response, headers, MAX_BODY_BYTES)
        if not body.strip():
            raise EmptyBody("Empty response body.", url=address)
        seen = sniffed_type(body)
        if seen:
            raise NotText(seen, size_bytes if truncated else len(body), url=address)
        return FetchedResponse(
            url=address,
            status=response.status,
            content_type=content_type,
            charset_label=charset,
            cache_control=headers.get("cache-control", ""),
            body=body,
            body_truncated=truncated,
            redirects=passed,
        )

    async def _body(self, response: httpcore.Response, headers: dict[str, str], most: int) -> tuple[bytes, bool]:
        """The plain body up to `most` bytes, and whether there was more."""
        body = bytearray()
        wire_bytes = 0
        try:
            decoder = Decoder(headers.get("content-encoding", ""))
            async for block in response.aiter_stream():
                wire_bytes += len(block)
                for piece in decoder.decode(block):
                    body += piece
                    if len(body) > most:
                        return bytes(body[:most]), True
                self.wire.saw(f"HTTP {response.status} and {len(body):,} bytes of the body", "receiving the body")
                if wire_bytes > _MAX_WIRE_BYTES:
                    return bytes(body), True
            if wire_bytes:
                decoder.end()
        except CodingError as error:
            raise NetworkFailed(f"Network error: {error}.", cause="the body does not fit its encoding") from error
        return bytes(body), False

    async def _refusal(
        self,
        address: str,
        response: httpcore.Response,
        headers: dict[str, str],
        content_type: str,
        charset: str,
    ) -> HttpFailed:
        """The error with the part of the server's body that arrives at once."""
        body = b""
        with contextlib.suppress(BridgeError, httpcore.NetworkError, httpcore.ProtocolError, TimeoutError):
            async with asyncio.timeout(_ERROR_BODY_S):
                body, _ = await self._body(response, headers, _ERROR_BODY_BYTES)
        words = ""
        if body and kind_by_type(content_type) != "binary" and not sniffed_type(body):
            page = FetchedResponse(address, response.status, content_type, charset, "", body, False, ())
            words = (await read_plain_text(page))[:_ERROR_CHARS]
        return HttpFailed(response.status, _reason(response), words, url=address)


def _header_map(response: httpcore.Response) -> dict[str, str]:
    """Header fields by lower-case name, several of one name joined (RFC 9110 §5.3)."""
    fields: dict[str, str] = {}
    for raw_name, raw_value in response.headers:
        name = raw_name.decode("latin-1").lower()
        try:
            value = raw_value.decode("utf-8")
        except UnicodeDecodeError:
            value = raw_value.decode("latin-1")
        # The first of several counts where a list is not allowed.
        if name in fields and name in ("location", "content-type", "content-length"):
            continue
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    return fields


def _reason(response: httpcore.Response) -> str:
    """The server's own words for the status, else those of RFC 9110 §15."""
    said = response.extensions.get("reason_phrase", b"")
    words = " ".join(said.decode("latin-1").split()) if isinstance(said, bytes) else ""
    if words and words.isprintable():
        return words[:100]
    try:
        return http.HTTPStatus(response.status).phrase
    except ValueError:
        return ""


def _translated(error: Exception, address: str) -> BridgeError:
    behind: BaseException | None = error
    while behind is not None:
        if isinstance(behind, ssl.SSLError):
            return _tls_failure(behind, address)
        behind = behind.__cause__ or behind.__context__
    reason = str(error) or type(error).__name__
    cause = reason
    if isinstance(error, httpcore.ConnectError):
        cause = f"no connection ({reason})"
    elif isinstance(error, httpcore.ReadError):
        cause = "the connection closed before the response was complete"
    return NetworkFailed(f"Network error: {cause} ({address}).", cause=cause, url=address)


def _tls_failure(error: ssl.SSLError, address: str) -> TlsFailed:
    if isinstance(error, ssl.SSLCertVerificationError):
        # OpenSSL's own phrase; behind a comma it names the host.
        cause = f"the certificate is not valid ({error.verify_message.partition(',')[0]})"
        message = f"TLS error: the certificate of {address} is not valid: {error.verify_message}."
        return TlsFailed(message, cause=cause, url=address)
    said = _CERTIFICATE.search(str(error))
    cause = (said[1] if said else (error.reason or "handshake failed").replace("_", " ").lower()).strip()
    return TlsFailed(f"TLS error: {address}: {cause}.", cause=cause, url=address)


def _protocol_cause(error: httpcore.RemoteProtocolError) -> str:
    words = str(error)
    if "without sending a response" in words:
        return "the server closed the connection before the response was complete"
    short = re.search(r"received (\d+) bytes, expected (\d+)", words)
    if short:
        return f"the connection closed after {short[1]} of {short[2]} bytes of the body"
    if "incomplete chunked" in words:
        return "the connection closed in the middle of the body"
    if "too long" in words or "too large" in words or "Receive buffer" in words:
        return "the server's headers are longer than 100 kB"
    return _INVALID_HTTP

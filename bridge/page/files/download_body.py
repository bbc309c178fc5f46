"""Bodies of downloads: read from the browser, an intercepted response, a blob or a data: URL."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from bridge.cdp import CdpConnection, PendingCall
from bridge.deadline import Deadline
from bridge.errors import NavigationFailed, ProtocolError, ScriptFailed, Unsupported, UsageError
from bridge.page.fetch_messages import PausedResponse
from bridge.page.logs.headers import body_bytes, media_type
from bridge.page.target.attachment import Attachment
from bridge.snapshot.injected import script_call

_CHUNK_BYTES = 512 * 1024
_POLL_S = 0.1
# Other bytes on the same connection: framing, and other requests of the page.
_OTHER_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class DownloadBody:
    """The body of a file, with none of it read yet.

    Attributes:
        suggested_name: The name that the server suggests, as a base name, or "".
        mime: `type/subtype`, or "".
        length_bytes: From the server; None if it does not send a length.
    """

    chunks: AsyncIterator[bytes]
    suggested_name: str = ""
    mime: str = ""
    status: int | None = None
    length_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ReceiveLimit:
    """Stops a fetch of the engine, which reports nothing before it has the whole body, when too much was received.

    Attributes:
        received: Returns the bytes received over the busiest connection; 0 if traffic is not counted.
    """

    max_bytes: int
    received: Callable[[], int]

    async def result_of(self, call: PendingCall, url: str, deadline: Deadline) -> dict[str, Any]:
        """The call's result.

        Raises:
            UsageError: More was received than a body of `max_bytes` can explain.
        """
        reply = asyncio.ensure_future(call.result(timeout_s=deadline.remaining_s))
        try:
            while not reply.done():
                await asyncio.wait([reply], timeout=_POLL_S)
                if not reply.done() and self.received() > self.max_bytes + _OTHER_BYTES:
                    raise UsageError(
                        f"{url[:200]} is larger than max_bytes ({self.max_bytes} bytes): more was received",
                        hint="Raise max_bytes to download it.",
                    )
            return reply.result()
        finally:
            reply.cancel()
            await asyncio.gather(reply, return_exceptions=True)


async def browser_body(
    connection: CdpConnection, frame_id: str, url: str, limit: ReceiveLimit, deadline: Deadline
) -> DownloadBody:
    """The body of a URL that the browser fetches for the frame, with the page's cookies, proxy and origin.

    The browser replies when it has received everything, and keeps it in memory until then. Network events do not
    report such a request.

    Raises:
        UsageError: See `ReceiveLimit.result_of`.
        NavigationFailed: The server could not be reached, or responded with an error status.
    """
    options = {"disableCache": False, "includeCredentials": True}
    params = {"frameId": frame_id, "url": url, "options": options}
    try:
        reply = await limit.result_of(connection.send("Network.loadNetworkResource", params), url, deadline)
    except ProtocolError as error:
        if error.cdp_code == -32601:
            raise Unsupported(
                "this WebView cannot fetch a URL over CDP (Network.loadNetworkResource)",
                hint="Update Android System WebView.",
            ) from error
        raise NavigationFailed(url, error.reason) from error
    found: Mapping[str, Any] = reply.get("resource") or {}
    status = int(found.get("httpStatusCode") or 0)
    stream = found.get("stream")
    if not found.get("success") or not isinstance(stream, str):
        reason = f"HTTP status {status}" if status >= 400 else str(found.get("netErrorName") or "no response")
        raise NavigationFailed(url, reason)
    headers = {str(name).lower(): str(value) for name, value in (found.get("headers") or {}).items()}
    return _body(headers, status, _stream_chunks(connection, stream, None, deadline))


async def intercepted_body(connection: CdpConnection, response: PausedResponse, deadline: Deadline) -> DownloadBody:
    """The body of an intercepted response."""
    try:
        reply = await connection.call(
            "Fetch.takeResponseBodyAsStream",
            {"requestId": response.request_id},
            timeout_s=deadline.remaining_s,
            session_id=response.session_id,
        )
    except ProtocolError as error:
        raise NavigationFailed(response.url, error.reason) from error
    chunks = _stream_chunks(connection, str(reply["stream"]), response.session_id, deadline)
    return _body(response.headers, response.status, chunks)


async def blob_chunks(attachment: Attachment, url: str, deadline: Deadline) -> AsyncIterator[bytes]:
    """Read a blob inside the page. The document's Content-Security-Policy (connect-src) may forbid that."""
    main = attachment.state.main
    frame_id, at = main.frame_id if main else "", 0
    while True:
        call = script_call("readBlob", url, at, at + _CHUNK_BYTES)
        try:
            found = await attachment.evaluate(frame_id, call, timeout_s=deadline.remaining_s)
            chunk = base64.b64decode(str(found["piece"]).partition(",")[2], validate=True)
        except (ScriptFailed, KeyError, TypeError, binascii.Error) as error:
            raise NavigationFailed(url, "the page no longer has the blob, or forbids reading it") from error
        yield chunk
        at += len(chunk)
        if at >= int(found["size"]) or not chunk:
            return


def data_url_body(url: str) -> DownloadBody:
    """The body of a data: URL (RFC 2397).

    Raises:
        UsageError: The URL is malformed.
    """
    head, comma, body = url.partition(",")
    if not comma:
        raise UsageError("not a valid data: URL: it has no comma")
    kind = head[len("data:") :]
    try:
        content = base64.b64decode(unquote(body)) if kind.endswith(";base64") else unquote(body).encode()
    except binascii.Error as error:
        raise UsageError(f"not a valid data: URL: its content is not base64: {error}") from error

    async def once() -> AsyncIterator[bytes]:
        await asyncio.sleep(0)
        yield content

    return DownloadBody(once(), mime=media_type(kind))


def suggested_name(disposition: str) -> str:
    """The file name in a Content-Disposition header (RFC 6266), reduced to a base name; "" if there is none."""
    extended = re.search(r"filename\*\s*=\s*([\w-]+)'[^']*'([^;\s]+)", disposition, re.IGNORECASE)
    plain = re.search(r'filename\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;]+))', disposition, re.IGNORECASE)
    name = ""
    if extended:
        with suppress(LookupError, UnicodeDecodeError):
            name = unquote(extended[2], encoding=extended[1], errors="strict")
    if not name and plain:
        name = re.sub(r"\\(.)", r"\1", plain[1]) if plain[1] is not None else plain[2].strip()
    base = re.split(r"[/\\]", name)[-1]
    shown = "".join(character for character in base if character.isprintable())[:200].strip()
    return "" if shown in (".", "..") else shown


def _body(headers: Mapping[str, str], status: int, chunks: AsyncIterator[bytes]) -> DownloadBody:
    return DownloadBody(
        chunks,
        suggested_name(headers.get("content-disposition", "")),
        media_type(headers.get("content-type", "")),
        status,
        body_bytes(headers),
    )


async def _stream_chunks(
    connection: CdpConnection, stream: str, session_id: str | None, deadline: Deadline
) -> AsyncIterator[bytes]:
    while True:
        params = {"handle": stream, "size": _CHUNK_BYTES}
        reply = await connection.call("IO.read", params, timeout_s=deadline.remaining_s, session_id=session_id)
        text = str(reply.get("data", ""))
        yield base64.b64decode(text) if reply.get("base64Encoded") else text.encode()
        if reply.get("eof"):
            return

"""Where the bytes of a download come from, and what was said of them."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from bridge.cdp import CdpConnection, PendingCall
from bridge.deadline import Deadline
from bridge.errors import NavigationFailed, ProtocolError, ScriptFailed, Unsupported, UsageError
from bridge.page.interception.fetch_messages import PausedResponse
from bridge.page.logs.headers import body_bytes, media_type
from bridge.page.target.attachment import Attachment

_PIECE_BYTES = 512 * 1024
_LOOK_S = 0.1
# What else may come over the same connection meanwhile: framing, and other requests of the page.
_BESIDE_BYTES = 16_000_000
_BLOB_PIECE = (
    "(async()=>{const b=await(await fetch($url)).blob(),r=new FileReader();r.readAsDataURL(b.slice($from,$to));"
    "await new Promise((done,failed)=>{r.onload=done;r.onerror=failed});return{size:b.size,piece:r.result}})()"
)


@dataclass(frozen=True, slots=True)
class DownloadBody:
    """One file, of which nothing has been read yet.

    Attributes:
        suggested_name: The name that the server proposed, as a base name, or "".
        mime: `type/subtype`, or "".
        length_bytes: As the server has it, None where it does not say.
    """

    pieces: AsyncIterator[bytes]
    suggested_name: str = ""
    mime: str = ""
    status: int | None = None
    length_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ReceiveLimit:
    """How much is waited for while the engine gives nothing yet.

    Attributes:
        received: How many bytes have come over the one connection that most came over, as far as somebody counts.
    """

    max_bytes: int
    received: Callable[[], int]

    async def keep(self, call: PendingCall, url: str, deadline: Deadline) -> dict[str, Any]:
        """The call's result.

        Raises:
            UsageError: So much has come that this cannot be of a body of `max_bytes`.
        """
        reply = asyncio.ensure_future(call.result(timeout_s=deadline.remaining_s))
        try:
            while not reply.done():
                await asyncio.wait([reply], timeout=_LOOK_S)
                if not reply.done() and self.received() > self.max_bytes + _BESIDE_BYTES:
                    raise UsageError(
                        f"{url[:200]} is larger than the {self.max_bytes} bytes that are wanted: more came, and no end",
                        hint="Raise max_bytes if you want it.",
                    )
            return reply.result()
        finally:
            reply.cancel()
            await asyncio.gather(reply, return_exceptions=True)


async def browser_body(
    connection: CdpConnection, frame_id: str, url: str, bound: ReceiveLimit, deadline: Deadline
) -> DownloadBody:
    """What the browser fetches for the frame: cookies, proxy and addresses are the page's.

    It answers when it has all, and keeps that in its memory until then; no event tells of such a request.

    Raises:
        UsageError: See `ReceiveLimit.keep`.
        NavigationFailed: The server could not be reached, or it answered with an error status.
    """
    options = {"disableCache": False, "includeCredentials": True}
    params = {"frameId": frame_id, "url": url, "options": options}
    try:
        reply = await bound.keep(connection.send("Network.loadNetworkResource", params), url, deadline)
    except ProtocolError as error:
        if error.cdp_code == -32601:
            raise Unsupported(
                "this WebView cannot fetch for us (Network.loadNetworkResource)",
                hint="Update Android System WebView.",
            ) from error
        raise NavigationFailed(url, error.reason) from error
    found: Mapping[str, Any] = reply.get("resource") or {}
    status = int(found.get("httpStatusCode") or 0)
    stream = found.get("stream")
    if not found.get("success") or not isinstance(stream, str):
        reason = f"HTTP status {status}" if status >= 400 else str(found.get("netErrorName") or "no answer")
        raise NavigationFailed(url, reason)
    headers = {str(name).lower(): str(value) for name, value in (found.get("headers") or {}).items()}
    return _described(headers, status, _stream_pieces(connection, stream, None, deadline))


async def intercepted_body(connection: CdpConnection, answer: PausedResponse, deadline: Deadline) -> DownloadBody:
    """The body of an answer that was taken from the browser."""
    try:
        reply = await connection.call(
            "Fetch.takeResponseBodyAsStream",
            {"requestId": answer.request_id},
            timeout_s=deadline.remaining_s,
            session_id=answer.session_id,
        )
    except ProtocolError as error:
        raise NavigationFailed(answer.url, error.reason) from error
    pieces = _stream_pieces(connection, str(reply["stream"]), answer.session_id, deadline)
    return _described(answer.headers, answer.status, pieces)


async def blob_chunks(attachment: Attachment, url: str, deadline: Deadline) -> AsyncIterator[bytes]:
    """A blob is read where it lives; the document's policy (connect-src) may forbid that."""
    main = attachment.state.main
    frame_id, at = main.frame_id if main else "", 0
    while True:
        call = _BLOB_PIECE.replace("$from", str(at)).replace("$to", str(at + _PIECE_BYTES))
        try:
            found = await attachment.evaluate(
                frame_id, call.replace("$url", json.dumps(url)), timeout_s=deadline.remaining_s
            )
            piece = base64.b64decode(str(found["piece"]).partition(",")[2], validate=True)
        except (ScriptFailed, KeyError, TypeError, binascii.Error) as error:
            raise NavigationFailed(url, "the page no longer has it, or does not let it be read") from error
        yield piece
        at += len(piece)
        if at >= int(found["size"]) or not piece:
            return


def data_url_body(url: str) -> DownloadBody:
    """RFC 2397."""
    head, comma, body = url.partition(",")
    if not comma:
        raise UsageError("a data: address without a comma has no content")
    kind = head[len("data:") :]
    try:
        content = base64.b64decode(unquote(body)) if kind.endswith(";base64") else unquote(body).encode()
    except binascii.Error as error:
        raise UsageError(f"a data: address is no base64: {error}") from error

    async def once() -> AsyncIterator[bytes]:
        await asyncio.sleep(0)
        yield content

    return DownloadBody(once(), mime=media_type(kind))


def suggested_name(disposition: str) -> str:
    """The base name in a Content-Disposition header (RFC 6266), without anything that would make it a path; or ""."""
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


def _described(headers: Mapping[str, str], status: int, pieces: AsyncIterator[bytes]) -> DownloadBody:
    return DownloadBody(
        pieces,
        suggested_name(headers.get("content-disposition", "")),
        media_type(headers.get("content-type", "")),
        status,
        body_bytes(headers),
    )


async def _stream_pieces(
    connection: CdpConnection, stream: str, session_id: str | None, deadline: Deadline
) -> AsyncIterator[bytes]:
    while True:
        params = {"handle": stream, "size": _PIECE_BYTES}
        reply = await connection.call("IO.read", params, timeout_s=deadline.remaining_s, session_id=session_id)
        text = str(reply.get("data", ""))
        yield base64.b64decode(text) if reply.get("base64Encoded") else text.encode()
        if reply.get("eof"):
            return

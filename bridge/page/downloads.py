"""What a page offers for download, brought into the operator's folder.

The device does not keep downloads for us: its listener only tells an address. The bytes are fetched by the browser
itself (`Network.loadNetworkResource`), so cookies, proxy and addresses are the page's, and read in pieces. `blob:` and
`data:` addresses exist only in the page, and are read there.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from bridge.cdp import CdpConnection
from bridge.cdp.cost import Cost, measure
from bridge.deadline import Deadline
from bridge.errors import NavigationFailed, ProtocolError, ScriptFailed, Unsupported, UsageError
from bridge.page.attachment import Attachment
from bridge.page.confinement import Confined
from bridge.page.host_services import HostServices

MAX_DOWNLOAD_BYTES = 100 * 1024 * 1024
_PIECE_BYTES = 512 * 1024

_ASKED_TWICE = (
    "WebView only tells the address of a download, so it was asked for a second time: what answers once, or only to a "
    "form that is sent, cannot be brought this way."
)

# One more connection to the tab, for so many seconds' work of opening it.
Connect = Callable[[float], AbstractAsyncContextManager[CdpConnection]]


@dataclass(frozen=True, slots=True)
class DownloadResult:
    """A file that was brought.

    Attributes:
        url: The address that the bytes came from.
        path: Where they are now.
        suggested_name: The name that the server or the page proposed, as a base name, or "".
    """

    url: str
    path: str
    size_bytes: int
    suggested_name: str
    mime: str
    status: int | None
    cost: Cost
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "url": self.url[:2000],
            "path": self.path,
            "size_bytes": self.size_bytes,
            "suggested_name": self.suggested_name,
            "mime": self.mime,
            "status": self.status,
            "cost": self.cost.to_json(),
            **({"notices": list(self.notices)} if self.notices else {}),
        }


@dataclass(frozen=True, slots=True)
class _Source:
    """Where bytes come from, and what was said of them."""

    pieces: AsyncIterator[bytes]
    suggested_name: str = ""
    mime: str = ""
    status: int | None = None


class Downloads:
    """Downloads of one attachment."""

    def __init__(
        self,
        attachment: Attachment,
        host: HostServices | None,
        target: Confined,
        check_url: Callable[[str], Awaitable[str]],
        connect: Connect,
    ) -> None:
        self._attachment = attachment
        self._host = host
        self._target = target
        self._check_url = check_url
        self._connect = connect

    async def by_url(
        self,
        url: str,
        dest_path: str | os.PathLike[str],
        *,
        overwrite: bool,
        max_bytes: int,
        timeout_s: float,
        suggested_name: str = "",
    ) -> DownloadResult:
        """Fetch an address as the page would, with its cookies.

        Raises:
            PolicyRefused: The address may not be opened, the path leads out of the downloads folder, or none is set.
            UsageError: There is such a file, or more than `max_bytes` came; nothing is left then.
            NavigationFailed: The server could not be reached or broke off, or it answered with an error status.
        """
        _check_bound(max_bytes)
        deadline = Deadline.after(timeout_s)
        self._target.parts(dest_path)
        scheme = url.partition(":")[0].lower()
        if scheme not in ("blob", "data"):
            url = await self._check_url(url)
        with measure() as meter, self._target.write(dest_path, overwrite=overwrite, max_bytes=max_bytes) as incoming:
            async with (
                deadline.bound(f"downloading {url[:200]}", lambda: f"{incoming.size_bytes} bytes have come"),
                self._source(url, scheme, deadline, max_bytes) as source,
            ):
                async for piece in source.pieces:
                    incoming.write(piece)
        assert self._target.folder is not None
        return DownloadResult(
            url=url,
            path=str(self._target.folder.joinpath(*self._target.parts(dest_path))),
            size_bytes=incoming.size_bytes,
            suggested_name=suggested_name or source.suggested_name,
            mime=source.mime,
            status=source.status,
            cost=meter.cost(),
        )

    async def started_by(
        self,
        act: Callable[[], Awaitable[Any]],
        dest_path: str | os.PathLike[str],
        *,
        overwrite: bool,
        max_bytes: int,
        timeout_s: float,
    ) -> DownloadResult:
        """Fetch what `act` makes the page download. The address is asked for once more: what answers only once, or only
        to a form, cannot be had this way.

        Raises:
            DeadlineExceeded: Nothing was downloaded.
        """
        _check_bound(max_bytes)
        deadline = Deadline.after(timeout_s)
        self._target.parts(dest_path)
        if self._host is None:
            raise Unsupported("the host app tells of downloads, and this tab belongs to another app")
        with measure() as meter, self._host.downloads() as downloads:
            await act()
            begun = await downloads.next(timeout_s=deadline.remaining_s)
            try:
                found = await self.by_url(
                    begun.url,
                    dest_path,
                    overwrite=overwrite,
                    max_bytes=max_bytes,
                    timeout_s=deadline.remaining_s,
                    suggested_name=suggested_name(begun.disposition),
                )
            except NavigationFailed as error:
                raise NavigationFailed(begun.url, error.net_error, hint=_ASKED_TWICE) from error
        return DownloadResult(**{**_fields(found), "cost": meter.cost()})

    @asynccontextmanager
    async def _source(self, url: str, scheme: str, deadline: Deadline, max_bytes: int) -> AsyncIterator[_Source]:
        if scheme == "data":
            yield _data_source(url)
        elif scheme == "blob":
            yield _Source(self._blob_pieces(url, deadline))
        else:
            # What is being loaded ends with its connection: broken off, nothing goes on filling the device's disk.
            async with self._connect(deadline.remaining_s) as connection:
                yield await self._network_source(connection, url, deadline, max_bytes)

    async def _network_source(self, connection: CdpConnection, url: str, deadline: Deadline, max_bytes: int) -> _Source:
        main = self._attachment.state.main
        options = {"disableCache": False, "includeCredentials": True}
        params = {"frameId": main.frame_id if main else "", "url": url, "options": options}
        try:
            reply = await connection.call("Network.loadNetworkResource", params, timeout_s=deadline.remaining_s)
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
        headers = {str(name).lower(): str(value) for name, value in (found.get("headers") or {}).items()}
        if not found.get("success") or not isinstance(stream, str):
            reason = f"HTTP status {status}" if status >= 400 else str(found.get("netErrorName") or "no answer")
            raise NavigationFailed(url, reason)
        length = headers.get("content-length", "")
        if re.fullmatch("[0-9]{1,18}", length) and int(length) > max_bytes:
            raise UsageError(f"{url[:200]} has {length} bytes, and at most {max_bytes} are wanted")
        return _Source(
            _stream_pieces(connection, stream, deadline),
            suggested_name(headers.get("content-disposition", "")),
            _media_type(headers.get("content-type", "")),
            status,
        )

    async def _blob_pieces(self, url: str, deadline: Deadline) -> AsyncIterator[bytes]:
        """A blob is read where it lives; the document's policy (connect-src) may forbid that."""
        main = self._attachment.state.main
        frame_id, at = main.frame_id if main else "", 0
        while True:
            call = _BLOB_PIECE.replace("$from", str(at)).replace("$to", str(at + _PIECE_BYTES))
            try:
                found = await self._attachment.evaluate(
                    frame_id, call.replace("$url", json.dumps(url)), timeout_s=deadline.remaining_s
                )
                piece = base64.b64decode(str(found["piece"]).partition(",")[2], validate=True)
            except (ScriptFailed, KeyError, TypeError, binascii.Error) as error:
                raise NavigationFailed(url, "the page no longer has it, or does not let it be read") from error
            yield piece
            at += len(piece)
            if at >= int(found["size"]) or not piece:
                return


async def _stream_pieces(connection: CdpConnection, stream: str, deadline: Deadline) -> AsyncIterator[bytes]:
    while True:
        params = {"handle": stream, "size": _PIECE_BYTES}
        reply = await connection.call("IO.read", params, timeout_s=deadline.remaining_s)
        text = str(reply.get("data", ""))
        yield base64.b64decode(text) if reply.get("base64Encoded") else text.encode()
        if reply.get("eof"):
            return


_BLOB_PIECE = (
    "(async()=>{const b=await(await fetch($url)).blob(),r=new FileReader();r.readAsDataURL(b.slice($from,$to));"
    "await new Promise((done,failed)=>{r.onload=done;r.onerror=failed});return{size:b.size,piece:r.result}})()"
)


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


def _media_type(header: str) -> str:
    """`type/subtype` of a Content-Type header (RFC 9110 §8.3.1), or "" where it is none."""
    found = re.fullmatch(r"[\w!#$&^.+-]{1,64}/[\w!#$&^.+-]{1,64}", header.partition(";")[0].strip(), re.ASCII)
    return found[0].lower() if found else ""


def _data_source(url: str) -> _Source:
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

    return _Source(once(), mime=_media_type(kind))


def _check_bound(max_bytes: int) -> None:
    if isinstance(max_bytes, bool) or max_bytes < 1:
        raise UsageError(f"max_bytes={max_bytes}", hint="1 or more.")


def _fields(result: DownloadResult) -> dict[str, Any]:
    return {name: getattr(result, name) for name in DownloadResult.__dataclass_fields__}

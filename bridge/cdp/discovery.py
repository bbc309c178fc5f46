"""The list of targets of a devtools endpoint, read over a connected socket.

Chromium's devtools server speaks HTTP/1.1, responds 500 unless `Host` is an IP address or localhost, and 403 to an
`Origin` header (content/browser/devtools/devtools_http_handler.cc). `/json/protocol` is never requested: it can crash
a WebView's process.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from dataclasses import dataclass
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import TransportError

_HEAD_LIMIT = 16 * 1024
_BODY_LIMIT = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Target:
    """One entry of `/json/list`; `view` is WebView's description: attached, visible, empty, width, height."""

    target_id: str
    kind: str
    url: str
    title: str
    view: dict[str, Any]


async def read_package(sock: socket.socket, *, timeout_s: float) -> str:
    """The package that serves the endpoint at the other end of `sock`, which is closed; "" if it is not reported.

    It is "Android-Package" in `/json/version`. Raises as `list_targets` does.
    """
    body = await _request(sock, "/json/version", "the version of a devtools endpoint", timeout_s)
    try:
        version = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise TransportError("the devtools endpoint's version is not JSON") from error
    return str(version.get("Android-Package", "")) if isinstance(version, dict) else ""


async def list_targets(sock: socket.socket, *, timeout_s: float) -> tuple[Target, ...]:
    """The targets of the endpoint at the other end of `sock`, which is closed.

    Raises:
        TransportError: The peer is not a devtools endpoint, or closed the connection.
        DeadlineExceeded: There was no response in time.
    """
    return parse_targets(await _request(sock, "/json/list", "the list of devtools targets", timeout_s))


def parse_targets(body: bytes) -> tuple[Target, ...]:
    """The targets in the body of `/json/list`.

    Raises:
        TransportError: The body is not the JSON of a devtools endpoint.
    """
    try:
        entries = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise TransportError("the devtools endpoint's target list is not JSON") from error
    if not isinstance(entries, list):
        raise TransportError("the devtools endpoint's target list is not a list")
    return tuple(
        Target(
            target_id=str(entry["id"]),
            kind=str(entry.get("type", "")),
            url=str(entry.get("url", "")),
            title=str(entry.get("title", "")),
            view=_view(entry.get("description")),
        )
        for entry in entries
        if isinstance(entry, dict) and "id" in entry
    )


def _view(description: object) -> dict[str, Any]:
    """Parse the description: JSON in a WebView, empty in Chrome."""
    if not isinstance(description, str) or not description:
        return {}
    try:
        view = json.loads(description)
    except (ValueError, RecursionError):
        return {}
    return view if isinstance(view, dict) else {}


async def _request(sock: socket.socket, path: str, awaited: str, timeout_s: float) -> bytes:
    try:
        async with Deadline.after(timeout_s).bound(awaited):
            return await _get(sock, path)
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise TransportError(f"the devtools endpoint closed the connection before it responded: {error}") from error


async def _get(sock: socket.socket, path: str) -> bytes:
    reader, writer = await asyncio.open_connection(sock=sock, limit=_HEAD_LIMIT)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status_line, *header_lines = head.split("\r\n")
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in header_lines)
        }
        status = status_line.split(" ")[1:2]
        if status != ["200"]:
            raise TransportError(f"the devtools endpoint responded {status_line[:100]!r} to {path}")
        length = headers.get("content-length", "")
        if not re.fullmatch("[0-9]{1,9}", length) or int(length) > _BODY_LIMIT:
            raise TransportError(f"the devtools endpoint sent an invalid Content-Length: {length[:20] or 'none'}")
        return await reader.readexactly(int(length))
    finally:
        writer.close()

"""The arguments of a page's listeners: console messages, errors, requests and responses."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import ProtocolError, UsageError
from bridge.page.logs.request_entry import RequestEntry
from bridge.page.target.attachment import Attachment

_BODY_S = 30.0
_REDIRECTED = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class ConsoleMessage:
    """A call of the console API.

    Attributes:
        type: log, debug, info, error, warning, dir, table, trace, assert, …
        location: `URL:line:column`, counted from 1; "" if it is not known.
    """

    type: str
    text: str
    location: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class UncaughtError:
    """An exception that no script of the page has caught.

    Attributes:
        stack: One line per frame, innermost first.
    """

    name: str
    message: str
    stack: str

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.name else self.message


class Request:
    """A request of the page. Its state goes on as the browser reports it."""

    def __init__(self, entry: RequestEntry, attachment: Attachment, post_data: str | None) -> None:
        self._entry = entry
        self._attachment = attachment
        self._post_data = post_data

    def __repr__(self) -> str:
        return f"<Request {self.method} {self.url}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Request) and other._entry is self._entry

    def __hash__(self) -> int:
        return id(self._entry)

    @property
    def entry(self) -> RequestEntry:
        """The request as the log keeps it."""
        return self._entry

    @property
    def url(self) -> str:
        return self._entry.url

    @property
    def method(self) -> str:
        return self._entry.method

    @property
    def resource_type(self) -> str:
        """document, stylesheet, image, script, xhr, fetch, … as the browser names it."""
        return self._entry.resource_type

    @property
    def headers(self) -> dict[str, str]:
        """The headers, by lower-case name."""
        return {name.lower(): value for name, value in self._entry.request_headers.items()}

    async def all_headers(self) -> dict[str, str]:
        """The same as `headers`."""
        return self.headers

    async def header_value(self, name: str) -> str | None:
        return self.headers.get(name.lower())

    @property
    def post_data(self) -> str | None:
        """The body as text; None if there is none, or if the browser does not report it."""
        return self._post_data

    @property
    def post_data_json(self) -> Any:
        """The body as JSON, or as the fields of a form."""
        if self._post_data is None:
            return None
        if "application/x-www-form-urlencoded" in self.headers.get("content-type", ""):
            from urllib.parse import parse_qsl

            return dict(parse_qsl(self._post_data, keep_blank_values=True))
        return json.loads(self._post_data)

    @property
    def failure(self) -> str | None:
        """Chromium's net error; None for a request that did not fail."""
        return self._entry.net_error or None

    def is_navigation_request(self) -> bool:
        """True if it loads a document."""
        return self._entry.is_document

    async def response(self, *, timeout_s: float = _BODY_S) -> Response | None:
        """Wait for the response; None if the request failed.

        Raises:
            DeadlineExceeded: Neither came.
        """
        entry, deadline = self._entry, Deadline.after(timeout_s)
        ended = await self._attachment.condition.wait(
            lambda: entry.status is not None or entry.state != "pending", timeout_s=deadline.remaining_s
        )
        if not ended:
            raise deadline.exceeded(f"the response to {self.url[:200]}", "no response")
        return Response(self, entry, self._attachment) if entry.status is not None else None


class Response:
    """The response to a request."""

    def __init__(self, request: Request, entry: RequestEntry, attachment: Attachment) -> None:
        self._request = request
        self._entry = entry
        self._attachment = attachment

    def __repr__(self) -> str:
        return f"<Response {self.status} {self.url}>"

    @property
    def request(self) -> Request:
        return self._request

    @property
    def url(self) -> str:
        return self._entry.url

    @property
    def status(self) -> int:
        return self._entry.status or 0

    @property
    def status_text(self) -> str:
        return self._entry.status_text

    @property
    def ok(self) -> bool:
        """True if the status is from 200 to 299."""
        return 200 <= self.status < 300

    @property
    def headers(self) -> dict[str, str]:
        """The headers, by lower-case name."""
        return {name.lower(): value for name, value in self._entry.response_headers.items()}

    async def all_headers(self) -> dict[str, str]:
        """The same as `headers`."""
        return self.headers

    async def header_value(self, name: str) -> str | None:
        return self.headers.get(name.lower())

    async def finished(self, *, timeout_s: float = _BODY_S) -> str | None:
        """Wait until the body has been received; Chromium's net error, or None."""
        entry, deadline = self._entry, Deadline.after(timeout_s)
        if not await self._attachment.condition.wait(lambda: entry.state != "pending", timeout_s=deadline.remaining_s):
            raise deadline.exceeded(f"the body of {self.url[:200]}", f"{entry.body_bytes} bytes received")
        return entry.net_error or None

    async def body(self, *, timeout_s: float = _BODY_S) -> bytes:
        """The body. The browser keeps it until the page navigates.

        Raises:
            UsageError: A redirect, or the browser has dropped the body.
        """
        if self.status in _REDIRECTED:
            raise UsageError(f"{self.url[:200]} is a redirect and has no body")
        deadline = Deadline.after(timeout_s)
        await self.finished(timeout_s=deadline.remaining_s)
        try:
            reply: Mapping[str, Any] = await self._attachment.call(
                "Network.getResponseBody",
                {"requestId": self._entry.request_id},
                timeout_s=deadline.remaining_s,
                session_id=self._entry.session_id,
            )
        except ProtocolError as error:
            raise UsageError(f"the browser no longer has the body of {self.url[:200]}: {error.reason}") from error
        content = str(reply.get("body", ""))
        return base64.b64decode(content) if reply.get("base64Encoded") else content.encode()

    async def text(self, *, timeout_s: float = _BODY_S) -> str:
        """The body as UTF-8."""
        return (await self.body(timeout_s=timeout_s)).decode("utf-8", "replace")

    async def json(self, *, timeout_s: float = _BODY_S) -> Any:
        """The body as JSON."""
        return json.loads(await self.body(timeout_s=timeout_s))

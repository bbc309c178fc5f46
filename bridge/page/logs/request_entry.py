"""A request as the log keeps it, and its redacted form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from bridge.page.logs.headers import URL_CHARS

_SECRET_HEADERS = re.compile(
    r"(?i)(authorization|proxy-authorization|cookie|set-cookie|x-api-key|x-auth-token|x-csrf-token|x-xsrf-token)\Z"
)
REDACTED = "[redacted]"


@dataclass(slots=True)
class RequestEntry:
    """One request. A redirect ends it; the request to the new URL is another entry.

    Attributes:
        session_id: The CDP session that reported it; None for the page's own.
        number: Its number in the session's log, from 1 and never reused; 0 outside a log.
        order: Its number among the HTTP requests of its connection, from 1.
        status: HTTP status, None while there is no response, and where there was no HTTP.
        net_error: Chromium's net error; "" for a request that did not fail.
        failure: The net error and why the request was blocked, for people; "" for a request that did not fail.
        initiator: What made it: `parser`, `script`, …, with the location if it is known.
        remote_address: IP address and port; "" without a connection.
        encoded_bytes: Received over the network, headers included; `body_bytes` is the body after decoding.
        started_s: In seconds of the Unix epoch; `started_at` and `ended_at` are on the browser's monotonic clock.
        state: pending, done, failed, redirected, or lost if the connection to the tab ended before the request.
        messages_sent, messages_received: Messages of a WebSocket; `post_bytes` and `body_bytes` are their sizes.
    """

    tab_id: str
    request_id: str
    url: str
    method: str
    resource_type: str
    session_id: str | None = None
    number: int = 0
    order: int = 0
    loader_id: str = ""
    frame_id: str = ""
    started_s: float = 0.0
    started_at: float = 0.0
    initiator: str = ""
    request_headers: dict[str, str] = field(default_factory=dict)
    post_bytes: int = 0
    status: int | None = None
    status_text: str = ""
    protocol: str = ""
    mime_type: str = ""
    remote_address: str = ""
    response_headers: dict[str, str] = field(default_factory=dict)
    timing: dict[str, float] = field(default_factory=dict)
    from_cache: bool = False
    redirect_url: str = ""
    encoded_bytes: int = 0
    body_bytes: int = 0
    ended_at: float | None = None
    net_error: str = ""
    failure: str = ""
    state: str = "pending"
    messages_sent: int = 0
    messages_received: int = 0

    @property
    def is_document(self) -> bool:
        """True if it loads a document of a frame, which has its id."""
        return self.resource_type == "document" and self.request_id == self.loader_id

    def goes_to(self, url: str) -> bool:
        """True if it asks for `url`, fragments aside."""
        return self.url.partition("#")[0] == url[:URL_CHARS].partition("#")[0]

    @property
    def duration_ms(self) -> float | None:
        return None if self.ended_at is None else max(0.0, (self.ended_at - self.started_at) * 1000)

    def __str__(self) -> str:
        outcome = self.failure or (str(self.status) if self.status is not None else self.state)
        return f"{outcome} {self.method} {shown_url(self.url, True)[:300]}"

    def to_json(self, *, redact: bool = True) -> dict[str, Any]:
        duration = self.duration_ms
        return {
            "number": self.number,
            "tab": self.tab_id,
            "method": self.method,
            "url": shown_url(self.url, redact),
            "status": self.status,
            "type": self.resource_type,
            "mime_type": self.mime_type,
            "state": self.state,
            **({"failure": self.failure} if self.failure else {}),
            "started_s": round(self.started_s, 3),
            "duration_ms": None if duration is None else round(duration, 1),
            "encoded_bytes": self.encoded_bytes,
            "body_bytes": self.body_bytes,
            "from_cache": self.from_cache,
            "initiator": self.initiator,
            "remote_address": self.remote_address,
            **(
                {"messages_sent": self.messages_sent, "messages_received": self.messages_received}
                if self.resource_type == "websocket"
                else {}
            ),
            "request_headers": shown_headers(self.request_headers, redact),
            "response_headers": shown_headers(self.response_headers, redact),
        }


@dataclass(slots=True)
class DocumentTimes:
    """Times of a document, for the pages of a HAR; None for what has not happened."""

    tab_id: str
    loader_id: str
    url: str
    started_s: float
    started_at: float
    parsed_at: float | None = None
    loaded_at: float | None = None


def shown_headers(headers: Mapping[str, str], redact: bool) -> dict[str, str]:
    """The headers, with the values of credentials redacted."""
    return {name: REDACTED if redact and _SECRET_HEADERS.match(name) else value for name, value in headers.items()}


def shown_url(url: str, redact: bool) -> str:
    """The URL, with user name and password redacted."""
    if not redact or "@" not in url:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.split("@", 1)[-1]
    if "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=f"{REDACTED}@{parts.netloc.rpartition('@')[2]}"))

"""Requests as an HTTP Archive, version 1.2 (http://www.softwareishard.com/blog/har-12-spec/). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import bridge
from bridge.page.logs.request_entry import REDACTED, DocumentTimes, RequestEntry, shown_headers, shown_url


def to_har(entries: Iterable[RequestEntry], pages: Iterable[DocumentTimes], *, redact: bool = True) -> dict[str, Any]:
    """The archive, without bodies. Unknown times are -1, as the format requires."""
    listed = list(pages)
    known = {(page.tab_id, page.loader_id): f"{page.tab_id}-{number}" for number, page in enumerate(listed, 1)}
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "webview-bridge", "version": bridge.__version__},
            "pages": [
                {
                    "startedDateTime": _date(page.started_s),
                    "id": known[page.tab_id, page.loader_id],
                    "title": shown_url(page.url, redact),
                    "pageTimings": {
                        "onContentLoad": _since(page.started_at, page.parsed_at),
                        "onLoad": _since(page.started_at, page.loaded_at),
                    },
                }
                for page in listed
            ],
            "entries": [
                _entry(entry, known.get((entry.tab_id, entry.loader_id)), redact)
                for entry in sorted(entries, key=lambda entry: entry.started_s)
            ],
        }
    }


def _since(start: float, end: float | None) -> float:
    return -1 if end is None else round(max(0.0, (end - start) * 1000), 3)


def _entry(entry: RequestEntry, page: str | None, redact: bool) -> dict[str, Any]:
    timings = _timings(entry)
    out: dict[str, Any] = {
        **({"pageref": page} if page else {}),
        "startedDateTime": _date(entry.started_s),
        "time": round(sum(part for name, part in timings.items() if part > 0 and name != "ssl"), 3),
        "request": _request(entry, redact),
        "response": _response(entry, redact),
        "cache": {},
        "timings": timings,
        "_initiator": entry.initiator,
        "_resourceType": entry.resource_type,
        "_state": entry.state,
    }
    if entry.resource_type == "websocket":
        out["_webSocketMessages"] = {"sent": entry.messages_sent, "received": entry.messages_received}
    if entry.remote_address:
        # An IPv6 address is in brackets before its port.
        out["serverIPAddress"] = entry.remote_address.rpartition(":")[0].strip("[]")
        out["connection"] = entry.remote_address.rpartition(":")[2]
    return out


def _request(entry: RequestEntry, redact: bool) -> dict[str, Any]:
    return {
        "method": entry.method,
        "url": shown_url(entry.url, redact),
        "httpVersion": _version(entry.protocol),
        "cookies": _cookies(entry.request_headers.get("cookie", ""), redact),
        "headers": _listed(shown_headers(entry.request_headers, redact)),
        "queryString": [{"name": name, "value": value} for name, value in _query(entry.url)],
        "headersSize": -1,
        "bodySize": entry.post_bytes,
    }


def _response(entry: RequestEntry, redact: bool) -> dict[str, Any]:
    status = entry.status or 0
    out: dict[str, Any] = {
        "status": status,
        "statusText": entry.status_text,
        "httpVersion": _version(entry.protocol),
        "cookies": _cookies(entry.response_headers.get("set-cookie", ""), redact),
        "headers": _listed(shown_headers(entry.response_headers, redact)),
        "content": {"size": entry.body_bytes, "mimeType": entry.mime_type or "x-unknown"},
        "redirectURL": shown_url(entry.redirect_url, redact),
        "headersSize": -1,
        "bodySize": 0 if entry.from_cache else entry.encoded_bytes if status else -1,
        "_transferSize": entry.encoded_bytes,
    }
    if entry.failure:
        out["_error"] = entry.failure
    return out


def _timings(entry: RequestEntry) -> dict[str, float]:
    """Timings in milliseconds. ResourceTiming's values count from its `requestTime`, which is in seconds."""
    found = entry.timing

    def span(begin: str, end: str) -> float:
        first, last = found.get(begin, -1), found.get(end, -1)
        return round(last - first, 3) if first >= 0 and last >= first else -1

    total = entry.duration_ms or 0.0
    if not found.get("requestTime"):
        return {"blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": round(total, 3), "receive": 0}
    queued = max(0.0, (found["requestTime"] - entry.started_at) * 1000)
    begins = (found.get(name, -1) for name in ("dnsStart", "connectStart", "sendStart"))
    first = min((begin for begin in begins if begin >= 0), default=0)
    headers_end = found.get("receiveHeadersEnd", -1)
    spent = queued + max(headers_end, 0)
    return {
        "blocked": round(queued + first, 3),
        "dns": span("dnsStart", "dnsEnd"),
        "connect": span("connectStart", "connectEnd"),
        "ssl": span("sslStart", "sslEnd"),
        "send": max(0, span("sendStart", "sendEnd")),
        "wait": max(0, span("sendEnd", "receiveHeadersEnd")),
        "receive": round(max(0.0, total - spent), 3),
    }


def _query(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url).query, keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        return []


def _cookies(header: str, redact: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for line in header.split("\n"):
        try:
            morsels = SimpleCookie(line)
        except CookieError:
            continue
        found += [{"name": name, "value": REDACTED if redact else it.value} for name, it in morsels.items()]
    return found


def _listed(headers: Mapping[str, str]) -> list[dict[str, str]]:
    """Headers as a list; one that was sent several times has several entries."""
    return [{"name": name, "value": part} for name, value in headers.items() for part in value.split("\n")]


def _version(protocol: str) -> str:
    return {"h2": "HTTP/2", "h3": "HTTP/3", "": "unknown"}.get(protocol, protocol.upper())


def _date(epoch_s: float) -> str:
    return datetime.fromtimestamp(max(0.0, epoch_s), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

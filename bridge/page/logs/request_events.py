"""Requests as the browser tells of them, reduced to one entry each; headers and timing kept, bodies not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from bridge.page.logs import websocket_entries
from bridge.page.logs.headers import URL_CHARS, kept_headers
from bridge.page.logs.request_entry import DocumentTimes, NetworkEntry

_EARLY_KEPT = 100
_PAGES_KEPT = 200


class Requests:
    """The session's requests, bounded: the oldest go, whatever state they are in."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._last = 0
        self._entries: dict[int, NetworkEntry] = {}
        self._open: dict[tuple[str, str], NetworkEntry] = {}
        # The extra info, with the headers that really went, may come before the event that it belongs to.
        self._early: dict[tuple[str, str], dict[str, str]] = {}
        self._pages: dict[tuple[str, str], DocumentTimes] = {}

    def __iter__(self) -> Iterator[NetworkEntry]:
        return iter(list(self._entries.values()))

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def last(self) -> int:
        return self._last

    def pages(self, tab_id: str | None) -> list[DocumentTimes]:
        return [page for page in self._pages.values() if tab_id in (None, page.tab_id)]

    def connection_began(self, tab_id: str) -> None:
        """What was under way over an earlier connection of the tab will never be told to the end."""
        for key in [key for key in self._open if key[0] == tab_id]:
            self._open.pop(key).state = "lost"

    def reduce(self, tab_id: str, method: str, params: Mapping[str, Any]) -> None:
        """Take one event of the Network domain."""
        handler = _HANDLERS.get(method)
        if handler is not None:
            handler(self, (tab_id, str(params["requestId"])), params)

    def document_event(self, tab_id: str, method: str, at: float) -> None:
        """The tab's newest document has been parsed, or has loaded."""
        page = next((page for page in reversed(self._pages.values()) if page.tab_id == tab_id), None)
        if page is not None and method == "Page.loadEventFired":
            page.loaded_at = at
        elif page is not None:
            page.parsed_at = at

    def _will_be_sent(self, key: tuple[str, str], params: Mapping[str, Any]) -> None:
        redirect = params.get("redirectResponse")
        before = self._open.pop(key, None)
        if before is not None and isinstance(redirect, Mapping):
            _answer(before, redirect)
            before.redirect_url = str(params["request"].get("url", ""))
            self._end(before, params, "redirected", float(redirect.get("encodedDataLength", 0)))
        request = params["request"]
        self._last += 1
        entry = NetworkEntry(
            number=self._last,
            tab_id=key[0],
            request_id=key[1],
            loader_id=str(params.get("loaderId", "")),
            frame_id=str(params.get("frameId", "")),
            url=(str(request.get("url", "")) + str(request.get("urlFragment", "")))[:URL_CHARS],
            method=str(request.get("method", "")),
            resource_type=str(params.get("type", "Other")).lower(),
            started_s=float(params.get("wallTime", 0)),
            started_at=float(params.get("timestamp", 0)),
            initiator=_initiator(params.get("initiator")),
            request_headers={**kept_headers(request.get("headers")), **self._early.pop(key, {})},
            post_bytes=len(str(request.get("postData", "")).encode("utf-8", "replace")),
        )
        self._keep(key, entry)
        if entry.resource_type == "document" and entry.request_id == entry.loader_id:
            page = DocumentTimes(entry.tab_id, entry.loader_id, entry.url, entry.started_s, entry.started_at)
            self._pages[entry.tab_id, entry.loader_id] = page
            if len(self._pages) > _PAGES_KEPT:
                self._pages.pop(next(iter(self._pages)))

    def begin(self, key: tuple[str, str], *, url: str, method: str, resource_type: str) -> None:
        """An entry for what is told of by other events than a request's."""
        self._last += 1
        self._keep(key, NetworkEntry(self._last, *key, "", "", url, method, resource_type, 0.0, 0.0))

    def under_way(self, key: tuple[str, str]) -> NetworkEntry | None:
        return self._open.get(key)

    def end(self, key: tuple[str, str], state: str, at: object) -> None:
        if (entry := self._open.pop(key, None)) is not None:
            entry.ended_at = float(at) if isinstance(at, int | float) else entry.started_at
            entry.state = state

    def _keep(self, key: tuple[str, str], entry: NetworkEntry) -> None:
        self._entries[entry.number] = self._open[key] = entry
        if len(self._entries) > self._kept:
            gone = self._entries.pop(next(iter(self._entries)))
            if self._open.get((gone.tab_id, gone.request_id)) is gone:
                del self._open[gone.tab_id, gone.request_id]

    def _sent_really(self, key: tuple[str, str], params: Mapping[str, Any]) -> None:
        entry, headers = self._open.get(key), kept_headers(params.get("headers"))
        if entry is not None:
            entry.request_headers.update(headers)
        else:
            self._early[key] = headers
            if len(self._early) > _EARLY_KEPT:  # requests that never came to be
                del self._early[next(iter(self._early))]

    def _responded(self, key: tuple[str, str], params: Mapping[str, Any]) -> None:
        if (entry := self._open.get(key)) is not None:
            entry.resource_type = str(params.get("type", entry.resource_type)).lower()
            _answer(entry, params["response"])

    def _responded_really(self, key: tuple[str, str], params: Mapping[str, Any]) -> None:
        if (entry := self._open.get(key)) is not None:
            entry.response_headers.update(kept_headers(params.get("headers")))

    def _received(self, key: tuple[str, str], params: Mapping[str, Any]) -> None:
        if (entry := self._open.get(key)) is not None:
            entry.body_bytes += int(params.get("dataLength", 0))
            entry.encoded_bytes += int(params.get("encodedDataLength", 0))

    def _finished(self, key: tuple[str, str], params: Mapping[str, Any]) -> None:
        if (entry := self._open.pop(key, None)) is not None:
            self._end(entry, params, "done", float(params.get("encodedDataLength", 0)))

    def _failed(self, key: tuple[str, str], params: Mapping[str, Any]) -> None:
        if (entry := self._open.pop(key, None)) is not None:
            cors = params.get("corsErrorStatus")
            reason = params.get("blockedReason") or (cors.get("corsError") if isinstance(cors, Mapping) else "")
            entry.failure = " ".join(str(part) for part in (params.get("errorText", "failed"), reason) if part)
            self._end(entry, params, "failed", entry.encoded_bytes)

    def _from_cache(self, key: tuple[str, str], _params: Mapping[str, Any]) -> None:
        if (entry := self._open.get(key)) is not None:
            entry.from_cache = True

    @staticmethod
    def _end(entry: NetworkEntry, params: Mapping[str, Any], state: str, encoded_bytes: float) -> None:
        entry.ended_at = float(params.get("timestamp", entry.started_at))
        entry.encoded_bytes = max(0, int(encoded_bytes))
        entry.state = state


_HANDLERS: dict[str, Callable[[Requests, tuple[str, str], Mapping[str, Any]], None]] = {
    **websocket_entries.HANDLERS,
    "Network.requestWillBeSent": Requests._will_be_sent,
    "Network.requestWillBeSentExtraInfo": Requests._sent_really,
    "Network.responseReceived": Requests._responded,
    "Network.responseReceivedExtraInfo": Requests._responded_really,
    "Network.dataReceived": Requests._received,
    "Network.loadingFinished": Requests._finished,
    "Network.loadingFailed": Requests._failed,
    "Network.requestServedFromCache": Requests._from_cache,
}


def _answer(entry: NetworkEntry, response: Mapping[str, Any]) -> None:
    status = int(response.get("status", 0))
    entry.status = status or None
    entry.status_text = str(response.get("statusText", ""))
    entry.protocol = str(response.get("protocol", ""))
    entry.mime_type = str(response.get("mimeType", ""))
    entry.response_headers.update(kept_headers(response.get("headers")))
    sent = response.get("requestHeaders")
    if isinstance(sent, Mapping):
        entry.request_headers.update(kept_headers(sent))
    entry.from_cache = entry.from_cache or bool(response.get("fromDiskCache") or response.get("fromServiceWorker"))
    address, port = response.get("remoteIPAddress"), response.get("remotePort")
    entry.remote_address = f"{address}:{port}" if address else ""
    timing = response.get("timing")
    if isinstance(timing, Mapping):
        entry.timing = {str(name): float(value) for name, value in timing.items() if isinstance(value, int | float)}


def _initiator(found: Any) -> str:
    if not isinstance(found, Mapping):
        return ""
    kind, place = str(found.get("type", "other")), ""
    trace = found.get("stack")
    frames: Iterable[Any] = trace.get("callFrames", ()) if isinstance(trace, Mapping) else ()
    for frame in frames:
        if isinstance(frame, Mapping) and frame.get("url"):
            place = f"{frame['url']}:{int(frame.get('lineNumber', 0)) + 1}"
            break
    if not place and found.get("url"):
        line = found.get("lineNumber")
        place = f"{found['url']}:{int(line) + 1}" if isinstance(line, int | float) else str(found["url"])
    return f"{kind} {place[:500]}".strip()

"""The requests of a session: one bounded, numbered store, and the part of it that a filter selects."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from typing import Any

from bridge.errors import UsageError
from bridge.page.logs.log_slice import LogSlice
from bridge.page.logs.request_entry import DocumentTimes, RequestEntry
from bridge.page.logs.request_reducer import RequestReducer

PAGES_KEPT = 200


class RequestStore:
    """Requests and document times of a session. The oldest entries go first, whatever state they are in.

    Each connection to a tab writes through a `RequestReducer` of its own.
    """

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._last = 0
        self._entries: dict[int, RequestEntry] = {}
        self._pages: dict[tuple[str, str], DocumentTimes] = {}
        self._reducers: dict[str, RequestReducer] = {}

    def __iter__(self) -> Iterator[RequestEntry]:
        return iter(list(self._entries.values()))

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def last(self) -> int:
        """The number of the newest entry."""
        return self._last

    def pages(self, tab_id: str | None) -> list[DocumentTimes]:
        """Documents of one tab's top frame, or of all tabs."""
        return [page for page in self._pages.values() if tab_id in (None, page.tab_id)]

    def reducer(self, tab_id: str) -> RequestReducer:
        """The reducer for a new connection to the tab. What was pending over the previous one counts as lost."""
        if (previous := self._reducers.get(tab_id)) is not None:
            previous.lose_pending()
        self._reducers[tab_id] = RequestReducer(tab_id, self.add, self.add_page)
        return self._reducers[tab_id]

    def forget_tab(self, tab_id: str) -> None:
        """Drop the reducer of a closed tab; its entries stay, and what was pending counts as lost."""
        if (reducer := self._reducers.pop(tab_id, None)) is not None:
            reducer.lose_pending()

    def add(self, entry: RequestEntry) -> None:
        """Number a new entry and keep it."""
        self._last += 1
        entry.number = self._last
        self._entries[entry.number] = entry
        if len(self._entries) > self._kept:
            del self._entries[next(iter(self._entries))]

    def add_page(self, page: DocumentTimes) -> None:
        """Keep the times of a document that a top frame is loading."""
        self._pages[page.tab_id, page.loader_id] = page
        if len(self._pages) > PAGES_KEPT:
            del self._pages[next(iter(self._pages))]

    def document_event(self, tab_id: str, method: str, at: float) -> None:
        """Note when the tab's newest document was parsed (Page.domContentEventFired) or loaded."""
        page = next((page for page in reversed(self._pages.values()) if page.tab_id == tab_id), None)
        if page is not None and method == "Page.loadEventFired":
            page.loaded_at = at
        elif page is not None:
            page.parsed_at = at


class RequestLog(LogSlice[RequestEntry]):
    """Requests, oldest first."""

    __slots__ = ()

    @classmethod
    def select(
        cls,
        requests: RequestStore,
        *,
        tab_id: str | None,
        url: str | None,
        method: str | None,
        status: int | str | None,
        resource_type: str | None,
        failed: bool | None,
        after: int,
        limit: int,
    ) -> RequestLog:
        """The requests that fit. `url` is a part of the URL, or a glob if it has a `*`; `status` may be "4xx".

        Raises:
            UsageError: An invalid status, or a limit below 1.
        """
        statuses = _statuses(status)

        def fits(entry: RequestEntry) -> bool:
            return (
                (url is None or _fits(entry.url, url))
                and (method is None or entry.method == method.upper())
                and (statuses is None or entry.status in statuses)
                and (resource_type is None or entry.resource_type == resource_type.lower())
                and (failed is None or failed == (entry.state == "failed"))
            )

        return cls.newest(requests, requests.last, fits, tab_id=tab_id, after=after, limit=limit)

    def to_json(self, *, redact: bool = True) -> dict[str, Any]:
        """The requests as JSON values, without credentials in headers and URLs unless `redact` is off."""
        return {"entries": [entry.to_json(redact=redact) for entry in self.entries], **self.counts()}


def _statuses(status: int | str | None) -> range | None:
    if status is None:
        return None
    text = str(status).lower()
    if re.fullmatch(r"[1-5]xx", text):
        return range(int(text[0]) * 100, int(text[0]) * 100 + 100)
    if re.fullmatch(r"[1-5][0-9]{2}", text):
        return range(int(text), int(text) + 1)
    raise UsageError(f"{status!r} is not a valid status", hint='Use a number such as 404, or a class such as "4xx".')


def _fits(url: str, wanted: str) -> bool:
    return fnmatch.fnmatchcase(url, wanted) if "*" in wanted else wanted in url

"""The console log and the network log of a session: bounded, and kept when tabs are reconnected or closed.

Events are reduced in the reader task, before any task that waits for a reply runs. A log that is read after an action
therefore has everything that the browser reported before the action's reply.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from bridge.errors import UsageError
from bridge.page.logs.console import ConsoleEntry, ConsoleLog, entry_of_call, entry_of_exception, entry_of_log
from bridge.page.logs.request_entry import RequestEntry
from bridge.page.logs.request_log import RequestLog, RequestStore
from bridge.page.logs.request_reducer import RequestReducer

CONSOLE_KEPT = 1_000
REQUESTS_KEPT = 2_000
# V8 keeps this many messages for clients that enable the domain later (v8-console-message.cc, maxConsoleMessageCount).
_REPLAYED = 1_000
Reducer = Callable[[str, Mapping[str, Any], str | None], None]


class SessionLogs:
    """Both logs of a session.

    Both keep the newest entries of all tabs together, so a closed tab's entries stay until newer ones replace them.

    Attributes:
        origins: The origins of all documents that a tab and its frames have shown, by tab id. Pages may have stored
            data under them, so the sets are not bounded.
    """

    def __init__(self, *, console_kept: int = CONSOLE_KEPT, requests_kept: int = REQUESTS_KEPT) -> None:
        self._console: deque[ConsoleEntry] = deque(maxlen=console_kept)
        self._console_last = 0
        self._seen: dict[str, dict[tuple[str, float, str], None]] = {}
        self._tab_ids: dict[str, None] = {}
        self.requests = RequestStore(requests_kept)
        self.origins: dict[str, set[str]] = {}

    @property
    def tab_ids(self) -> tuple[str, ...]:
        """The ids of the session's tabs, closed ones included, oldest first."""
        return tuple(self._tab_ids)

    def add_tab(self, tab_id: str) -> None:
        """Make the tab known; before it has entries, its log is empty."""
        self._tab_ids[tab_id] = None

    def reader(self, tab_id: str) -> Reducer:
        """A reducer for the events of a new connection of the tab, except `Network.*`; see `request_reducer`."""
        self.add_tab(tab_id)

        def reduce(method: str, params: Mapping[str, Any], session_id: str | None) -> None:
            try:
                if method == "Page.frameNavigated":
                    self.note_origin(tab_id, str(params["frame"].get("securityOrigin") or params["frame"]["url"]))
                elif method in ("Page.domContentEventFired", "Page.loadEventFired"):
                    if session_id is None:  # not of a frame in another renderer
                        self.requests.document_event(tab_id, method, float(params["timestamp"]))
                elif (entry := _console_entry(tab_id, method, params)) is not None and not self._is_replay(entry):
                    self._console_last += 1
                    self._console.append(entry.numbered(self._console_last))
            except (KeyError, TypeError, ValueError, AttributeError):
                return  # an event of a newer WebView may have another shape; later ones still count

        return reduce

    def request_reducer(self, tab_id: str) -> RequestReducer:
        """The reducer of `Network.*` events for a new connection of the tab; its entries are the log's."""
        return self.requests.reducer(tab_id)

    def note_origin(self, tab_id: str, url: str) -> None:
        """Add the origin of a document that was shown."""
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.netloc:
            origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
            self.origins.setdefault(tab_id, set()).add(origin)

    def _is_replay(self, entry: ConsoleEntry) -> bool:
        """True if the entry is known: `Runtime.enable` and `Log.enable` report earlier messages again."""
        key = (entry.kind, entry.at_s, entry.text)
        seen = self._seen.setdefault(entry.tab_id, {})
        if key in seen:
            return True
        seen[key] = None
        if len(seen) > _REPLAYED:
            seen.pop(next(iter(seen)))
        return False

    def forget_tab(self, tab_id: str) -> None:
        """Drop the state of a closed tab; its entries stay in the logs."""
        self._seen.pop(tab_id, None)
        self.requests.forget_tab(tab_id)

    def console(
        self,
        *,
        tab_id: str | None = None,
        level: str | None = None,
        text: str | None = None,
        after: int = 0,
        limit: int = 100,
    ) -> ConsoleLog:
        """The newest `limit` entries that fit, oldest first, of one tab (closed ones too) or of all.

        Args:
            tab_id: Such as "t2"; None for all tabs.
            level: The least severe level to include: debug, info, warning or error.
            text: A part of the message.
            after: Only entries with a higher number, such as `last` of an earlier log.

        Raises:
            UsageError: An unknown tab or level, or a limit below 1.
        """
        self._check_tab(tab_id)
        return ConsoleLog.select(
            self._console, self._console_last, tab_id=tab_id, level=level, text=text, after=after, limit=limit
        )

    def network(
        self,
        *,
        tab_id: str | None = None,
        url: str | None = None,
        method: str | None = None,
        status: int | str | None = None,
        resource_type: str | None = None,
        failed: bool | None = None,
        after: int = 0,
        limit: int = 100,
    ) -> RequestLog:
        """The newest `limit` requests that fit, oldest first, of one tab (closed ones too) or of all.

        Args:
            tab_id: Such as "t2"; None for all tabs.
            url: A part of the address, or a glob if it contains `*`.
            status: A number, or a class such as "4xx".
            after: Only requests with a higher number, such as `last` of an earlier log.

        Raises:
            UsageError: An unknown tab, an invalid status, or a limit below 1.
        """
        self._check_tab(tab_id)
        return RequestLog.select(
            self.requests,
            tab_id=tab_id,
            url=url,
            method=method,
            status=status,
            resource_type=resource_type,
            failed=failed,
            after=after,
            limit=limit,
        )

    def har(self, *, tab_id: str | None = None, redact: bool = True) -> dict[str, Any]:
        """All kept requests of one tab, or of the session, as HAR 1.2.

        Raises:
            UsageError: An unknown tab.
        """
        self._check_tab(tab_id)
        from bridge.page.logs.har import to_har

        entries: list[RequestEntry] = [entry for entry in self.requests if tab_id in (None, entry.tab_id)]
        return to_har(entries, self.requests.pages(tab_id), redact=redact)

    def _check_tab(self, tab_id: str | None) -> None:
        if tab_id is not None and tab_id not in self._tab_ids:
            raise UsageError(
                f"unknown tab {str(tab_id)[:20]!r}",
                hint=f"This session has had the tabs {', '.join(self._tab_ids) or '-'}.",
            )


def _console_entry(tab_id: str, method: str, params: Mapping[str, Any]) -> ConsoleEntry | None:
    if method == "Runtime.consoleAPICalled":
        return entry_of_call(tab_id, params)
    if method == "Runtime.exceptionThrown":
        return entry_of_exception(tab_id, params)
    if method == "Log.entryAdded":
        return entry_of_log(tab_id, params)
    return None

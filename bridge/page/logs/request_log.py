"""Requests of a session, selected by a filter."""

from __future__ import annotations

import fnmatch
import re
from typing import Any

from bridge.errors import UsageError
from bridge.page.logs.log_slice import LogSlice
from bridge.page.logs.request_entry import RequestEntry
from bridge.page.logs.request_store import RequestStore


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

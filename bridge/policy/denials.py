"""A log of requests that the policy refused to pages: the blocked URL, the rule and the page that asked."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass

from bridge.errors import PolicyRefused
from bridge.json_record import JsonRecord
from bridge.policy.address import parse_address

_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Denial(JsonRecord):
    """A refused request or navigation of a page.

    Attributes:
        number: Counts the denials of one log, from 1.
        url: The blocked URL.
        page: The URL of the page that asked.
        kind: CDP's resource type: Document, Image, XHR (also for `fetch`), WebSocket, …
    """

    number: int
    url: str
    rule: str
    reason: str
    page: str
    kind: str


class DenialLog:
    """The newest denials, one for each blocked origin and page; all navigations count.

    Attributes:
        last: The number of the newest denial, 0 before the first.
    """

    def __init__(self) -> None:
        self.last = 0
        self._kept: deque[Denial] = deque(maxlen=_MOST)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def add(self, error: PolicyRefused, *, url: str, page: str, kind: str) -> None:
        address = parse_address(url)
        key = (page, f"{address.scheme}://{address.host}:{address.port}")
        if kind != "Document" and key in self._known:
            return
        self._known[key] = None
        if len(self._known) > _MOST:
            self._known.popitem(last=False)
        self.last += 1
        rule = str(error.details.get("rule", ""))
        self._kept.append(Denial(self.last, url[:2_000], rule, error.message, page, kind))

    def after(self, number: int) -> tuple[Denial, ...]:
        """The denials with a higher number, oldest first."""
        return tuple(denial for denial in self._kept if denial.number > number)

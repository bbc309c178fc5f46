"""Events of an executor, typed and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class BrowserEvent:
    """An operation has finished.

    Attributes:
        sequence: Numbers the operations from 1 in the order in which they finish.
        url: The requested address, else that of the current page; "" if there is none.
        summary: One line for people; secrets are redacted.
        error_code: Stable code of the failure, or None.
    """

    sequence: int
    kind: str
    ok: bool
    url: str
    summary: str
    error_code: str | None
    cost: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {"event": "operation", **asdict(self)}


@dataclass(frozen=True, slots=True)
class BrowserPolicyDenied:
    """A rule has refused an operation, or what a page requested during it; precedes the event of that operation.

    Attributes:
        sequence: That of the operation.
        kind: The operation, or CDP's resource type of what a page requested: Document, Image, XHR, WebSocket, … Of
            those a page gets one event for each blocked origin.
        url: The blocked URL.
        rule: The rule that forbids it.
        page: The page that asked; "" for an address that the operation gave.
        path: The file that was refused; "" if it was none.
    """

    sequence: int
    kind: str
    url: str
    reason: str
    rule: str = ""
    page: str = ""
    path: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"event": "policy_denied", **asdict(self)}


Event = BrowserEvent | BrowserPolicyDenied
EventListener = Callable[[Event], None]


def json_line(event: Event) -> str:
    """One line of the `--events` file, with its line feed."""
    return json.dumps(event.to_json(), ensure_ascii=False, separators=(",", ":")) + "\n"

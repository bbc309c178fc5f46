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
    """A rule has refused an operation; precedes the event of that operation."""

    sequence: int
    kind: str
    url: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        return {"event": "policy_denied", **asdict(self)}


Event = BrowserEvent | BrowserPolicyDenied
EventListener = Callable[[Event], None]


def json_line(event: Event) -> str:
    """One line of the `--events` file, with its line feed."""
    return json.dumps(event.to_json(), ensure_ascii=False, separators=(",", ":")) + "\n"

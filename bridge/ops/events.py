"""What an executor tells while it works: typed, and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class BrowserEvent:
    """One operation has finished.

    Attributes:
        sequence: 1, 2, …: the order in which the operations finished.
        url: The address it was about, or the page it ran on; "" where there was none.
        summary: One line for people, secrets taken out.
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
    """A rule has forbidden something; it comes before the event of its operation."""

    sequence: int
    kind: str
    url: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        return {"event": "policy_denied", **asdict(self)}


Event = BrowserEvent | BrowserPolicyDenied
EventListener = Callable[[Event], None]


def json_line(event: Event) -> str:
    """One line of `--events`, with its line feed."""
    return json.dumps(event.to_json(), ensure_ascii=False, separators=(",", ":")) + "\n"

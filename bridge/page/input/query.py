"""Reading one element by its ref, within a limit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from bridge.cost import Cost
from bridge.deadline import Deadline
from bridge.errors import ScriptFailed, UsageError
from bridge.page.input.actions import Actions

QueryKind = Literal["text", "html", "value", "attrs", "computed_styles", "box"]
_MAX_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query found: a string, a mapping of strings, a box of CSS pixels in its frame's viewport, or None.

    Attributes:
        truncated: It was longer than the limit; a cut string ends with `...[truncated]`.
    """

    ref: str
    kind: QueryKind
    value: Any
    truncated: bool
    cost: Cost

    def to_json(self) -> dict[str, Any]:
        return {
            "ref": self.ref,
            "kind": self.kind,
            "value": self.value,
            "truncated": self.truncated,
            "cost": self.cost.to_json(),
        }


async def query(actions: Actions, ref: str, kind: QueryKind, limit: int, deadline: Deadline) -> QueryResult:
    """One round trip. A password's value is None, whatever is asked.

    Raises:
        UsageError: An unknown kind, or a limit that is none.
        RefNotFound, StaleRef: The element is gone or has become something else; says what it was.
    """
    if kind not in get_args(QueryKind):
        raise UsageError(f"kind={kind!r}", hint=f"It is one of {', '.join(get_args(QueryKind))}.")
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= _MAX_LIMIT:
        raise UsageError(f"limit is {limit!r}; it must be a whole number from 1 to {_MAX_LIMIT}.")
    entry = actions.look_up(ref)
    with actions.attachment.connection.measure() as meter:
        call = f"__agentBrowser.query({json.dumps(entry.local)},{json.dumps(kind)},{limit})"
        reply = await actions.evaluate(entry, call, f"query {entry.ref}", deadline)
    if not isinstance(reply, Mapping):
        raise ScriptFailed("the query gave no object")
    actions.verdicts.raise_for(entry, "query", reply.get("error"), deadline)
    value = reply.get("value")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return QueryResult(entry.ref, kind, value, bool(reply.get("truncated")), meter.cost(text))

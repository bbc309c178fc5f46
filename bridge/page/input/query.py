"""`query`: reads one element by its ref."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from bridge.cost import Cost
from bridge.deadline import Deadline
from bridge.errors import ScriptFailed, UsageError
from bridge.json_record import JsonRecord
from bridge.page.input.actions import Actions
from bridge.snapshot.injected import script_call

QueryKind = Literal["text", "html", "value", "attributes", "styles", "box"]
# The names in the script, which other programs call too.
_IN_SCRIPT = {"attributes": "attrs", "styles": "computed_styles"}
_MAX_LIMIT = 1_000_000
_NO_LIMIT = 10**9


@dataclass(frozen=True, slots=True)
class QueryResult(JsonRecord):
    """The result of a query.

    Attributes:
        value: A string, a mapping of strings, a box in CSS pixels of the frame's viewport, or None.
        truncated: The value was longer than the limit. A truncated string ends with `...[truncated]`.
    """

    ref: str
    kind: QueryKind
    value: Any
    truncated: bool
    cost: Cost


async def query(actions: Actions, ref: str, kind: QueryKind, limit: int, deadline: Deadline) -> QueryResult:
    """Read the element in one round trip. The value of a password field is None for every kind.

    Raises:
        UsageError: An unknown kind, or a limit that is out of range.
        RefNotFound, StaleRef: The element is gone or became something else; the error describes what it was.
    """
    if kind not in get_args(QueryKind):
        raise UsageError(f"kind={kind!r}", hint=f"Use one of {', '.join(get_args(QueryKind))}.")
    if not isinstance(limit, int) or isinstance(limit, bool) or not 0 <= limit <= _MAX_LIMIT:
        raise UsageError(f"limit is {limit!r}; it must be a whole number from 0 to {_MAX_LIMIT}.")
    entry = actions.look_up(ref)
    with actions.attachment.connection.measure() as meter:
        call = script_call("query", entry.local, _IN_SCRIPT.get(kind, kind), limit or _NO_LIMIT)
        reply = await actions.evaluate(entry, call, f"query {entry.ref}", deadline)
    if not isinstance(reply, Mapping):
        raise ScriptFailed("the query returned no object")
    error = reply.get("error")
    actions.checks.raise_for(entry, "query", error if isinstance(error, Mapping) else None, deadline)
    value = reply.get("value")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return QueryResult(entry.ref, kind, value, bool(reply.get("truncated")), meter.cost(text))

"""Operations as Python calls, without values that must not appear in a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bridge.page.instrumentation import ApiCall
from bridge.page.logs.request_entry import REDACTED, shown_headers, shown_url

_TEXT_CHARS = 2_000
_LISTED = 50
_ADDRESSES = frozenset({"url", "origin"})
# Typed text counts as a password unless the page returned it as the value.
_TYPED = {"fill": "value", "type": "text", "press_sequentially": "text", "insert_text": "text"}
ONLY_BY_NAME = frozenset({"read", "record", "screenshot", "emulate_media", "snapshot", "wait_for"})
_NOISE = frozenset({"timeout_s", "settle_s", "on_progress", "on_frame"})


def call(operation: ApiCall, arguments: Mapping[str, Any]) -> str:
    """Such as `page.get_by_label('Name').fill('Ann')`: the first argument by position, the rest by name."""
    subject = operation.subject
    if not subject:
        subject = "page"
    elif not subject.startswith("expect("):
        subject = f"page.{subject}"
    elif not subject.startswith("expect(page"):
        subject = subject.replace("expect(", "expect(page.", 1)
    shown = [
        _literal(value) if number == 0 and operation.name not in ONLY_BY_NAME else f"{key}={_literal(value)}"
        for number, (key, value) in enumerate(arguments.items())
        if key not in _NOISE
    ]
    return f"{subject}.{operation.name}({', '.join(shown)})"


def arguments_of(operation: ApiCall, result: Any, *, is_known: bool) -> dict[str, Any]:
    """The arguments as JSON.

    Args:
        result: The result of the operation. If it typed and the result has no value, the text was a password.
        is_known: Whether the operation succeeded, so that `result` shows this.
    """
    typed = _TYPED.get(operation.name)
    is_secret = not is_known or getattr(result, "value", None) is None
    return {
        key: REDACTED
        if (key == typed and is_secret and value) or key == "password"
        else shown_headers(value, True)
        if key == "headers" and isinstance(value, Mapping)
        else shown_url(value, True)
        if key in _ADDRESSES and isinstance(value, str)
        else jsonable(value)
        for key, value in operation.arguments.items()
        if key != "redact"
    }


def jsonable(value: Any, depth: int = 0) -> Any:
    """`value` as bounded JSON; other objects as their repr."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value if len(value) <= _TEXT_CHARS else f"{value[:_TEXT_CHARS]}… ({len(value)} characters)"
    if isinstance(value, re.Pattern):
        return {"pattern": str(value.pattern), "flags": "i" if value.flags & re.IGNORECASE else ""}
    if depth < 4 and isinstance(value, Mapping):
        return {str(key): jsonable(item, depth + 1) for key, item in list(value.items())[:_LISTED]}
    if depth < 4 and isinstance(value, list | tuple | set | frozenset):
        return [jsonable(item, depth + 1) for item in list(value)[:_LISTED]]
    return repr(value)[:200]


def _literal(value: Any) -> str:
    if isinstance(value, Mapping) and set(value) == {"pattern", "flags"}:
        return f"re.compile({value['pattern']!r}{', re.IGNORECASE' if value['flags'] else ''})"
    return repr(value)

"""Console entries: calls of the console API, uncaught errors with stacks, and messages of the browser."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bridge.errors import UsageError
from bridge.page.logs.log_slice import LogSlice

LEVELS = ("debug", "info", "warning", "error")
_TEXT_CHARS = 4_000
_STACK_FRAMES = 20
# consoleAPICalled has the method's name; the four levels are those of Log.entryAdded.
_LEVEL_OF = {
    "debug": "debug",
    "verbose": "debug",
    "log": "info",
    "info": "info",
    "warning": "warning",
    "warn": "warning",
    "error": "error",
    "assert": "error",
}


@dataclass(frozen=True, slots=True)
class ConsoleEntry:
    """One message.

    Attributes:
        number: Its number in the session's log, from 1 and never reused.
        level: debug, info, warning or error.
        kind: `console` (a call of the console API), `exception` (uncaught), or the source of a browser message
            (`network`, `security`, `deprecation`, …).
        location: `URL:line:column`, counted from 1; "" if it is not known.
        stack: One line per frame, innermost first.
        at_s: In seconds of the Unix epoch.
    """

    number: int
    tab_id: str
    level: str
    kind: str
    text: str
    location: str
    stack: tuple[str, ...]
    at_s: float

    def numbered(self, number: int) -> ConsoleEntry:
        return replace(self, number=number)

    def __str__(self) -> str:
        where = f" ({self.location})" if self.location else ""
        return f"[{self.level}] {self.text}{where}"

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "tab": self.tab_id,
            "level": self.level,
            "kind": self.kind,
            "text": self.text,
            "location": self.location,
            **({"stack": list(self.stack)} if self.stack else {}),
            "at_s": round(self.at_s, 3),
        }


class ConsoleLog(LogSlice[ConsoleEntry]):
    """Messages, oldest first."""

    __slots__ = ()

    @classmethod
    def select(
        cls,
        kept: Iterable[ConsoleEntry],
        last: int,
        *,
        tab_id: str | None,
        level: str | None,
        text: str | None,
        after: int,
        limit: int,
    ) -> ConsoleLog:
        """The entries that fit. `level` is the least severe level to include, `text` a part of the text.

        Raises:
            UsageError: An unknown level, or a limit below 1.
        """
        if level is not None and level not in LEVELS:
            raise UsageError(f"level must be one of {', '.join(LEVELS)}, not {level!r}")
        severe = LEVELS[LEVELS.index(level) if level else 0 :]
        wanted = (text or "").casefold()

        def fits(entry: ConsoleEntry) -> bool:
            return entry.level in severe and wanted in entry.text.casefold()

        return cls.newest(kept, last, fits, tab_id=tab_id, after=after, limit=limit)

    def to_json(self) -> dict[str, Any]:
        return {"entries": [entry.to_json() for entry in self.entries], **self.counts()}


def entry_of_call(tab_id: str, params: Mapping[str, Any]) -> ConsoleEntry | None:
    """The entry for Runtime.consoleAPICalled; None for calls that only arrange others (groups, clear)."""
    kind = str(params.get("type", "log"))
    if kind in ("clear", "endGroup", "profile", "profileEnd"):
        return None
    frames = _frames(params.get("stackTrace"))
    level = _LEVEL_OF.get(kind, "info")
    return ConsoleEntry(
        0,
        tab_id,
        level,
        "console",
        _cut(_joined(params.get("args", ()))),
        _location(frames[0]) if frames else "",
        _stack(frames) if level == "error" or kind == "trace" else (),
        _seconds(params),
    )


def entry_of_exception(tab_id: str, params: Mapping[str, Any]) -> ConsoleEntry:
    """The entry for Runtime.exceptionThrown: an uncaught error, or a promise rejected without a handler."""
    details = params["exceptionDetails"]
    thrown = details.get("exception") or {}
    described = str(thrown.get("description") or _shown(thrown) if thrown else "")
    text = described.split("\n    at ")[0] or str(details.get("text", "exception"))
    if str(details.get("text", "")).startswith("Uncaught (in promise)"):
        text = f"Uncaught (in promise) {text}"
    frames = _frames(details.get("stackTrace"))
    location = _location(frames[0]) if frames else _location(details)
    return ConsoleEntry(0, tab_id, "error", "exception", _cut(text), location, _stack(frames), _seconds(params))


def entry_of_log(tab_id: str, params: Mapping[str, Any]) -> ConsoleEntry | None:
    """The entry for Log.entryAdded: a message of the browser."""
    entry = params["entry"]
    frames = _frames(entry.get("stackTrace"))
    location = _location(frames[0]) if frames else ""
    if not location and entry.get("url"):
        line = entry.get("lineNumber")
        location = f"{entry['url']}:{line + 1}" if isinstance(line, int) else str(entry["url"])
    return ConsoleEntry(
        0,
        tab_id,
        _LEVEL_OF.get(str(entry.get("level")), "info"),
        str(entry.get("source", "other")),
        _cut(str(entry.get("text", ""))),
        location,
        _stack(frames),
        _seconds(entry),
    )


def _joined(arguments: Iterable[Any]) -> str:
    """The arguments as a console shows them, with `%s` and other format specifiers filled in."""
    shown = [_shown(argument) for argument in arguments if isinstance(argument, Mapping)]
    if shown and "%" in shown[0]:
        parts, rest, at = [], shown[1:], 0
        text = shown[0]
        while (mark := text.find("%", at)) >= 0 and mark + 1 < len(text):
            parts.append(text[at:mark])
            sign = text[mark + 1]
            if sign in "sdifoOc" and rest:
                value = rest.pop(0)
                parts.append("" if sign == "c" else value)
            else:
                parts.append("%" if sign == "%" else text[mark : mark + 2])
            at = mark + 2
        shown = ["".join(parts) + text[at:], *rest]
    return " ".join(shown)


def _shown(value: Mapping[str, Any]) -> str:
    """A remote object as short text: objects and arrays by the preview that the browser sends."""
    if "value" in value:
        plain = value["value"]
        # The description of a number is as JavaScript writes it.
        return plain if isinstance(plain, str) else str(value.get("description") or json.dumps(plain))
    if "unserializableValue" in value:
        return str(value["unserializableValue"])
    preview = value.get("preview")
    if isinstance(preview, Mapping) and value.get("subtype") in (None, "array", "map", "set"):
        is_list = preview.get("subtype") == "array"
        listed = [
            ("" if is_list else f"{item.get('name')}: ") + str(item.get("value", ""))
            for item in preview.get("properties", ())
        ]
        more = ", …" if preview.get("overflow") else ""
        opening, closing = ("[", "]") if is_list else ("{", "}")
        return f"{opening}{', '.join(listed)}{more}{closing}"
    return str(value.get("description") or value.get("type", ""))


def _frames(trace: Any) -> list[Mapping[str, Any]]:
    """The frames of a stack trace and of its asynchronous parents."""
    found: list[Mapping[str, Any]] = []
    while isinstance(trace, Mapping) and len(found) < _STACK_FRAMES:
        found.extend(frame for frame in trace.get("callFrames", ()) if isinstance(frame, Mapping))
        trace = trace.get("parent")
    return found[:_STACK_FRAMES]


def _location(frame: Mapping[str, Any]) -> str:
    url = str(frame.get("url") or "")
    if not url:
        return ""
    return f"{url}:{int(frame.get('lineNumber', 0)) + 1}:{int(frame.get('columnNumber', 0)) + 1}"


def _stack(frames: list[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(f"{frame.get('functionName') or '(anonymous)'} ({_location(frame)})" for frame in frames)


def _seconds(params: Mapping[str, Any]) -> float:
    """Seconds from a Runtime.Timestamp, which is in milliseconds."""
    stamp = params.get("timestamp")
    return float(stamp) / 1000 if isinstance(stamp, int | float) else 0.0


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_CHARS else f"{text[:_TEXT_CHARS]}… ({len(text)} characters)"

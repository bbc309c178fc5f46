"""What the viewer's page sends, checked: it is ours, and whatever else reaches the socket is a stranger's."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, get_args

from bridge.errors import UsageError
from bridge.page.input.keys import key_events, parse_chord

Phase = Literal["touchStart", "touchMove", "touchEnd"]
_MAX_TEXT = 10_000


@dataclass(frozen=True, slots=True)
class Touch:
    """One finger; x and y as parts of the picture's width and height, 0 to 1."""

    phase: Phase
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class KeyPress:
    """CDP's `Input.dispatchKeyEvent` parameters of one key or chord."""

    events: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of the select element that was touched last."""

    index: int


@dataclass(frozen=True, slots=True)
class Control:
    """The person takes over, or hands back."""

    take: bool


Message = Touch | Text | KeyPress | Choice | Control


def parse_hello(text: str | bytes) -> bytes:
    """The token or key that the first message says.

    Raises:
        UsageError: It is no such message.
    """
    try:
        facts = json.loads(text)
        if facts["kind"] == "hello":
            return str(facts["key"]).encode()
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError("the first message of a live view says its key") from error
    raise UsageError("the first message of a live view says its key")


def parse_message(text: str) -> Message:
    """The message of a line of JSON.

    Raises:
        UsageError: It is none.
    """
    try:
        facts = json.loads(text)
        kind = facts["kind"]
        if kind == "touch" and facts["phase"] in get_args(Phase):
            return Touch(facts["phase"], _part(facts["x"]), _part(facts["y"]))
        if kind == "text" and isinstance(facts["text"], str) and 0 < len(facts["text"]) <= _MAX_TEXT:
            return Text(facts["text"])
        if kind == "key" and isinstance(facts["key"], str) and len(facts["key"]) <= 60:
            return KeyPress(tuple(key_events(parse_chord(facts["key"]))))
        if kind == "choice" and type(facts["index"]) is int and 0 <= facts["index"] < 100_000:
            return Choice(facts["index"])
        if kind == "control" and type(facts["take"]) is bool:
            return Control(facts["take"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError(f"not a message of the live view: {error}") from error
    raise UsageError("not a message of the live view")


def _part(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is no part of the picture")
    return float(value)

"""Validates messages of the viewer's page; anything may connect to the socket."""

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
    """A touch of one finger; x and y are fractions of the image's width and height."""

    phase: Phase
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class KeyPress:
    """Parameters of CDP's `Input.dispatchKeyEvent` for a key or chord."""

    events: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of the last touched select element."""

    index: int


@dataclass(frozen=True, slots=True)
class Control:
    """The person takes over, or hands back."""

    take: bool


Message = Touch | Text | KeyPress | Choice | Control


def parse_hello(text: str | bytes) -> bytes:
    """The token or key in the first message.

    Raises:
        UsageError: Not a valid first message.
    """
    try:
        facts = json.loads(text)
        if facts["kind"] == "hello":
            return str(facts["key"]).encode()
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError("the first message of a live view must contain its key") from error
    raise UsageError("the first message of a live view must contain its key")


def parse_message(text: str) -> Message:
    """Parse a message.

    Raises:
        UsageError: Not a valid message.
    """
    try:
        facts = json.loads(text)
        kind = facts["kind"]
        if kind == "touch" and facts["phase"] in get_args(Phase):
            return Touch(facts["phase"], _fraction(facts["x"]), _fraction(facts["y"]))
        if kind == "text" and isinstance(facts["text"], str) and 0 < len(facts["text"]) <= _MAX_TEXT:
            return Text(facts["text"])
        if kind == "key" and isinstance(facts["key"], str) and len(facts["key"]) <= 60:
            return KeyPress(tuple(key_events(parse_chord(facts["key"]))))
        if kind == "choice" and type(facts["index"]) is int and 0 <= facts["index"] < 100_000:
            return Choice(facts["index"])
        if kind == "control" and type(facts["take"]) is bool:
            return Control(facts["take"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError(f"not a valid live view message: {error}") from error
    raise UsageError("not a valid live view message")


def _fraction(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is not a number from 0 to 1")
    return float(value)

"""Touch events as CDP commands, and the directions and distances that gestures take."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

from bridge.errors import UsageError

Direction = Literal["up", "down", "left", "right"]
_TOWARDS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
# Marks taps of the bridge, so that a document recognizes one that was prepared elsewhere (injected_js/src/checks). No
# touch screen reports this force.
_TAP_FORCE = 0.6180419921875


def touch(kind: str, *points: tuple[float, float], force: float = 1) -> tuple[str, dict[str, Any]]:
    """One touch event with a finger at each point, in CSS pixels of the top frame's visual viewport."""
    fingers = [
        {"x": round(x, 2), "y": round(y, 2), "radiusX": 1, "radiusY": 1, "force": force, "id": number}
        for number, (x, y) in enumerate(points, 1)
    ]
    return "Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers}


def tap_commands(x: float, y: float) -> list[tuple[str, dict[str, Any]]]:
    """One finger down and up at (x, y). Only a document in which an action was prepared lets it through."""
    return [touch("touchStart", (x, y), force=_TAP_FORCE), touch("touchEnd")]


def tap_at(x: float, y: float) -> list[tuple[str, dict[str, Any]]]:
    """One finger down and up at (x, y), wherever that is."""
    return [touch("touchStart", (x, y)), touch("touchEnd")]


def unit_vector(direction: str) -> tuple[int, int]:
    """The unit vector of a direction, in CSS pixels.

    Raises:
        UsageError: Not a direction.
    """
    if direction not in _TOWARDS:
        raise UsageError(f"direction={direction!r}", hint=f"Use one of {', '.join(get_args(Direction))}.")
    return _TOWARDS[direction]


def checked_px(value: object) -> float:
    """Validate a number of CSS pixels."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"{value!r} is not a valid number of CSS pixels.")
    return float(value)

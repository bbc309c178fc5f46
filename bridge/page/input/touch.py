"""Touch events as CDP commands, and the directions and distances that gestures take."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

from bridge.errors import UsageError

Direction = Literal["up", "down", "left", "right"]
_TOWARDS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
# By this a document knows a tap that was prepared elsewhere (injected_js/src/checks/guard.js); no screen measures it.
_TAP_FORCE = 0.6180419921875


def touch(kind: str, *points: tuple[float, float], force: float = 1) -> tuple[str, dict[str, Any]]:
    """One touch event: the fingers that are down at these points, CSS pixels of what is seen of the top frame."""
    fingers = [
        {"x": round(x, 2), "y": round(y, 2), "radiusX": 1, "radiusY": 1, "force": force, "id": number}
        for number, (x, y) in enumerate(points, 1)
    ]
    return "Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers}


def tap_commands(x: float, y: float) -> list[tuple[str, dict[str, Any]]]:
    """One finger down and up at (x, y); only a document in which an action was prepared takes it."""
    return [touch("touchStart", (x, y), force=_TAP_FORCE), touch("touchEnd")]


def unit_vector(direction: str) -> tuple[int, int]:
    """The unit vector of a direction, in CSS pixels.

    Raises:
        UsageError: It is none.
    """
    if direction not in _TOWARDS:
        raise UsageError(f"direction={direction!r}", hint=f"It is one of {', '.join(get_args(Direction))}.")
    return _TOWARDS[direction]


def checked_px(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"{value!r} is no number of CSS pixels.")
    return float(value)

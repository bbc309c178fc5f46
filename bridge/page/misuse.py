"""Helpful errors for names and arguments that other libraries have and this one has not."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Collection, KeysView, Mapping
from typing import Any, TypeVar

from bridge.errors import UsageError

K = TypeVar("K")
_NEAREST_SHOWN = 3
# Names of Playwright for what is called otherwise here.
_CALLED_HERE = {
    "double_click": "dblclick",
    "fill_form": "fill",
    "networkidle": "wait_for_load_state",
    "set_viewport": "set_viewport_size",
    "wait_for_navigation": "wait_for_url",
}


def helpful(kind: type[K]) -> type[K]:
    """A class decorator: an unknown attribute suggests the nearest names.

    The method is added here and not written in the class: type checkers would take every name for an attribute then.
    """

    def missing(self: object, name: str) -> Any:
        raise AttributeError(unknown_name(type(self), name))

    kind.__getattr__ = missing  # type: ignore[attr-defined]
    return kind


def unknown_name(kind: type, name: str) -> str:
    """The message of an AttributeError."""
    from bridge.page.not_here import NOT_HERE

    text = f"{kind.__name__} has no attribute {name!r}"
    if (reason := NOT_HERE.get(f"{kind.__name__}.{name}")) is not None:
        return f"{text}: {reason}"
    if name.startswith("_"):
        return text
    names = [known for known in dir(kind) if not known.startswith("_")]
    called = _CALLED_HERE.get(name, "")
    near = [called] if called in names else difflib.get_close_matches(name, names, n=_NEAREST_SHOWN)
    return f"{text}. Did you mean {' or '.join(near)}?" if near else text


def check_arguments(name: str, known: Collection[str], given: Mapping[str, Any]) -> None:
    """Refuse arguments that a method does not have.

    Raises:
        UsageError: Says what it has instead.
    """
    for key, value in given.items():
        if key in known:
            continue
        if key == "timeout":
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            seconds = f"{value / 1000:g}" if is_number else "…"
            raise UsageError(
                f"{name} has no argument timeout", hint=f"Timeouts are in seconds here: timeout_s={seconds}."
            )
        near = difflib.get_close_matches(key, [one for one in known if one != "self"], n=_NEAREST_SHOWN)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"It has {', '.join(k for k in known if k != 'self')}."
        raise UsageError(f"{name} has no argument {key}", hint=hint)


def parameters_of(method: Any) -> KeysView[str] | None:
    """The names of a method's parameters; None if it takes any."""
    parameters = inspect.signature(method).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return None
    return parameters.keys()

"""Initial values of controls, and the states that attributes give. Pure."""

from __future__ import annotations

import re
from typing import Any

from bridge.snapshot.escape import cut
from bridge.snapshot.plain_html.dom import fold, input_type, is_first_summary, text_of
from bridge.snapshot.plain_html.parse import Element

_STATES = ("checked", "selected", "expanded", "disabled", "required", "readonly", "pressed", "current", "invalid")
_LEAN = ("href", "name", "type", "value", "placeholder")
_FULL = (*_LEAN, "src", "alt", "title", "action", "method")
_WITHOUT_VALUE = frozenset(("password", "hidden", "file", "image", "checkbox", "radio"))
_DISABLEABLE = frozenset(("button", "input", "select", "textarea", "optgroup", "option", "fieldset"))
# HTML §2.3.4.3 "valid floating-point number"
_NUMBER = re.compile(r"-?(\d+(\.\d+)?|\.\d+)([eE][-+]?\d+)?")


def is_multiple(select: Element) -> bool:
    """A list box rather than a drop-down."""
    size = re.match(r"\s*\+?(\d{1,9})", select.get("size") or "")
    return select.get("multiple") is not None or bool(size and int(size[1]) > 1)


def selected_options(select: Element) -> list[Element]:
    """HTML §4.10.7 "ask for a reset": of several in a drop-down the last counts, of none the first not disabled."""
    options = list(select.iter("option"))[:2_000]
    chosen = [option for option in options if option.get("selected") is not None]
    if select.get("multiple") is not None:
        return chosen
    if chosen:
        return chosen[-1:]
    return [] if is_multiple(select) else [option for option in options if option.get("disabled") is None][:1]


def value_of(element: Element) -> str | None:
    """The value of a control, or None if it has none to show. A password is never read."""
    tag = element.tag
    if tag == "select":
        return ", ".join([fold(option.get("label") or text_of(option)) for option in selected_options(element)])
    if tag == "textarea":
        return text_of(element).removeprefix("\n")
    if tag == "input":
        kind = input_type(element)
        if kind in _WITHOUT_VALUE:
            return None
        value = element.get("value") or ""
        if kind in ("number", "range"):
            return number_of(element)
        if kind == "color":
            return value.lower() if re.fullmatch(r"#[0-9a-fA-F]{6}", value) else "#000000"
        return value
    editable = element.get("contenteditable")
    is_editable = editable is not None and editable.lower() != "false"
    return (
        fold(text_of(element)) if is_editable or element.get("role") in ("textbox", "searchbox", "combobox") else None
    )


def number_of(element: Element) -> str:
    """The value of a number, a slider, a progress bar or a meter."""
    value = element.get("value") or ""
    sound = value if _NUMBER.fullmatch(value) else ""
    if element.tag in ("progress", "meter"):
        return f"{float(sound or 0):g}"
    if input_type(element) == "range" and not sound:
        low, high = (_number(element.get(side), default) for side, default in (("min", 0.0), ("max", 100.0)))
        return f"{low if high < low else low + (high - low) / 2:g}"
    return sound if element.tag == "input" else ""


def is_in(element: Element, state: str) -> bool:
    """Is it in this state, by ARIA or by HTML?"""
    tag = element.tag
    if element.get(f"aria-{state}") == "true":
        return True
    match state:
        case "checked":
            return (
                tag == "input" and element.get("checked") is not None and input_type(element) in ("checkbox", "radio")
            )
        case "selected":
            return tag == "option" and _is_selected(element)
        case "expanded":
            parent = element.getparent()
            return is_first_summary(element) and parent is not None and parent.get("open") is not None
        case "disabled":
            return _is_disabled(element)
        case "required":
            return tag in ("input", "select", "textarea") and element.get("required") is not None
        case "readonly":
            return element.get("readonly") is not None
    return False


def attrs_of(element: Element, role: str, name: str, max_chars: int, *, lean: bool) -> dict[str, Any]:
    """The attributes and states that a snapshot carries, as the injected script's `attrsOf` has them."""
    out: dict[str, Any] = {}
    tag = str(element.tag)
    for key in _LEAN if lean else _FULL:
        if key == "type" and tag != "input":
            continue
        text = value_of(element) if key == "value" else element.get(key)
        if text and (key == "name" or fold(text) != name):
            out[key] = cut("data:" if text.startswith("data:") else text, max_chars)
    for state in _STATES:
        stated = element.get(f"aria-{state}") or ""
        shown: Any = is_in(element, state) or (stated if stated not in ("true", "false") else False)
        if state == "checked" and stated == "mixed":
            shown = "mixed"
        if shown:
            out[state] = shown
        elif state in ("expanded", "pressed") and (stated or (tag == "summary" and state == "expanded")):
            out[state] = False
    level = element.get("aria-level") or (tag[1] if role == "heading" and re.fullmatch("h[1-6]", tag) else "")
    if _NUMBER.fullmatch(level):
        out["level"] = float(level)
    now = element.get("aria-valuenow") or ""
    if not now and role in ("slider", "progressbar", "meter"):
        now = number_of(element)
    if _NUMBER.fullmatch(now):
        out["valuenow"] = float(now)
    return out


def _is_selected(option: Element) -> bool:
    select = next(option.iterancestors("select"), None)
    if select is None:
        return option.get("selected") is not None
    return option in selected_options(select)


def is_disabled(element: Element) -> bool:
    """HTML §4.15.3 `:disabled`."""
    if element.tag in _DISABLEABLE and element.get("disabled") is not None:
        return True
    at, above = element, element.getparent()
    while above is not None:
        if above.get("disabled") is not None:
            if element.tag == "option" and above.tag == "optgroup":
                return True
            legend = above.tag == "fieldset" and at.tag == "legend" and at is next(above.iterchildren("legend"), None)
            if above.tag == "fieldset" and element.tag in _DISABLEABLE and not legend:
                return True
        at, above = above, above.getparent()
    return False


def _is_disabled(element: Element) -> bool:
    """`:disabled`, and everything inside `aria-disabled=true`."""
    return is_disabled(element) or any(above.get("aria-disabled") == "true" for above in element.iterancestors())


def _number(value: str | None, default: float) -> float:
    return float(value) if value and _NUMBER.fullmatch(value) else default

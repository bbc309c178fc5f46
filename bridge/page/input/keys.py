"""Keys by their UI Events names, as parameters of `Input.dispatchKeyEvent`.

Source: W3C UI Events KeyboardEvent key and code values; Windows virtual key codes, which Chromium uses everywhere.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bridge.errors import Unsupported, UsageError

MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
_ALIASES = {
    "Ctrl": "Control",
    "Cmd": "Meta",
    "Command": "Meta",
    "Option": "Alt",
    "Esc": "Escape",
    "Return": "Enter",
    "Del": "Delete",
    "Up": "ArrowUp",
    "Down": "ArrowDown",
    "Left": "ArrowLeft",
    "Right": "ArrowRight",
    "Space": " ",
    "Spacebar": " ",
    "Plus": "+",
}
# key -> (code, virtual key code, text it types)
_NAMED: dict[str, tuple[str, int, str]] = {
    "Alt": ("AltLeft", 18, ""),
    "Control": ("ControlLeft", 17, ""),
    "Meta": ("MetaLeft", 91, ""),
    "Shift": ("ShiftLeft", 16, ""),
    "Enter": ("Enter", 13, "\r"),
    "Tab": ("Tab", 9, ""),
    "Escape": ("Escape", 27, ""),
    "Backspace": ("Backspace", 8, ""),
    "Delete": ("Delete", 46, ""),
    "Insert": ("Insert", 45, ""),
    "Home": ("Home", 36, ""),
    "End": ("End", 35, ""),
    "PageUp": ("PageUp", 33, ""),
    "PageDown": ("PageDown", 34, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "ContextMenu": ("ContextMenu", 93, ""),
    "CapsLock": ("CapsLock", 20, ""),
    " ": ("Space", 32, " "),
    **{f"F{n}": (f"F{n}", 111 + n, "") for n in range(1, 13)},
}
_PUNCTUATION = {
    "-": ("Minus", 189),
    "_": ("Minus", 189),
    "=": ("Equal", 187),
    "+": ("Equal", 187),
    "[": ("BracketLeft", 219),
    "{": ("BracketLeft", 219),
    "]": ("BracketRight", 221),
    "}": ("BracketRight", 221),
    "\\": ("Backslash", 220),
    "|": ("Backslash", 220),
    ";": ("Semicolon", 186),
    ":": ("Semicolon", 186),
    "'": ("Quote", 222),
    '"': ("Quote", 222),
    ",": ("Comma", 188),
    "<": ("Comma", 188),
    ".": ("Period", 190),
    ">": ("Period", 190),
    "/": ("Slash", 191),
    "?": ("Slash", 191),
    "`": ("Backquote", 192),
    "~": ("Backquote", 192),
}
_SHIFTED_DIGITS = ")!@#$%^&*("
#: Text is typed key by key up to this length.
KEYED_CHARS = 300
# The embedder handles editing shortcuts, so the key event alone does not edit in a hidden WebView.
_EDIT_COMMANDS = {"a": "selectAll", "c": "copy", "x": "cut", "v": "paste", "z": "undo", "y": "redo"}


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a chord. `text` is what it types without modifiers other than Shift."""

    key: str
    code: str
    virtual_key_code: int
    text: str


@dataclass(frozen=True, slots=True)
class Chord:
    modifiers: tuple[Key, ...]
    key: Key


def _key(name: str) -> Key | None:
    name = _ALIASES.get(name, name)
    if name in _NAMED:
        code, virtual_key_code, text = _NAMED[name]
        return Key(name, code, virtual_key_code, text)
    if len(name) != 1:
        return None
    if name in _PUNCTUATION:
        code, virtual_key_code = _PUNCTUATION[name]
        return Key(name, code, virtual_key_code, name)
    if name.isascii() and name.isalpha():
        return Key(name, f"Key{name.upper()}", ord(name.upper()), name)
    digit = name if name.isascii() and name.isdigit() else str(_SHIFTED_DIGITS.find(name))
    if digit != "-1":
        return Key(name, f"Digit{digit}", ord(digit), name)
    return Key(name, "", 0, name) if name.isprintable() else None


def parse_chord(text: str) -> Chord:
    """`"Enter"`, `"a"`, `"Control+A"`, `"Control++"` as keys.

    Raises:
        UsageError: A part is not a valid key. The hint suggests similar names.
    """
    parts = [text] if text == "+" else text.replace("++", "+Plus").split("+") if text else []
    keys = [_key(part) for part in parts]
    for part, found in zip(parts, keys, strict=True):
        if found is None:
            near = difflib.get_close_matches(part, [*_NAMED, *_ALIASES], n=3)
            raise UsageError(f"{part!r} is not a valid key", hint=f"Did you mean {', '.join(near)}?" if near else "")
    known = [found for found in keys if found]
    if len(known) > 1 and any(key.key == "Shift" for key in known[:-1]) and known[-1].text.isalpha():
        upper = known[-1].text.upper()
        known[-1] = replace(known[-1], key=upper, text=upper)
    if not known or any(key.key not in MODIFIERS for key in known[:-1]):
        raise UsageError(
            f"{text!r} is not a valid key chord", hint='Write modifiers first and one key last, such as "Control+A".'
        )
    return Chord(tuple(known[:-1]), known[-1])


def key_events(chord: Chord) -> list[dict[str, Any]]:
    """The parameters of the `Input.dispatchKeyEvent` commands that press and release the chord, in order."""
    events: list[dict[str, Any]] = []
    held = 0
    for modifier in chord.modifiers:
        held |= MODIFIERS[modifier.key]
        events.append(_event("rawKeyDown", modifier, held))
    types = chord.key.text and not held & ~MODIFIERS["Shift"]
    down = _event("keyDown" if types else "rawKeyDown", chord.key, held)
    if types:
        down["text"] = down["unmodifiedText"] = chord.key.text
    command = _EDIT_COMMANDS.get(chord.key.key.lower())
    if command and held in (MODIFIERS["Control"], MODIFIERS["Meta"]):
        down["commands"] = [command]
    events.append(down)
    events.append(_event("keyUp", chord.key, held))
    for modifier in reversed(chord.modifiers):
        held &= ~MODIFIERS[modifier.key]
        events.append(_event("keyUp", modifier, held))
    return events


def key_down(text: str) -> dict[str, Any]:
    """The parameters of `Input.dispatchKeyEvent` that press one key and hold it.

    Raises:
        UsageError: Not a valid key, or a chord.
        Unsupported: The key would open a system dialog of a focused control.
    """
    key = _single_key(text)
    event = _event("keyDown" if key.text else "rawKeyDown", key, MODIFIERS.get(key.key, 0))
    if opens_popup(event):
        raise Unsupported(f"{text} may open a system dialog when it is held", hint="Use keyboard.press.")
    return {**event, "text": key.text, "unmodifiedText": key.text} if key.text else event


def key_up(text: str) -> dict[str, Any]:
    """The parameters of `Input.dispatchKeyEvent` that release one key."""
    return _event("keyUp", _single_key(text), 0)


def _single_key(text: str) -> Key:
    chord = parse_chord(text)
    if chord.modifiers:
        raise UsageError(f"{text!r} is a chord", hint="Hold its keys one after the other.")
    return chord.key


def opens_popup(event: Mapping[str, Any]) -> bool:
    """True if this key event opens the popup of a focused select, date or colour input."""
    with_alt = event["modifiers"] & MODIFIERS["Alt"]
    return event["key"] in ("Enter", " ", "F4") or bool(with_alt and event["key"] in ("ArrowDown", "ArrowUp"))


def _event(kind: str, key: Key, modifiers: int) -> dict[str, Any]:
    return {
        "type": kind,
        "modifiers": modifiers,
        "key": key.key,
        "code": key.code,
        "windowsVirtualKeyCode": key.virtual_key_code,
        "nativeVirtualKeyCode": key.virtual_key_code,
    }


def typing_commands(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The CDP commands that type `text` at the caret: key events, or insertion as by an IME for other characters.

    Text beyond `KEYED_CHARS` is inserted at once, as a paste would.
    """
    commands: list[tuple[str, dict[str, Any]]] = []
    text = text.replace("\r\n", "\n")
    for letter in text[:KEYED_CHARS]:
        found = _key("Enter" if letter in "\r\n" else "Tab" if letter == "\t" else letter)
        if found is not None and found.code and letter.isascii():
            commands += [("Input.dispatchKeyEvent", event) for event in key_events(Chord((), found))]
        else:
            commands.append(("Input.insertText", {"text": letter}))
    if rest := text[KEYED_CHARS:]:
        commands.append(("Input.insertText", {"text": rest}))
    return commands

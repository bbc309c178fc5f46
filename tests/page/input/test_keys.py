"""Key names become the events that a keyboard would send."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import UsageError
from bridge.page.input.keys import MODIFIERS, key_events, parse_chord


@pytest.mark.parametrize(
    ("text", "key", "code", "virtual_key_code", "types"),
    [
        ("Enter", "Enter", "Enter", 13, "\r"),
        ("a", "a", "KeyA", 65, "a"),
        ("Shift+a", "A", "KeyA", 65, "A"),
        ("7", "7", "Digit7", 55, "7"),
        ("!", "!", "Digit1", 49, "!"),
        ("+", "+", "Equal", 187, "+"),
        ("Esc", "Escape", "Escape", 27, ""),
        ("Space", " ", "Space", 32, " "),
        ("F12", "F12", "F12", 123, ""),
        ("ü", "ü", "", 0, "ü"),
    ],
)
def test_a_key_has_its_code_and_what_it_types(
    text: str, key: str, code: str, virtual_key_code: int, types: str
) -> None:
    found = parse_chord(text).key
    assert (found.key, found.code, found.virtual_key_code, found.text) == (key, code, virtual_key_code, types)


def test_a_chord_presses_modifiers_around_its_key() -> None:
    events = key_events(parse_chord("Control+Shift+K"))
    assert [(event["type"], event["key"], event["modifiers"]) for event in events] == [
        ("rawKeyDown", "Control", 2),
        ("rawKeyDown", "Shift", 10),
        ("rawKeyDown", "K", 10),
        ("keyUp", "K", 10),
        ("keyUp", "Shift", 2),
        ("keyUp", "Control", 0),
    ]


def test_an_editing_shortcut_carries_its_command_and_no_text() -> None:
    down = key_events(parse_chord("Control+A"))[1]
    assert down["commands"] == ["selectAll"]
    assert "text" not in down


def test_control_plus_is_a_chord_of_the_plus_key() -> None:
    assert parse_chord("Control++").key.key == "+"


@pytest.mark.parametrize("text", ["", "Entr", "a+Control", "Control+", "ab", "\x00"])
def test_an_unknown_key_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_chord(text)


def test_an_error_about_a_misspelt_key_suggests_similar_ones() -> None:
    with pytest.raises(UsageError, match="Enter"):
        parse_chord("Entr")


@given(
    st.lists(st.sampled_from(sorted(MODIFIERS)), unique=True, max_size=4), st.sampled_from(["a", "Enter", "Tab", "9"])
)
def test_every_pressed_key_is_released(modifiers: list[str], key: str) -> None:
    events = key_events(parse_chord("+".join([*modifiers, key])))
    down = [event["code"] for event in events if event["type"] != "keyUp"]
    up = [event["code"] for event in events if event["type"] == "keyUp"]
    assert down == list(reversed(up))
    assert events[-1]["modifiers"] == 0

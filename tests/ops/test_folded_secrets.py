"""A secret is found in another case, grouped, split and encoded, and short ones do not garble a page's own words."""

from __future__ import annotations

import re
import time
from html import escape
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.ops import Secrets
from bridge.ops.folding import folded

VALUE = "hunter2Secret Value"
secrets = Secrets({"PW": VALUE, "CARD": "4111 1111-1111.1234", "CODE": "314159"})


def bold(text: str) -> str:
    return "<b>" + "</b><b>".join(text) + "</b>"


@pytest.mark.parametrize(
    "text",
    [
        VALUE.upper(),
        VALUE.lower(),
        VALUE.replace(" ", ""),
        " ".join(VALUE),
        "-".join(VALUE),
        "\n".join(VALUE),
        "\u200b".join(VALUE),
        "\u00ad".join(VALUE.upper()),
        "&shy;".join(VALUE),
        "hunter**2**_Secret_ `Value`",
        "| hunter2 | Secret |\n| Value |",
        "[hunter2](https://other.example/a?b=c) Secret [Value](e5)",
        '<span class="a b">HUNTER2</span><br>secret<wbr/> value',
        bold(VALUE.upper()),
        VALUE.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),  # fullwidth
        "".join(chr(0x1D400 + ord(it) - 65) if it.isupper() else it for it in VALUE.upper()),  # mathematical bold
        "u\u0308".join(["h", VALUE[2:]]),
        "".join(f"%{ord(it):02X}" for it in VALUE.upper()),
        "".join(f"%25{ord(it):02x}" for it in VALUE.lower()),
        "".join(f"&#{ord(it)};" for it in VALUE.upper()),
        "".join(f"&amp;#x{ord(it):x};" for it in VALUE.upper()),
        "".join(f"\\u{ord(it):04x}" for it in VALUE.upper()),
        quote(escape(VALUE.upper())),
        "HUNTER2SECR…",
        "hunter2-secret…",
        '- text "hunter2"\n  - strong "Sec" [ref=e4]\n  - link "RET" [ref=e5]:\n    - text "value"',
    ],
)
def test_a_secret_is_removed_in_other_forms(text: str) -> None:
    redacted = secrets.redact(f"before\n{text}\nafter")
    assert redacted.count("[secret:PW]") == 1, redacted
    assert redacted.startswith("before\n")
    assert redacted.endswith("\nafter")
    assert not re.search("hun|ecre|valu", redacted.replace("[secret:PW]", ""), re.IGNORECASE), redacted


@pytest.mark.parametrize(
    "text", ["4111111111111234", "4111 1111 1111 1234", "4111-1111-1111-1234", "4 1 1 1 1 1 1 1 1 1 1 1 1 2 3 4"]
)
def test_grouped_digits_are_removed(text: str) -> None:
    assert secrets.redact(f"Card {text}, yours") == "Card [secret:CARD], yours"


def test_refs_of_a_snapshot_stay_where_a_secret_is_spread_over_its_lines() -> None:
    digits = "\n".join(f'- textbox "Digit {n}" [value="{digit}"] [ref=e{n}]' for n, digit in enumerate("314159", 1))
    redacted = secrets.redact(digits)
    assert re.findall(r"\[ref=(\w+)\]", redacted) == ["e1", "e2", "e3", "e4", "e5", "e6"]
    assert re.findall(r'value="([^"]*)"', redacted) == ["[secret:CODE]", "", "", "", "", ""]


@given(st.text(st.characters(codec="utf-8"), min_size=4, max_size=40), st.text(max_size=20), st.data())
def test_letters_decorated_in_any_way_are_found(value: str, around: str, data: st.DataObject) -> None:
    if len(value.strip()) < 4:
        return
    named = Secrets({"S": value})
    shown = value.strip()
    if not named.warnings:
        case = data.draw(st.sampled_from([str.upper, str.lower, str.casefold, str.swapcase]))
        gap = data.draw(st.sampled_from(["", " ", "-", " · ", "\n", "\u200b", "**"]))
        shown = gap.join(case(shown)) if folded(case(shown)) == folded(shown) else shown
    assert shown not in named.redact(f"{around} {shown} {around}")


@pytest.mark.parametrize("value", ["pass", "Secret", "hunter2", "12345", "a-b-c-d-e"])
def test_a_short_secret_is_removed_only_as_it_is_written_and_its_operator_is_warned(value: str) -> None:
    short = Secrets({"SHORT": value})
    assert short.redact(f"x {value} y") == "x [secret:SHORT] y"
    for own in (value.swapcase(), " ".join(value)):
        if own != value:
            assert short.redact(own) == own
    (warning,) = short.warnings
    assert "SHORT" in warning
    assert value not in warning.replace("SHORT", "")


def test_long_secrets_cause_no_warning() -> None:
    assert secrets.warnings == ()


def test_a_pages_own_words_stay() -> None:
    own = "Hunter 2 has a secret. 31415 pieces, 4111 1111 of them for 1,234.56. Value: 2 hunters…"
    assert secrets.redact(own) == own


def test_a_long_text_of_almost_secrets_takes_little_time() -> None:
    text = ("hunter2 secret valu… " * 20 + "<b>" + "%41&#x42;\\u0043é" * 10 + "</b>\n") * 500
    began = time.process_time()
    secrets.redact(text)
    assert time.process_time() - began < 20

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import StaleRef
from bridge.surfaces.cli.output import json_line, one_line, printable, report_failure, write_file

# All that ECMA-48 lets a terminal obey, and half surrogate pairs, which no stream encodes.
STEERING = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *map(chr, range(0xD800, 0xE000))}
BIDI = {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
ANY_TEXT = st.text(st.characters(categories=(*"LMNPSZC", "Cs")) | st.sampled_from(sorted(STEERING | BIDI)))


@given(ANY_TEXT)
def test_no_message_has_a_second_line_or_steers_the_terminal(text: str) -> None:
    shown = one_line(text)

    assert not STEERING & set(shown)
    assert len(shown.splitlines()) <= 1


@given(ANY_TEXT)
def test_page_text_keeps_its_lines_and_nothing_that_a_terminal_obeys(text: str) -> None:
    shown = printable(text)

    assert shown.count("\n") == text.count("\n")
    assert not (STEERING - {"\t", "\n", "\r"}) & set(shown)
    assert "\r" not in shown.replace("\r\n", "")


PLAIN = (
    "\treturn\u00a01;",
    "5\u202f\u20ac\u2009net",
    "\u3000\u6f22\u5b57",
    "\U0001f469\u200d\U0001f467",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "soft\u00adhyphen",
    "\u202bRTL\u202c",
)


@pytest.mark.parametrize("text", PLAIN)
def test_text_without_control_characters_is_printed_unchanged(text: str) -> None:
    assert printable(text) == text
    assert one_line(f"a{text.lstrip()}z") == f"a{text.lstrip()}z"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_a_terminal_is_kept_from_marks_that_reorder_what_a_person_sees() -> None:
    assert printable("pay \u202eyap", to=Terminal()) == "pay \N{REPLACEMENT CHARACTER}yap"
    assert printable("pay \u202eyap") == "pay \u202eyap"


@given(ANY_TEXT)
def test_json_is_one_line_of_printable_characters_that_means_the_same(text: str) -> None:
    line = json_line({"said": text})

    assert line.isprintable()
    # A pair of halves and the character they make are the same text in JSON.
    assert json.loads(line)["said"] == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def test_a_file_takes_a_text_with_half_a_surrogate_pair(tmp_path: Path) -> None:
    write_file(tmp_path / "read.md", "cut \ud83d off\n")

    assert (tmp_path / "read.md").read_text(encoding="utf-8") == "cut ? off\n"


def test_an_error_is_its_code_its_message_and_its_hint(capsys: pytest.CaptureFixture[str]) -> None:
    error = StaleRef('e12 was button "Pay\x1b[31m"\nand is now button "Cancel".', hint="Take a new snapshot.")

    assert report_failure(error, as_json=False) == 1
    assert capsys.readouterr().err == (
        'stale_ref: e12 was button "Pay\N{REPLACEMENT CHARACTER}[31m" and is now button "Cancel".'
        " Take a new snapshot.\n"
    )

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import StaleRef
from bridge.surfaces.cli.output import one_line, printable, report_failure


@given(st.text())
def test_no_message_has_a_second_line_or_steers_the_terminal(text: str) -> None:
    shown = one_line(text)

    assert all(character.isprintable() for character in shown)
    assert len(shown.splitlines()) <= 1


@given(st.text())
def test_page_text_keeps_its_lines_and_nothing_else_that_a_terminal_obeys(text: str) -> None:
    shown = printable(text)

    assert shown.count("\n") == text.count("\n")
    assert all(character.isprintable() or character == "\n" for character in shown)


def test_an_error_is_its_code_its_message_and_its_hint(capsys: pytest.CaptureFixture[str]) -> None:
    error = StaleRef('e12 was button "Pay\x1b[31m"\nand is now button "Cancel".', hint="Take a new snapshot.")

    assert report_failure(error, as_json=False) == 1
    assert capsys.readouterr().err == (
        'stale_ref: e12 was button "Pay\N{REPLACEMENT CHARACTER}[31m" and is now button "Cancel".'
        " Take a new snapshot.\n"
    )

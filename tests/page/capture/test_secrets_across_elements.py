"""Words that must not be shown are found where they are written across several texts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.ops import Secrets
from bridge.snapshot.split_text import TooManySpans, redacted_texts

SECRET = "hunter2secretvalue"
redact = Secrets({"PW": SECRET, "WORDS": "correct horse battery", "LONGER": SECRET + "longer"}).redact
nothing = st.text(st.characters(codec="utf-8", exclude_categories=["L", "N", "M"]), max_size=20)


@pytest.mark.parametrize(
    ("texts", "hidden"),
    [
        ([], set()),
        (["nothing", "to", "hide"], set()),
        (["a", SECRET, "b"], {1}),
        (["say hunter2", "secretvalue!", "b"], {0, 1}),
        (["a", "hunter2", "sec", "ret", "value", "b"], {1, 2, 3, 4}),
        ([*SECRET], set(range(len(SECRET)))),
        (["hunter2", " ", "secretvalue"], {0, 1, 2}),
        (["HUNTER2", "-", "secret ", "Value"], {0, 1, 2, 3}),
        (["hunter2", "!", "other"], set()),
        (["correct", "\n  ", "horse", " battery"], {0, 1, 2, 3}),
        (["hunter2secret", "value", "longer", "x"], {0, 1, 2}),
        ([f"{SECRET} hunter2", "secretvalue", f"x{SECRET}"], {0, 1, 2}),
        (["hunter2\ua66e", "secret\ua66evalue"], {0, 1}),
        (["x" * 9_000, "hunter2", "secretvalue", "x" * 9_000], {1, 2}),
    ],
)
def test_every_text_with_a_part_in_a_secret_is_found(texts: list[str], hidden: set[int]) -> None:
    assert redacted_texts(texts, redact) == hidden


@given(st.lists(nothing, max_size=8), st.lists(nothing, max_size=8), st.sets(st.integers(1, len(SECRET) - 1)))
def test_where_a_secret_is_cut_and_what_stands_around_it_makes_no_difference(
    before: list[str], after: list[str], cuts: set[int]
) -> None:
    edges = [0, *sorted(cuts), len(SECRET)]
    pieces = [SECRET[begin:end] for begin, end in pairwise(edges)]
    first = len(before)
    assert redacted_texts([*before, *pieces, *after], redact) == set(range(first, first + len(pieces)))


def test_a_page_that_is_nothing_but_pieces_of_secrets_is_given_up() -> None:
    with pytest.raises(TooManySpans):
        redacted_texts([*(SECRET * 20)], redact)

"""Refs are numbered once and never mean anything else."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import ActionFailed, NoSuchOption, RefNotFound, StaleRef, UsageError
from bridge.page.snapshots.refs import RefTable, parse_ref

PAGE = "https://shop.example/"


def everything_lives(_: str) -> bool:
    return True


@pytest.mark.parametrize("text", ["e5", "@e5"])
def test_a_ref_may_be_written_with_an_at_sign(text: str) -> None:
    assert parse_ref(text) == "e5"


@pytest.mark.parametrize(
    "text", ["", "5", "e", "e0", "e05", "E5", "e5 ", "@@e5", "e5\n", "e-1", "e9999999999", "button"]
)
def test_an_invalid_ref_is_bad_usage(text: str) -> None:
    with pytest.raises(UsageError):
        parse_ref(text)


def test_the_same_element_keeps_its_ref() -> None:
    table = RefTable()
    first = table.assign("w1", "top", "7", "button", "Buy", PAGE)
    assert table.assign("w1", "top", "7", "button", "Buy", PAGE) == first
    assert table.assign("w2", "top", "7", "button", "Buy", PAGE) != first


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 6).map(str)), max_size=60))
def test_no_ref_is_given_to_two_elements(places: list[tuple[str, str]]) -> None:
    table = RefTable()
    refs = {place: table.assign(place[0], "top", place[1], "link", "x", PAGE) for place in places}
    assert len(set(refs.values())) == len(refs)
    for (context_key, local), ref in refs.items():
        entry = table.look_up(ref, everything_lives)
        assert (entry.context_key, entry.local) == (context_key, local)


def test_an_error_about_a_ref_that_never_existed_says_so() -> None:
    with pytest.raises(RefNotFound, match="e3 does not exist on this page"):
        RefTable().look_up("e3", everything_lives)


def test_the_oldest_refs_of_very_many_are_forgotten_and_not_given_out_again() -> None:
    table = RefTable()
    refs = [table.assign("w", "top", str(number), "button", "x", PAGE) for number in range(20_010)]
    assert len(table) == 20_000
    with pytest.raises(RefNotFound, match="e1 is too old and has been forgotten"):
        table.look_up(refs[0], everything_lives)
    assert table.assign("w", "top", "0", "button", "x", PAGE) == "e20011"
    assert table.look_up(refs[-1], everything_lives).local == "20009"


def test_a_ref_of_a_page_that_was_left_says_what_it_was_and_what_resembles_it() -> None:
    table = RefTable()
    old = table.assign("left", "top", "1", "button", "Beta", PAGE)
    new = table.assign("here", "top", "1", "button", "Beta (2)", PAGE)
    with pytest.raises(RefNotFound) as caught:
        table.look_up(old, lambda key: key == "here")
    assert f'{old} (button "Beta") is stale: the page navigated away from {PAGE}' in str(caught.value)
    assert f'nearest: {new} button "Beta (2)"' in str(caught.value)
    assert caught.value.details["nearest"] == [new]


def test_a_stale_ref_names_what_it_has_become_and_the_refs_that_resemble_it() -> None:
    table = RefTable()
    table.assign("w", "top", "1", "link", "Home", PAGE)
    ref = table.assign("w", "top", "4", "button", "Pay", PAGE)
    table.assign("w", "top", "9", "button", "Pay all", PAGE)
    error = table.failure(
        table.look_up(ref, everything_lives), {"code": "stale_ref", "now": 'button "Cancel"'}, everything_lives
    )
    assert isinstance(error, StaleRef)
    assert 'e2 was button "Pay" and is now button "Cancel"; nearest: e3 button "Pay all".' in str(error)


def test_an_error_the_script_reports_becomes_the_error_of_the_tree() -> None:
    table = RefTable()
    entry = table.look_up(table.assign("w", "top", "1", "combobox", "Size", PAGE), everything_lives)
    error = table.failure(entry, {"code": "no_such_option", "message": "no option XL", "options": ["S", "M"]}, PAGE)
    assert isinstance(error, NoSuchOption)
    assert error.details["options"] == ["S", "M"]
    assert type(table.failure(entry, {"code": "novelty"}, everything_lives)) is ActionFailed


def test_a_ref_from_before_a_renumbering_is_dead_although_its_number_is_given_out_again() -> None:
    table = RefTable()
    old = [table.assign("w", "top", str(n), "button", "x", PAGE) for n in range(1, 4)]
    table.renumber()
    new = table.assign("w", "top", "2", "button", "x", PAGE)
    assert new == old[0] == "e1"
    for ref in (*old, copy.deepcopy(old[0])):
        with pytest.raises(RefNotFound, match=f"{ref} is from before the refs were renumbered"):
            table.look_up(ref, everything_lives)
        assert table.get(ref) is None
    for ref in (new, "e1", "@e1"):
        assert table.look_up(ref, everything_lives).local == "2"


def test_refs_of_documents_left_long_ago_are_forgotten_and_their_numbers_not_given_out_again() -> None:
    table = RefTable()
    kept = table.assign("w0", "top", "1", "button", "Stays", PAGE)
    for number in range(1, 10_001):
        table.assign(f"w{number}", "top", "1", "button", f"Buy {number}", PAGE)
        table.forget_unloaded(lambda world: world in ("w0", "w10000"))
    assert len(table) < 5_000
    assert table.look_up(kept, everything_lives).name == "Stays"
    assert table.look_up("e10001", everything_lives).name == "Buy 10000"
    with pytest.raises(RefNotFound, match="e2 is too old and has been forgotten"):
        table.look_up("e2", everything_lives)
    with pytest.raises(RefNotFound, match=r'e9000 \(button "Buy 8999"\) is stale'):
        table.look_up("e9000", lambda world: world == "w0")
    assert table.assign("w9", "top", "1", "button", "New", PAGE) == "e10002"

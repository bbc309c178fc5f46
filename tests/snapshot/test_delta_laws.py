"""A delta is bounded, says nothing when nothing changed, and leaves nobody out."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from text_format import RAW, WORDS

from bridge.errors import UsageError
from bridge.snapshot import RenderOptions, SnapshotResult, render_snapshot, snapshot_delta

law = settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
BOUNDS = st.one_of(st.integers(120, 400), st.just(100_000))


def page(*children: dict[str, Any], url: str = "https://shop.example/", **options: Any) -> SnapshotResult:
    tree = {"role": "document", "children": list(children)}
    return render_snapshot({"url": url, "title": "Shop", "tree": tree}, RenderOptions(**options))


def node(role: str, name: str, ref: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "name": name, "ref": ref, **more}


@law
@given(RAW, RAW, st.lists(WORDS, max_size=5), BOUNDS, st.booleans())
def test_no_delta_is_longer_than_its_bound(
    first: dict[str, Any], second: dict[str, Any], texts: list[str], bound: int, full: bool
) -> None:
    before, after = render_snapshot(first), render_snapshot(second)
    delta = snapshot_delta(before, after, max_chars=bound, texts=texts, full=full)
    assert len(delta.text) <= bound
    if delta.full:
        assert delta.text == after.text
    else:
        prefixes = ("[changes]", "! ", "+ ", "~ ", "- ", "… (more lines: ", "no change")
        assert all(line.startswith(prefixes) for line in delta.text.splitlines())


@law
@given(RAW, st.integers(200, 2_000))
def test_a_page_that_stayed_the_same_has_no_change(raw: dict[str, Any], bound: int) -> None:
    options = RenderOptions(max_chars_total=bound)
    delta = snapshot_delta(render_snapshot(raw, options), render_snapshot(raw, options), full=True)
    assert delta.text == "no change"
    assert not delta
    assert (delta.added, delta.removed, delta.changed) == ((), (), ())


@law
@given(RAW, RAW, BOUNDS)
def test_every_ref_that_came_or_went_is_named_or_counted(
    first: dict[str, Any], second: dict[str, Any], bound: int
) -> None:
    before, after = render_snapshot(first), render_snapshot(second)
    delta = snapshot_delta(before, after, max_chars=bound)
    lines = delta.text.splitlines()
    counted = re.findall(r"(\d+) (texts|changed|added|removed)", lines[-1]) if "more lines" in lines[-1] else []
    rest = {word: int(count) for count, word in counted}
    for prefix, word, refs in (
        ("+ ", "added", delta.added),
        ("- ", "removed", delta.removed),
        ("~ ", "changed", delta.changed),
    ):
        named = {m for line in lines if line.startswith(prefix) for m in re.findall(r"\[ref=(e?\d+)\]", line)}
        assert named <= set(refs)
        assert len(set(refs) - named) <= rest.get(word, 0)
        if refs:
            assert f" {word}={len(refs)}" in lines[0]


def test_the_delta_says_what_came_what_went_and_what_a_control_is_now() -> None:
    before = page(node("checkbox", "Terms", "e4"), node("button", "Add", "e2"), node("textbox", "Name", "e5"))
    after = page(
        node("checkbox", "Terms", "e4", attrs={"checked": True}),
        node("textbox", "Name", "e5", attrs={"value": "Ada"}),
        node("listitem", "", "e8", children=[node("button", "Remove", "e9")]),
        {"role": "status", "text": "Saved"},
        url="https://shop.example/cart",
    )
    assert snapshot_delta(before, after, texts=["Added to cart", "Saved"]).text.splitlines() == [
        "[changes] url=https://shop.example/cart added=2 removed=1 changed=2",
        '! "Added to cart"',
        '~ checkbox "Terms" [ref=e4]: checked',
        '~ textbox "Name" [ref=e5]: value="Ada"',
        "+ - listitem [ref=e8]",
        '+   - button "Remove" [ref=e9]',
        '+ - status "Saved"',
        '- - button "Add" [ref=e2]',
    ]


def test_a_state_that_is_gone_is_said() -> None:
    before = page(
        node("checkbox", "Terms", "e4", attrs={"checked": True}), node("textbox", "Q", "e5", attrs={"value": "x"})
    )
    after = page(node("checkbox", "Terms", "e4"), node("textbox", "Q", "e5"))
    text = snapshot_delta(before, after).text
    assert '~ checkbox "Terms" [ref=e4]: not checked' in text
    assert '~ textbox "Q" [ref=e5]: no value' in text


def test_what_only_the_budget_hides_has_not_gone() -> None:
    links = [node("link", f"Result {n}", f"e{n}") for n in range(1, 30)]
    delta = snapshot_delta(page(*links), page(*links, max_nodes=5))
    assert delta.removed == ()
    assert not delta


def test_another_page_is_shown_in_full_when_that_is_not_longer() -> None:
    before = page(*[node("link", f"Old {n}", f"e{n}") for n in range(1, 30)])
    after = page(node("link", "New", "e90"), url="https://shop.example/other")
    delta = snapshot_delta(before, after, full=True)
    assert delta.full
    assert delta.text == after.text
    assert delta.added == ("e90",)


def test_a_bound_that_cannot_hold_the_counts_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 120"):
        snapshot_delta(page(), page(), max_chars=50)

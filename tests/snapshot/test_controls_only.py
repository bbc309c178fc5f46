"""`controls_only`: what can be acted on, and nothing around it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from text_format import RAW

from bridge.snapshot import HtmlSnapshotOptions, RenderOptions, render_snapshot, snapshot_html
from bridge.snapshot.roles import INTERACTIVE_ROLES

SHOP = """<h1>Shop</h1><nav><ul><li><a href=/>Home</a><li><a href=/cart>Cart</a></ul></nav>
<p>Welcome, <b>dear</b> reader. <a href=/terms>Terms</a> apply.</p>
<table><tr><td>Ring<td><button>Add ring</button></table>
<select aria-label=Size><option>S<option selected>M</select>"""
ROOMY = RenderOptions(max_chars_total=1_000_000, max_nodes=10_000, max_depth=100)


def shown(*children: dict[str, Any]) -> list[str]:
    raw = {"url": "https://shop.example/", "title": "Shop", "tree": {"role": "document", "children": list(children)}}
    return render_snapshot(raw, RenderOptions(controls_only=True)).text.splitlines()[1:]


def test_only_controls_are_shown_in_the_order_of_the_page() -> None:
    text = snapshot_html(SHOP, HtmlSnapshotOptions(controls_only=True)).text
    links, button, size, *_ = text.splitlines()[1:]
    assert re.fullmatch(r'- link "Home" \[ref=e\d+\], "Cart" \[ref=e\d+\], "Terms" \[ref=e\d+\]', links)
    assert button.startswith('- button "Add ring" [ref=')
    assert size.startswith('- combobox "Size"')
    assert "Welcome" not in text
    assert "heading" not in text


def test_alike_controls_share_a_line_with_their_states_as_far_as_it_is_not_too_long() -> None:
    boxes = [{"role": "checkbox", "name": f"Box {n}", "ref": f"e{n}", "attrs": {"checked": n == 2}} for n in (1, 2)]
    links = [{"role": "link", "name": "x" * 90, "ref": f"e{n}"} for n in (3, 4, 5)]
    assert shown(*boxes, *links) == [
        '- checkbox "Box 1" [ref=e1], "Box 2" [checked] [ref=e2]',
        f'- link "{"x" * 90}" [ref=e3], "{"x" * 90}" [ref=e4]',
        f'- link "{"x" * 90}" [ref=e5]',
    ]


def test_a_long_name_is_cut_and_known_in_full_and_found_by_its_end() -> None:
    card = {"role": "link", "name": f"Heading {'and more ' * 15}by Ann", "ref": "e1"}
    result = render_snapshot({"url": "", "title": "", "tree": card}, RenderOptions(controls_only=True, find="by ann"))
    (line,) = result.text.splitlines()[1:]
    assert line.endswith('…" [ref=e1]')
    assert len(line) < 120
    assert result.refs["e1"].name.endswith("by Ann")
    assert result.stats.truncate_reasons == ("maxTextPerNode",)


def test_a_control_in_a_control_stays_below_it() -> None:
    option = {"role": "option", "name": "M", "ref": "e2"}
    size = {"role": "listbox", "name": "Size", "ref": "e1", "children": [{"role": "group", "children": [option]}]}
    assert shown(size) == ['- listbox "Size" [ref=e1]:', '  - option "M" [ref=e2]']


def test_a_clickable_box_without_a_name_is_named_by_its_text() -> None:
    words = {"role": "paragraph", "children": [{"role": "text", "text": "Ring 580"}]}
    box = {"role": "listitem", "ref": "e1", "cursorInteractive": "clickable", "children": [words]}
    assert shown(box) == ['- listitem "Ring 580" [clickable] [ref=e1]']


def test_what_the_page_left_out_is_still_said() -> None:
    cut = {"role": "link", "count": 7, "more": "e9", "kind": "alike"}
    assert shown({"role": "list", "children": [cut]}) == ["- … (truncated, 7 more links alike, more=e9)"]


@pytest.mark.parametrize("alike", [1, 3, 40])
def test_the_budget_is_filled_although_controls_share_lines(alike: int) -> None:
    roles = ("link", "button", "checkbox")
    controls = [{"role": roles[n // alike % 3], "name": f"Item {n:03}", "ref": f"e{n}"} for n in range(1, 600)]
    tree = {"role": "document", "children": controls}
    options = RenderOptions(controls_only=True, max_chars_total=4_000, max_nodes=1_000)
    result = render_snapshot({"url": "https://shop.example/", "tree": tree}, options)
    assert result.stats.truncate_reasons == ("maxCharsTotal",)
    assert 0.95 * 4_000 < len(result.text) <= 4_000
    whole = render_snapshot({"url": "", "tree": {**tree, "children": controls[:100]}}, replace(options, max_nodes=100))
    roomy = replace(options, max_nodes=100, max_chars_total=len(whole.text) + 10)
    assert render_snapshot({"url": "", "tree": {**tree, "children": controls[:100]}}, roomy).text == whole.text


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(RAW, st.integers(200, 2_000), st.integers(1, 30))
def test_controls_only_shows_every_control_within_the_bounds(
    raw: dict[str, Any], max_chars: int, max_nodes: int
) -> None:
    everything = render_snapshot(raw, replace(ROOMY, compact=False))
    controls = render_snapshot(raw, replace(ROOMY, compact=False, controls_only=True))
    assert {ref for ref, node in everything.refs.items() if node.role in INTERACTIVE_ROLES} <= set(controls.refs)
    assert set(controls.refs) <= set(everything.refs)
    bounded = render_snapshot(raw, RenderOptions(max_chars_total=max_chars, max_nodes=max_nodes, controls_only=True))
    assert len(bounded.text) <= max_chars
    assert len(bounded.refs) <= max_nodes

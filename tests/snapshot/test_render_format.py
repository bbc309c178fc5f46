"""The text format by example, and the sizes a page must not be able to break."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import RefNotFound, ScriptFailed, UsageError
from bridge.snapshot import RenderOptions, render_snapshot
from bridge.snapshot.escape import clean
from bridge.snapshot.json_text import _decode_deep, decode_json


def shown(*children: dict[str, Any], **options: Any) -> list[str]:
    raw = {"url": "https://shop.example/", "title": "Shop", "tree": {"role": "document", "children": list(children)}}
    return render_snapshot(raw, RenderOptions(**options)).text.splitlines()[1:]


def node(role: str, name: str = "", ref: str = "", *children: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "name": name, "ref": ref, "children": list(children), **more}


GOLD = {
    "url": "https://shop.example/",
    "title": "Gold prices",
    "truncated": True,
    "reasons": ["maxNodes"],
    "tree": node(
        "document",
        "",
        "",
        node("navigation", "", "", node("generic", "", "", node("link", "Home", "e1"))),
        node(
            "main",
            "",
            "",
            node("heading", "Gold today", "e3", attrs={"level": 1}),
            node("searchbox", "Search", "e4", attrs={"placeholder": "Search…", "type": "search"}),
            node(
                "list",
                "",
                "",
                {"role": "listitem", "text": "Gold 580.00/g", "ref": "e6"},
                {"more": "e7", "count": 15, "role": "listitem", "kind": "cut"},
            ),
        ),
    ),
}


def test_a_document_without_any_element_is_said_to_have_none_where_there_is_room() -> None:
    bare = {"url": "https://shop.example/", "tree": {}, "isBare": True}
    said = "nodes=0 truncated=false"
    assert (
        render_snapshot(bare).text == f'[snapshot] url=https://shop.example/ {said} note="the document has no element"'
    )
    told = json.loads(render_snapshot(bare, RenderOptions(format="json")).text)
    assert told["note"] == "the document has no element"
    crowded = {**bare, "url": "x" * 400, "truncated": True, "reasons": ["a" * 24, "b" * 24]}
    text = render_snapshot(crowded, RenderOptions(max_chars_total=200, find="f" * 60)).text
    assert len(text) <= 200
    assert "note=" not in text


def test_the_format_is_the_documented_one() -> None:
    assert render_snapshot(GOLD).text.splitlines() == [
        '[snapshot] url=https://shop.example/ title="Gold prices" nodes=4 truncated=true truncateReasons=["maxNodes"]',
        "- navigation:",
        '  - link "Home" [ref=e1]',
        "- main:",
        '  - heading "Gold today" [level=1] [ref=e3]',
        '  - searchbox "Search" [placeholder="Search…"] [ref=e4]',
        "  - list:",
        '    - listitem "Gold 580.00/g" [ref=e6]',
        "    - … (truncated, 15 more items, more=e7)",
    ]
    assert render_snapshot(GOLD).more == ("e7",)


def test_a_repetition_says_what_is_alike() -> None:
    assert shown({"more": "e40", "count": 185, "role": "row", "kind": "alike"}) == [
        "- … (truncated, 185 more rows alike, more=e40)"
    ]


def test_attributes_come_states_first_and_the_ref_last() -> None:
    attrs = {
        "value": "a@b",
        "type": "email",
        "required": True,
        "invalid": True,
        "placeholder": "you@",
        "readonly": False,
    }
    assert shown(node("textbox", "Mail", "e1", attrs=attrs, description="We never share it")) == [
        '- textbox "Mail" [required] [invalid] [type=email] [value="a@b"] [description="We never share it"] [ref=e1]'
    ]
    assert shown(node("checkbox", "All", "e1", attrs={"checked": "mixed", "value": "on"})) == [
        '- checkbox "All" [checked=mixed] [ref=e1]'
    ]
    assert shown(node("button", "Menu", "e1", attrs={"expanded": False, "pressed": False})) == [
        '- button "Menu" [expanded=false] [pressed=false] [ref=e1]'
    ]
    assert shown(node("generic", "", "e1", text="Card", cursorInteractive="clickable")) == [
        '- generic "Card" [clickable] [ref=e1]'
    ]


def test_repeated_words_are_shown_once() -> None:
    product = node("link", "Ring 580 g", "e1", node("img", "Ring", "e2"), {"role": "text", "text": "580 g"})
    assert shown(product) == ['- link "Ring 580 g" [ref=e1]']
    assert shown(node("heading", "News", "e1", node("link", "News", "e2"), attrs={"level": 2})) == [
        "- heading [level=2] [ref=e1]:",
        '  - link "News" [ref=e2]',
    ]
    assert shown({"role": "text", "text": "Terms:"}, node("checkbox", "Terms", "e1")) == ['- checkbox "Terms" [ref=e1]']
    assert shown(node("textbox", "Search", "e1", attrs={"placeholder": "Search"})) == ['- textbox "Search" [ref=e1]']


def test_a_picture_before_a_link_of_the_same_name_is_said_once() -> None:
    assert shown(node("img", "Ring", "e1"), node("link", "Ring", "e2")) == ['- link "Ring" [ref=e2]']
    assert len(shown(node("img", "Ring", "e1", cursorInteractive="clickable"), node("link", "Ring", "e2"))) == 2


def test_a_name_that_is_said_below_is_kept_for_finding() -> None:
    raw = {"tree": node("heading", "News", "e1", node("link", "News", "e2"))}
    assert render_snapshot(raw).find(role="heading", name="News").ref == "e1"


def test_items_with_one_thing_in_them_give_way_to_it() -> None:
    items = [node("listitem", "", "", node("link", name, f"e{n}")) for n, name in enumerate(("One", "Two"), 1)]
    assert shown(node("list", "", "", *items)) == ["- list:", '  - link "One" [ref=e1]', '  - link "Two" [ref=e2]']


def test_a_link_is_described_only_when_its_name_is_a_sign() -> None:
    assert shown(node("link", "index", "e1", description="General Index")) == ['- link "index" [ref=e1]']
    assert shown(node("link", "»", "e1", description="Next page")) == ['- link "»" [description="Next page"] [ref=e1]']
    assert shown(node("button", "B", "e1", description="Bold")) == ['- button "B" [description="Bold"] [ref=e1]']


def test_urls_are_shown_when_asked_for_and_where_nothing_else_names_a_link() -> None:
    link = node("link", "Cart", "e1", attrs={"href": "https://shop.example/cart"})
    assert shown(link) == ['- link "Cart" [ref=e1]']
    assert shown(link, include_urls=True) == ['- link "Cart" [href="/cart"] [ref=e1]']
    bare = node("link", "", "e1", attrs={"href": "https://other.example/x"})
    assert shown(bare) == ['- link [href="https://other.example/x"] [ref=e1]']


def test_interactive_nodes_stay_when_text_has_to_go() -> None:
    children = [{"role": "paragraph", "text": f"Words {n} " + "x" * 150} for n in range(30)]
    children += [node("button", f"Button {n}", f"e{n}") for n in range(10)]
    raw = {"url": "https://shop.example/", "tree": node("document", "", "", *children)}
    result = render_snapshot(raw, RenderOptions(max_chars_total=1_000))
    assert len(result.refs) == 10
    assert result.stats.texts_cut > 0
    assert f"cutTexts={result.stats.texts_cut}" in result.text.splitlines()[0]


def test_what_is_cut_can_be_gone_on_with() -> None:
    raw = {"tree": node("list", "", "", *[node("link", f"Link {n}", f"e{n}") for n in range(50)])}
    seen: list[str] = []
    options = RenderOptions(max_nodes=20)
    for _ in range(3):
        page = render_snapshot(raw, options)
        seen += page.refs
        options = RenderOptions(max_nodes=20, start=page.more[0] if page.more else "")
    assert seen == [f"e{n}" for n in range(50)]
    with pytest.raises(RefNotFound):
        render_snapshot(raw, RenderOptions(start="e99"))


def test_find_names_what_is_there_when_nothing_fits() -> None:
    result = render_snapshot(GOLD)
    assert result.find(role="link").ref == "e1"
    assert result.find(name="home").ref == "e1"
    assert result.find(text="580").ref == "e6"
    with pytest.raises(RefNotFound, match='no link "Cart" in the snapshot; there is e1 link "Home"'):
        result.find(role="link", name="Cart")
    with pytest.raises(UsageError, match="2 nodes match"):
        render_snapshot({"tree": node("main", "", "", node("link", "A", "e1"), node("link", "A", "e2"))}).find(name="A")
    with pytest.raises(UsageError, match="needs a role"):
        result.find()


def test_results_have_a_json_form() -> None:
    value = json.loads(json.dumps(render_snapshot(GOLD).to_json()))
    assert value["refs"]["e4"] == {
        "ref": "e4",
        "tag": "",
        "role": "searchbox",
        "name": "Search",
        "attrs": {"placeholder": "Search…", "type": "search"},
        "text_snippet": "",
        "path": "main > searchbox",
    }
    assert value["stats"]["truncate_reasons"] == ["maxNodes"]


@pytest.mark.parametrize(
    "options",
    [
        {"max_chars_total": 199},
        {"max_nodes": 0},
        {"max_depth": 101},
        {"max_nodes": True},
        {"max_depth": "3"},
        {"format": "xml"},
    ],
)
def test_bounds_outside_of_what_makes_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        RenderOptions(**options)


@pytest.mark.parametrize("levels", [20_000, 100_000])
def test_a_page_of_any_depth_is_rendered(levels: int) -> None:
    opening = '{"role":"group","name":"g","ref":"e%d","children":['
    raw = '{"tree":' + "".join(opening % n for n in range(levels)) + "]}" * levels + "}"
    result = render_snapshot(raw)
    assert len(result.refs) == 12
    assert result.stats.truncate_reasons[:2] == ("maxNodes", "maxDepth")
    flat = '{"tree":' + '{"role":"generic","children":[' * levels + '{"role":"link","ref":"e1"}' + "]}" * levels + "}"
    assert render_snapshot(flat).text.endswith("\n- link [ref=e1]")


def test_a_huge_text_and_a_huge_number_are_cut() -> None:
    raw = (
        '{"tree":{"role":"link","ref":"e1","name":"' + "x y " * 10_000_000 + '","attrs":{"level":' + "9" * 5_000 + "}}}"
    )
    result = render_snapshot(raw)
    assert len(result.refs["e1"].name) <= 20_000
    assert result.stats.truncate_reasons == ("maxTextPerNode",)
    assert len(result.text) < 600


def test_a_page_with_200_000_nodes_is_cut_to_the_budget() -> None:
    children = [{"role": "link", "name": f"Link {n}", "ref": f"e{n}"} for n in range(200_100)]
    result = render_snapshot({"tree": {"role": "main", "children": children}})
    assert len(result.refs) == 200
    assert "maxNodes" in result.stats.truncate_reasons


def test_a_reply_that_is_not_json_is_a_script_failure() -> None:
    for raw in ("", "{", "[" * 30_000, "{" * 30_000, '{"a":' * 30_000, "[1,]" + "[" * 3000, "nul"):
        with pytest.raises(ScriptFailed):
            render_snapshot(raw)


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
        lambda x: st.one_of(st.lists(x), st.dictionaries(st.text(), x)),
        max_leaves=30,
    ),
    st.sampled_from([None, 1]),
)
def test_both_decoders_read_the_same(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert _decode_deep(text) == decode_json(text) == json.loads(text)


@given(st.text())
def test_clean_words_are_one_line_that_cleaning_does_not_change(words: str) -> None:
    once = clean(words)
    assert clean(once) == once
    assert len(once.splitlines()) <= 1
    assert once == once.strip()


def test_links_without_a_name_show_both_ends_of_a_long_address() -> None:
    address = f"https://news.example/{'section/' * 20}knots"
    (line,) = shown({"role": "link", "ref": "e1", "attrs": {"href": address}})
    assert re.fullmatch(r'- link \[href="https://news\.example/[^"]*…[^"]*/knots"\] \[ref=e1\]', line)
    assert len(line) < 90

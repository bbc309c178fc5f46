"""The stand-alone script in a page's own world: its replies, and what a page sees of its events."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from browser import Page
from raw_tree import find, nodes, refs

from bridge.errors import NoSuchOption, RefNotFound
from bridge.snapshot import program

pytestmark = pytest.mark.browser

KINDS = ["text", "html", "value", "attrs", "computed_styles", "box"]


@pytest.fixture
def page(tab: Page) -> Page:
    tab.show("")
    return tab


def show(page: Page, html: str) -> dict[str, Any]:
    """Shows a page with the script; its raw snapshot."""
    page.show(html)
    page.run(f"{program.script()};0")
    return api(page, "snapshot({cursorInteractive: true, interactiveOnly: false})")


def api(page: Page, call: str) -> Any:
    return json.loads(page.run(f"JSON.stringify(__agentBrowser.{call})"))


def test_scrolling_takes_both_forms_of_the_browser_and_says_where_the_page_is(page: Page) -> None:
    show(page, "<style>html { scroll-behavior: smooth }</style><div style='width:3000px;height:5000px'>x</div>")
    for call, left, top in (
        ("scrollTo(30, 400)", 30, 400),
        ("scrollBy(10, 100)", 40, 500),
        ("scrollTo({left: 0, top: 700, behavior: 'instant'})", 0, 700),
        ("scrollBy({top: -200})", 0, 500),
        ("scrollTo(0, -5)", 0, 0),
        ("scrollTo({top: 200, behavior: 'auto'})", 0, 200),
        ("scrollTo({top: 0, behavior: 'smooth'})", 0, 200),  # it has only begun
    ):
        assert api(page, f"page.{call}") == {"success": True, "scrollX": left, "scrollY": top}


def test_invalid_arguments_of_scrolling_are_errors_and_the_page_stays_where_it_is(page: Page) -> None:
    show(page, "<div style='width:3000px;height:5000px'>x</div>")
    api(page, "page.scrollTo(0, 300)")
    for call in (
        *("scrollTo()", "scrollTo(5)", "scrollBy('down')", "scrollTo('a', 1)", "scrollBy(0, NaN)", "scrollTo(1, 2, 3)"),
        *("scrollTo({behavior: 'fast'})", "scrollBy({top: '9'})", "scrollTo(null)", "scrollBy(Infinity, 0)"),
    ):
        reply = api(page, f"page.{call}")
        assert (reply["success"], reply["scrollX"], reply["scrollY"]) == (False, 0, 300), call
        assert reply["error"]["code"] == "bad_usage"
        assert reply["error"]["message"].startswith(f"{call.partition('(')[0]} takes two numbers")


def test_without_its_second_file_the_script_works_and_errors_have_codes(page: Page) -> None:
    page.show("<div id=a>Menu</div>")
    page.run(f"{program.script(replies=False)};a.onclick = (e) => {{ document.title = e.clientX > 0 }}; 0")
    ref = find(api(page, "snapshot({cursorInteractive: true})"), "generic")["ref"]
    assert api(page, f"action('{ref}', 'click')")["success"] is True
    assert page.run("document.title") == "true"
    assert api(page, "action('e999', 'click')")["error"] == {"code": "ref_not_found"}
    page.run(f"{program.script()};0")
    assert "no element" in api(page, "action('e999', 'click')")["error"]["message"]
    page.run(f"{program.script()};0")
    assert api(page, f"query('{ref}', 'text')") == {"value": "Menu", "ref": ref, "kind": "text", "truncated": False}


def test_a_query_names_its_ref_and_kind_and_an_unknown_kind_the_known_ones(page: Page) -> None:
    raw = show(page, "<button>Pay</button>")
    ref = find(raw, "button")["ref"]
    for kind in KINDS:
        reply = api(page, f"query('{ref}', '{kind}')")
        assert (reply["ref"], reply["kind"]) == (ref, kind)
        assert "value" in reply
    for wrong in ("colour", "constructor", "toString"):
        error = api(page, f"query('{ref}', '{wrong}')")["error"]
        assert error["code"] == "bad_usage"
        assert all(kind in error["message"] for kind in KINDS)


def test_failures_keep_their_code_and_gain_a_message(page: Page) -> None:
    raw = show(
        page,
        "<select aria-label=Size><option>S<option>L</select><button disabled>No</button>",
    )
    size, no = find(raw, "combobox")["ref"], find(raw, "button")["ref"]
    for call, code, words in (
        ("action('e999', 'click')", "ref_not_found", "no element with the ref e999"),
        (f"action('{size}', 'select', {{value: 'XL'}})", "no_such_option", '"S", "L"'),
        (f"action('{no}', 'click')", "disabled", f"{no} is disabled"),
        (f"action('{no}', 'jump')", "unknown_action", "no action"),
        ("query('e999', 'text')", "ref_not_found", "e999"),
        ("snapshot({scope: '#nowhere'})", "ref_not_found", "no element"),
    ):
        error = api(page, call)["error"]
        assert error["code"] == code
        assert words in error["message"]
    page.run(program.action_js("e999", "click"))
    reply = program.parse_action_result(page.run(program.action_result_js()))
    assert reply is not None
    assert isinstance(reply.error, RefNotFound)
    page.run(program.action_js(size, "select", {"value": "XL"}))
    reply = program.parse_action_result(page.run(program.action_result_js()))
    assert reply is not None
    assert isinstance(reply.error, NoSuchOption)


def test_a_snapshot_without_options_has_the_usual_ones(page: Page) -> None:
    raw = show(page, "<button>Pay</button>")
    for options in ("", "null", "undefined", "{}"):
        assert refs(api(page, f"snapshot({options})")) == refs(raw)


def test_raw_json_has_version_time_and_levels_of_headings(page: Page) -> None:
    before = time.time() * 1000 - 1_000
    raw = show(page, "<h1>One</h1><h3>Three</h3><div role=heading aria-level=5>Five</div><div role=heading>Two</div>")
    assert raw["version"] == 1
    assert before <= raw["timestamp"] <= time.time() * 1000 + 1_000
    assert [node["level"] for node in nodes(raw) if node.get("role") == "heading"] == [1, 3, 5, 2]


def test_a_handler_in_a_property_makes_an_element_clickable(page: Page) -> None:
    show(page, "<div id=a>Menu</div><div id=b>Text</div>")
    page.run("a.onclick = () => { document.title = 'clicked' }; 0")
    raw = api(page, "snapshot({cursorInteractive: true})")
    (menu,) = refs(raw).values()
    assert (menu["name"], menu["cursorInteractive"]) == ("Menu", "clickable")
    assert api(page, f"action('{menu['ref']}', 'click')")["success"] is True
    assert page.run("document.title") == "clicked"


def test_events_have_coordinates_and_hover_scrolls_into_view(page: Page) -> None:
    raw = show(page, "<div style='height:3000px'></div><button id=b style='width:80px;height:40px'>Pay</button>")
    page.run("""seen = [];
      const types = ['mouseover', 'pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'];
      for (const type of types) b.addEventListener(type, (e) => seen.push([type, e.clientX, e.clientY, e.detail]));
      0""")
    ref = find(raw, "button")["ref"]
    assert api(page, f"action('{ref}', 'hover')")["success"] is True
    left, top, bottom = page.run("(({left, top, bottom}) => [left, top, bottom])(b.getBoundingClientRect())")
    assert 0 <= top < bottom <= page.run("innerHeight")
    assert api(page, f"action('{ref}', 'click')")["success"] is True
    seen = page.run("seen")
    assert [event[0] for event in seen] == ["mouseover", "pointerdown", "mousedown", "pointerup", "mouseup", "click"]
    assert all(event[1:3] == [left + 40, top + 20] for event in seen)
    assert seen[-1][3] == 1


def test_a_synthetic_click_does_what_a_click_does(page: Page) -> None:
    raw = show(
        page,
        "<input type=checkbox aria-label=c id=c>"
        "<form id=f onsubmit='sent = new FormData(f, event.submitter).get(`v`); return false'>"
        "<button name=v value=1>Send</button></form><a href='#there'>Go</a><label for=c>Tick</label>",
    )
    for role in ("checkbox", "button", "link"):
        assert api(page, f"action('{find(raw, role)['ref']}', 'click')")["success"] is True
    assert page.run("[c.checked, sent, location.hash]") == [True, "1", "#there"]


def test_truncated_means_truncated(page: Page) -> None:
    for html, is_cut in (
        (f"<button>{'b' * 300}</button>", True),
        (f"<input aria-label=x placeholder='{'p' * 300}'>", True),
        (f"<input aria-label=x value='{'v' * 300}'>", True),
        (f"<p>{'t ' * 300}</p>", True),
        (f"<button>{'b' * 200}</button><input aria-label=x value='{'v' * 150}'><button>More…</button>", False),
    ):
        raw = show(page, html)
        assert raw["truncated"] is is_cut
        assert ("maxTextPerNode" in raw["reasons"]) is is_cut

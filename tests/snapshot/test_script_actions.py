# ruff: noqa: E501 - HTML and scripts read better on one line
"""Actions that the injected script does by itself, in an isolated world and stand-alone in a bare page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from browser import ACTIONS, SCRIPT, Page
from raw_tree import find, refs

from bridge.snapshot.wording import refusal

pytestmark = pytest.mark.browser

LOG = "<script>log = []; for (const t of ['beforeinput', 'input', 'change']) addEventListener(t, e => log.push(t), true)</script>"
# A controlled input as React makes it: a tracker on the instance swallows changes it has already heard of.
CONTROLLED = """<input id=x aria-label=f><script>
  seen = []; let known = '';
  const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
  Object.defineProperty(x, 'value', {configurable: true, get() { return own.get.call(this); }, set(v) { known = '' + v; own.set.call(this, v); }});
  document.addEventListener('input', () => { const now = own.get.call(x); if (now != known) { known = now; seen.push(now); } });
</script>"""


def act(tab: Page, action: str, /, **params: Any) -> dict[str, Any]:
    """Does it to the first thing with a ref."""
    return tab.call("action", next(iter(refs(tab.snapshot(cursorInteractive=True)))), action, params)


@pytest.mark.parametrize(
    ("html", "read"),
    [
        ("<input id=x value=old aria-label=f>", "x.value"),
        ("<textarea id=x aria-label=f>old</textarea>", "x.value"),
        ("<div id=x contenteditable>old</div>", "x.textContent"),
        ("<div id=x contenteditable role=textbox aria-label=f>old</div>", "x.textContent"),
    ],
)
def test_text_is_filled_typed_and_cleared_with_its_events(tab: Page, html: str, read: str) -> None:
    tab.show(html + LOG)
    assert act(tab, "fill", value="new 'text' ✓")["success"]
    assert tab.run(read) == "new 'text' ✓"
    events = tab.run("log")
    assert "input" in events
    if "value" in read:
        assert events == ["input", "change"]
    assert act(tab, "type", value="!")["success"]
    assert tab.run(read) == "new 'text' ✓!"
    assert act(tab, "clear")["success"]
    assert tab.run(read) == ""


def test_a_controlled_input_gets_the_events_of_a_fill(tab: Page) -> None:
    tab.show(CONTROLLED)
    assert act(tab, "fill", value="gold")["value"] == "gold"
    assert act(tab, "fill", value="silver")["success"]
    assert tab.run("seen") == ["gold", "silver"]


TYPED = {
    "date": ("2026-02-28", "28.2.2026", "YYYY-MM-DD"),
    "time": ("13:37", "1 pm", "HH:MM"),
    "datetime-local": ("2026-02-28T13:37", "yesterday", "YYYY-MM-DDTHH:MM"),
    "month": ("2026-02", "February", "YYYY-MM"),
    "week": ("2026-W07", "7", "YYYY-Www"),
    "color": ("#c0ffee", "red", "#rrggbb"),
    "number": ("42.5", "many", "number"),
    "range": ("30", "most", "number"),
}


@pytest.mark.parametrize("kind", TYPED)
def test_typed_inputs_take_their_form_and_say_so_when_refused(tab: Page, kind: str) -> None:
    good, bad, form = TYPED[kind]
    tab.show(f"<input id=x type={kind} step={'any' if kind == 'number' else ''} aria-label=f>" + LOG)
    assert act(tab, "fill", value=good)["success"]
    assert tab.run("x.value") == good
    assert "change" in tab.run("log")
    refused = act(tab, "fill", value=bad)
    assert not refused["success"]
    assert refused["error"]["code"] == "invalid_value"
    assert form in refusal(refused["error"])
    assert tab.run("x.value") == good, "a refused value changes nothing"


def test_options_are_selected_by_value_or_words_with_events(tab: Page) -> None:
    tab.show(
        "<select id=x aria-label=f><option value=1>One<option value=2>Two  words<option value=3 disabled>Three</select>"
        + LOG
    )
    assert act(tab, "select", value="2")["values"] == ["Two words"]
    assert act(tab, "select", value="One")["values"] == ["One"]
    assert tab.run("log") == ["input", "change"] * 2
    error = act(tab, "select", value="Four")["error"]
    assert error["code"] == "no_such_option"
    assert error["options"] == ["One", "Two words", "Three"]
    assert act(tab, "select", value="3")["error"]["code"] == "no_such_option"
    assert tab.run("x.value") == "1"


def test_several_options_are_selected_in_a_multiple_list(tab: Page) -> None:
    tab.show("<select id=x multiple aria-label=f><option>a<option>b<option selected>c</select>")
    ref = find(tab.snapshot(), "listbox")["ref"]
    assert tab.call("action", ref, "select", {"values": ["a", "b"]})["values"] == ["a", "b"]
    assert tab.run("[...x.selectedOptions].map(o => o.text)") == ["a", "b"]


CHECKABLE = {
    "checkbox": "<input id=x type=checkbox aria-label=f>",
    "label's checkbox": "<label>f<input id=x type=checkbox style='opacity:0;position:absolute'></label>",
    "switch": "<button id=x role=switch aria-checked=false aria-label=f onclick=\"this.setAttribute('aria-checked', this.getAttribute('aria-checked') != 'true')\">s</button>",
}


@pytest.mark.parametrize("kind", CHECKABLE)
def test_checking_clicks_only_when_the_state_differs(tab: Page, kind: str) -> None:
    tab.show(CHECKABLE[kind] + "<script>n = 0; x.addEventListener('click', () => n++)</script>")
    for action, checked in (("check", True), ("check", True), ("uncheck", False), ("uncheck", False)):
        answer = act(tab, action)
        assert answer["success"], answer
        assert answer["checked"] is checked
    assert tab.run("n") == 2


@pytest.mark.parametrize(
    ("html", "action", "code"),
    [
        ("<button>x</button>", "check", "not_checkable"),
        ("<input type=radio checked>", "uncheck", "not_uncheckable"),
        ("<input type=checkbox onclick='return false'>", "check", "not_checkable"),
        ("<input>", "select", "not_a_select_element"),
        ("<button>x</button>", "fill", "not_editable"),
        ("<input type=checkbox>", "fill", "not_editable"),
        ("<input disabled>", "fill", "disabled"),
        ("<button>x</button>", "explode", "unknown_action"),
        ("<button>x</button>", "constructor", "unknown_action"),
    ],
)
def test_impossible_actions_are_refused_with_a_code(tab: Page, html: str, action: str, code: str) -> None:
    tab.show(html)
    answer = act(tab, action, value="v")
    assert not answer["success"]
    assert answer["error"]["code"] == code


def test_queries_are_bounded_and_marked(tab: Page) -> None:
    tab.show(f"<button id=x style='color:red' data-k=v>{'word ' * 1000}</button>")
    ref = next(iter(refs(tab.snapshot())))
    text = tab.call("query", ref, "text", 100)
    assert text["truncated"]
    assert text["value"].endswith("...[truncated]")
    assert len(text["value"]) <= 120
    assert tab.call("query", ref, "computed_styles", 2000)["value"]["color"] == "rgb(255, 0, 0)"
    assert tab.call("query", ref, "attrs", 2000)["value"]["data-k"] == "v"
    assert {"left", "top", "width", "height"} <= tab.call("query", ref, "box", 2000)["value"].keys()
    assert tab.call("query", ref, "nonsense", 2000)["error"]["code"]
    assert tab.call("query", "999", "text", 2000)["error"]["code"] == "ref_not_found"


def alone(tab: Page, call: str) -> Any:
    """A call in the page's own world, as a program with nothing but evaluateJavascript does it."""
    return json.loads(tab.run(f"(async () => JSON.stringify(await __agentBrowser.{call}))()"))


def test_stand_alone_refs_are_stamps_that_each_snapshot_renews(tab: Page) -> None:
    tab.show("<button id=a>A</button><button id=b>B</button><input id=i aria-label=I>")
    tab.run(SCRIPT.read_text() + ACTIONS.read_text() + ";0")
    first = refs(alone(tab, "snapshot({})"))
    assert [(ref, node["name"]) for ref, node in first.items()] == [("e1", "A"), ("e2", "B"), ("e3", "I")]
    stamps = "[...document.querySelectorAll('[data-agent-ref]')].map(e => e.id + e.dataset.agentRef)"
    assert tab.run(stamps) == ["ae1", "be2", "ie3"]
    tab.run("b.hidden = true")
    assert list(refs(alone(tab, "snapshot({})"))) == ["e1", "e3"]
    assert tab.run(stamps) == ["ae1", "ie3"], "old stamps are cleared"
    filled = alone(tab, "action('e3', 'fill', {value: 'v'})")
    assert (filled["success"], filled["action"], filled["ref"], filled["value"]) == (True, "fill", "e3", "v")
    tab.run("a.textContent = 'Z'; 0")
    assert alone(tab, "action('e1', 'click', {})")["error"]["code"] == "stale_ref"
    tab.run(SCRIPT.read_text() + ACTIONS.read_text() + ";0")
    assert alone(tab, "action('e3', 'clear', {})")["success"], "a second evaluation keeps the refs"


def test_an_isolated_world_writes_nothing_to_the_page(tab: Page) -> None:
    tab.show("<button id=a>A</button><input>")
    tab.run(
        "n = 0; new MutationObserver(r => n += r.length).observe(document, {subtree: true, childList: true, attributes: true, characterData: true}); html = document.documentElement.outerHTML; 0"
    )
    ref = next(iter(refs(tab.snapshot(cursorInteractive=True, boxes=True))))
    assert tab.call("prepare", ref, "click", {"timeoutMs": 10_000})["ok"]
    assert tab.run("n") == 0
    assert tab.run("html == document.documentElement.outerHTML && !('__agentBrowser' in window)")

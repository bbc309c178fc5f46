# ruff: noqa: E501 - HTML and scripts read better on one line
"""What counts as the item around a ref, what a ref does not keep alive, and actions that wait for no frame."""

from __future__ import annotations

import json
from typing import Any

import pytest
from browser import Page
from raw_tree import refs

pytestmark = pytest.mark.browser

LIVING = {
    "big boxes of a page": (
        "<div id=app><header><button id=x>Save</button></header><section><p id=t>3 words</p></section></div><div id=late><p>later</p></div>",
        "t.textContent = '4 words and a line'",
    ),
    "two editors in alike boxes": (
        "<div class=box><p id=t>0 words</p><div id=x contenteditable role=textbox aria-label=Note></div></div><div class=box><p>two</p></div>",
        "t.textContent = '1 word'",
    ),
    "a button beside what is typed into an editor": (
        "<ul><li><div id=t contenteditable>old</div><button id=x>Send</button></li><li><button>Send</button></li></ul>",
        "t.textContent = 'new words'",
    ),
    "an editor that is typed into": (
        "<ul><li><div id=x contenteditable role=textbox aria-label=Note>old</div></li><li>two</li></ul>",
        "x.textContent = 'new words'",
    ),
}  # fmt: skip


def ref_of(tab: Page, element_id: str) -> str:
    for ref in refs(tab.snapshot(cursorInteractive=True)):
        if tab.call("query", ref, "attrs").get("value", {}).get("id") == element_id:
            return ref
    raise AssertionError(f"nothing with the id {element_id} has a ref")


@pytest.mark.parametrize("change", LIVING)
def test_words_elsewhere_in_a_box_that_is_no_item_leave_a_ref_alone(tab: Page, change: str) -> None:
    html, script = LIVING[change]
    tab.show(html)
    ref = ref_of(tab, "x")
    tab.run(f"{script}; 0")
    assert "error" not in tab.call("query", ref, "attrs")


def test_alike_boxes_without_a_class_are_items(tab: Page) -> None:
    tab.show("<div><p id=t>Ann</p><button id=x>Delete</button></div><div><p>Bo</p><button>Delete</button></div>")
    ref = ref_of(tab, "x")
    tab.run("t.textContent = 'Eve'; 0")
    assert tab.call("query", ref, "text")["error"]["code"] == "stale_ref"


ANOTHER = {
    "the words beside the only button": ("<main><p id=t>Ann</p><button id=x>Delete</button></main>", "t.textContent = 'Eve'"),
    "the heading of a page of detail": ("<h1 id=t>Tour 1</h1><div><button id=x>Delete</button></div>", "t.textContent = 'Tour 2'"),
    "columns without a class": (
        "<div class=row><div class=col id=t>Ann</div><div class=col><button id=x>Delete</button></div></div>"
        "<div class=row><div class=col>Bo</div><div class=col><button>Delete</button></div></div>",
        "t.textContent = 'Eve'",
    ),
    "a flat grid": (
        "<div style=display:grid><b id=t>Ann</b><button id=x>Delete</button><b>Bo</b><button>Delete</button></div>",
        "t.textContent = 'Eve'",
    ),
    "parallel columns": (
        "<div style=display:flex><div><p id=t>Ann</p><p>Bo</p></div><div><p><button id=x>Delete</button></p><p><button>Delete</button></p></div></div>",
        "t.textContent = 'Eve'",
    ),
    "two alike buttons in each of several items": (
        "<ul><li><b id=t>Ann</b><p>Phone <button id=x>Edit</button></p><p>Mail <button>Edit</button></p></li>"
        "<li><b>Bo</b><p>Phone <button>Edit</button></p><p>Mail <button>Edit</button></p></li></ul>",
        "t.textContent = 'Eve'",
    ),
    "an image": (
        "<ul><li><img id=t width=9 alt=Ann><button id=x>Delete</button></li><li><img width=9 alt=Bo><button>Delete</button></li></ul>",
        "t.alt = 'Eve'",
    ),
    "a field's value": (
        "<ul><li><input id=t value=Ann><button id=x>Delete</button></li><li><input value=Bo><button>Delete</button></li></ul>",
        "t.value = 'Eve'",
    ),
    "the control's description": (
        "<i id=t hidden>of Ann</i><button id=x aria-describedby=t>Delete</button><button>Delete</button>",
        "t.textContent = 'of Eve'",
    ),
    "a number among orders": (
        "<ul><li><b id=t>Order 1003</b><button id=x>Delete</button></li><li><b>Order 1005</b><button>Delete</button></li></ul>",
        "t.textContent = 'Order 1007'",
    ),
    "a short number": (
        "<table><tr><td id=t>3<td><button id=x>Delete</button><tr><td>5<td><button>Delete</button></table>",
        "t.textContent = '7'",
    ),
    "a count where a count is all that differs": (
        "<p><button id=x>Invoice (5)</button><button>Invoice (2)</button></p>",
        "x.textContent = 'Invoice (4)'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", ANOTHER)
def test_a_ref_is_stale_when_what_tells_its_item_changes(tab: Page, change: str) -> None:
    html, script = ANOTHER[change]
    tab.show(html)
    ref = ref_of(tab, "x")
    tab.run(f"{script}; 0")
    assert tab.call("query", ref, "text")["error"]["code"] == "stale_ref"


TICKING = {
    "a price": (
        "<ul><li>ACME <b id=t>12.34</b><button id=x>Sell</button></li><li>BETA <b>3.10</b><button>Sell</button></li></ul>",
        "t.textContent = '12.40'",
    ),
    "an age in a table": (
        "<table><tr><td>Ann<td id=t>3 min ago<td><button id=x>Open</button><tr><td>Bo<td>5 min ago<td><button>Open</button></table>",
        "t.textContent = '4 min ago'",
    ),
    "a stepper": (
        "<div>Adults <button aria-label='Remove adult'>-</button><span id=t>2</span><button id=x aria-label='Add adult'>+</button></div>",
        "t.textContent = '3'",
    ),
    "another row of a flat grid": (
        "<div style=display:grid><b>Ann</b><button id=x>Delete</button><b id=t>Bo</b><button>Delete</button></div>",
        "t.textContent = 'Eve'",
    ),
    "another row of parallel columns": (
        "<div style=display:flex><div><p>Ann</p><p id=t>Bo</p></div><div><p><button id=x>Delete</button></p><p><button>Delete</button></p></div></div>",
        "t.textContent = 'Eve'",
    ),
    "a message": ("<div>Ann <p role=status id=t></p><button id=x>Save</button></div>", "t.textContent = 'Saved'"),
}  # fmt: skip


@pytest.mark.parametrize("change", TICKING)
def test_what_ticks_in_an_item_and_other_items_leave_a_ref_alone(tab: Page, change: str) -> None:
    html, script = TICKING[change]
    tab.show(html)
    ref = ref_of(tab, "x")
    tab.run(f"{script}; 0")
    assert "error" not in tab.call("query", ref, "attrs")


def test_a_removed_element_is_not_kept_alive_by_its_ref(tab: Page) -> None:
    tab.show("<div id=box><button>Buy</button></div>")
    tab.snapshot()
    tab.run("window.held = new WeakRef(box); box.remove(); 0")
    tab.cdp("Runtime.releaseObjectGroup", objectGroup="console")
    tab.cdp("HeapProfiler.enable")

    def is_gone() -> bool:
        tab.cdp("HeapProfiler.collectGarbage")
        return bool(tab.run("held.deref() === undefined"))

    # What a task has dereferenced lives to the end of it, and what caches hold lives a little longer.
    assert any(is_gone() for _ in range(30))
    assert tab.call("query", "1", "text")["error"]["code"] == "ref_not_found"
    tab.run("document.body.innerHTML = '<button>Buy</button>'; 0")
    assert "1" not in refs(tab.snapshot()), "a number is never used again"


def test_an_action_by_script_is_ready_without_waiting_for_frames(tab: Page) -> None:
    tab.show("<input id=x aria-label=Name>")
    ref = ref_of(tab, "x")
    frames: Any = tab.run(
        f"""(async () => {{
            let frames = 0; const count = () => {{ frames++; requestAnimationFrame(count) }}; requestAnimationFrame(count);
            const done = await __agentBrowser.prepare({json.dumps(ref)}, 'fill', {{hit: false}});
            return [done.ok, frames];
        }})()""",
        world=tab.world(),
    )
    assert frames == [True, 0]


def test_an_action_by_script_still_waits_until_the_control_is_enabled(tab: Page) -> None:
    tab.show("<input id=x aria-label=Name disabled>")
    ref = ref_of(tab, "x")
    tab.run("setTimeout(() => { x.disabled = false }, 100); 0")
    assert tab.call("prepare", ref, "fill", {"hit": False, "timeoutMs": 5000})["ok"]

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
    "alike columns with a landmark": (
        "<div class=col><main><p id=t>one</p><button id=x>Save</button></main></div><div class=col><p>two</p></div>",
        "t.textContent = 'other'",
    ),
    "alike columns with a heading of the page": (
        "<div class=col><h1 id=t>one</h1><button id=x>Save</button></div><div class=col><p>two</p></div>",
        "t.textContent = 'other'",
    ),
    "alike boxes with a form": (
        "<div class=box><form><p id=t>one</p><button id=x>Save</button></form></div><div class=box><p>two</p></div>",
        "t.textContent = 'other'",
    ),
    "alike boxes of much text": (
        "<div class=box><p id=t>one</p><button id=x>Save</button><p>" + "long " * 500 + "</p></div><div class=box><p>two</p></div>",
        "t.textContent = 'other'",
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

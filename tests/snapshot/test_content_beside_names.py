"""What stands in an element whose name the author wrote is read, and boxes of every kind are seen."""

from __future__ import annotations

import json

import pytest
from browser import Page

pytestmark = pytest.mark.browser

CONTAINERS = [
    "<div role=tabpanel tabindex=0 aria-labelledby=t>{}</div><b id=t>Tab</b>",
    "<section aria-label=News tabindex=0>{}</section>",
    "<div role=log aria-label=Log tabindex=0>{}</div>",
    "<article aria-label=Post onclick=0>{}</article>",
    "<div aria-label=Card onclick=0>{}</div>",
]


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_name_from_the_author_does_not_stand_for_the_content(tab: Page, container: str) -> None:
    tab.show(container.format("<p>Words in it</p>"))
    assert "Words in it" in json.dumps(tab.snapshot(cursorInteractive=True)["tree"])


LAYOUTS = [
    "<app-root><div></div><main style='display:inline-block'>{}</main></app-root>",
    "<app-root><div style='height:2000px'></div><main>{}</main><footer>f</footer></app-root>",
    "<span style='font-size:0'><span style='font-size:16px;display:inline-block'>{}</span></span>",
    "<span><div style='display:table'>{}</div></span>",
    "<b style='writing-mode:vertical-rl'>{}</b>",
    "<i style='position:relative'><div style='float:left'>{}</div></i>",
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_person_sees_in_boxes_of_any_kind_is_there(tab: Page, layout: str) -> None:
    tab.show(layout.format("".join(f"<button>Control {i}</button>" for i in range(60))))
    text = json.dumps(tab.snapshot(cursorInteractive=True)["tree"])
    assert all(f'"Control {i}"' in text for i in range(60))


@pytest.mark.parametrize(
    ("style", "name"),
    [
        ("content:'LEAK';display:none", "Head"),
        ("content:'LEAK';visibility:hidden", "Head"),
        ("content:'LEAK';opacity:0", "Head"),
        ("content:'LEAK';font-size:0", "Head"),
        ("content:'LEAK';color:transparent", "Head"),
        ("content:url(data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==)", "Head"),
        ("content:'icon' / ''", "Head"),
        ("content:'icon' / 'New'", "New Head"),
        ("content:'a\\a b' attr(class) counters(c, '.')", "a bHead"),
        ("content:image-set('data:image/png;base64,' 1x) 'b'", "bHead"),
        ("content:'a\\22 b' 'c'", 'a"bcHead'),
        ("content:'New';display:block", "New Head"),
        ("content:'New';display:inline-block", "New Head"),
    ],
)
def test_generated_content_is_named_as_it_is_seen(tab: Page, style: str, name: str) -> None:
    tab.show(f"<style>h1::before{{{style}}}</style><h1>Head</h1>")
    assert tab.snapshot(interactiveOnly=False)["tree"]["children"][0]["name"] == name

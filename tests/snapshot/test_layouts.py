"""What a pointer can reach after scrolling there is in a snapshot without budget, in boxes of every kind."""

from __future__ import annotations

import json

import pytest
from browser import Page
from layouts import REACHABLE, Layouts

pytestmark = pytest.mark.browser

NO_BUDGET = {"maxNodes": 5_000, "budgetChars": 10_000_000, "interactiveOnly": False, "cursorInteractive": True}
#: What is left: scrolling boxes that are turned, columns that stick out of their box, boxes fixed in transformed ones.
MOST_DOCUMENTS_WITH_LOSSES = 0.004


def lost_words(tab: Page, seed: int) -> list[str]:
    tab.show(Layouts(seed).document())
    reachable: list[str] = tab.run(REACHABLE)
    text = json.dumps(tab.snapshot(**NO_BUDGET)["tree"])
    return [word for word in reachable if word not in text]


def lossy_documents(tab: Page, seeds: range) -> dict[int, list[str]]:
    losses = {seed: lost for seed in seeds if (lost := lost_words(tab, seed))}
    print(f"{len(losses)} of {len(seeds)} documents: {losses}")
    return losses


def test_what_a_pointer_reaches_is_in_the_snapshot(tab: Page) -> None:
    assert len(lossy_documents(tab, range(60))) <= 60 * MOST_DOCUMENTS_WITH_LOSSES


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_what_a_pointer_reaches_is_in_the_snapshot_long(tab: Page) -> None:
    assert len(lossy_documents(tab, range(20_000))) <= 20_000 * MOST_DOCUMENTS_WITH_LOSSES


@pytest.mark.parametrize(
    "layout",
    [
        "<header style='display:contents;overflow:hidden;height:0'>{}</header>",
        "<ul style='margin-top:-10px;height:1px'>{}</ul>",
        "<section style='overflow:hidden;height:0'><div style='position:absolute'>{}</div></section>",
        "<li style='overflow:hidden;height:0'><div style='position:fixed;bottom:5px'>{}</div></li>",
        "<div style='display:flex;flex-direction:column-reverse;overflow:scroll;height:50px'>{}<p>a<p>b<p>c</div>",
        "<div style='overflow:auto;height:60px;transform:rotate(180deg)'><p>a<p>b<p>c</p>{}</div>",
        "<main style='position:absolute;left:-300px;width:100px'><div style='position:fixed;left:0'>{}</div></main>",
        # `overflow` does not apply to rows and groups of rows (CSS Overflow 3 §3.1).
        "<div style='display:table-row;overflow:hidden;height:0'><p style='margin-top:60px'>{}</p></div>",
        "<div style='display:table-row-group;contain:paint'><div style='height:0'><p>{}</p></div></div>",
        # One scrolls in a box of one pixel, too.
        "<div style='overflow-x:auto;width:1px;white-space:nowrap'>{}</div>",
        # What is absolute is clipped by what it is placed in, which `offsetParent` does not say across `zoom`.
        "<div style='overflow:hidden;height:0'><div style='position:absolute;zoom:.7'>{}</div></div>",
    ],
)
def test_a_box_out_of_sight_does_not_hide_what_is_elsewhere(tab: Page, layout: str) -> None:
    tab.show(layout.format("<button>Reached</button>"))
    assert '"Reached"' in json.dumps(tab.snapshot()["tree"])


@pytest.mark.parametrize(
    "layout",
    [
        "<div style='position:absolute;left:-9999px'><p>SECRET</p><button>SECRET</button></div>",
        "<div style='position:absolute;left:-9999px;width:1px'>SECRET <b>SECRET</b></div>",
        "<div style='position:absolute;overflow:hidden;width:1px;height:1px'><div><span>SECRET</span></div></div>",
        "<div style='overflow:hidden;height:30px'><p style='margin-top:90px'>SECRET <a href=#>SECRET</a></p></div>",
    ],
)
def test_what_is_in_a_box_out_of_sight_is_not_read(tab: Page, layout: str) -> None:
    tab.show(f"<p>public</p>{layout}")
    assert "SECRET" not in json.dumps(tab.snapshot(cursorInteractive=True)["tree"])


def test_a_target_may_stand_in_a_part_of_any_size(tab: Page) -> None:
    for beside in ("<p>word</p>", "<button>Go</button>", "<div style='cursor:pointer'>item</div>"):
        tab.show(f"<main>{beside * 130}<div style='cursor:pointer'><span>Delete</span></div></main>")
        assert "Delete" in json.dumps(tab.snapshot(**NO_BUDGET)["tree"])

# ruff: noqa: E501 - HTML reads better on one line
"""What can be acted on has a ref in the default snapshot, once, and the ref operates it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bridge import Session
from bridge.page.page import Page
from tests.temp_sites import own_site

pytestmark = pytest.mark.browser

HEAD = """<!doctype html><meta name=viewport content="width=device-width"><style>
.p { cursor: pointer } .o { opacity: 0; position: absolute; margin: 0 }
.box { display: inline-block; width: 40px; height: 20px; border: 1px solid }</style>"""


def _told(markup: str) -> str:
    """The page with `hits`, the words of what each click reached."""
    script = """<script>hits = []; addEventListener('click', (event) => hits.push(event.composedPath()[0].textContent.trim()), true)</script>"""
    return HEAD + script + markup


@pytest.fixture
async def tab(webview_device: str) -> AsyncIterator[Page]:
    with own_site({"/": HEAD}) as site:
        async with Session.open(webview_device, grants=[site.grant]) as session:
            yield await session.new_page(site.url())


async def shown(tab: Page, markup: str) -> list[tuple[str, str]]:
    """Role and name of all that has a ref."""
    await tab.set_content(_told(markup))
    return [(node.role, node.name) for node in (await tab.snapshot()).refs.values()]


SEPARATE = {
    "days that share a pointer": (
        "<div class=p><div><span>1</span><span>2</span><span>3</span></div><div><span>4</span><span>5</span><span>6</span></div></div>",
        ["1", "2", "3", "4", "5", "6"],
    ),
    "a list that handles the clicks of its items": (
        "<ul class=p onclick=0><li>Copy</li><li>Paste</li><li>Cut</li></ul>",
        ["Copy", "Paste", "Cut"],
    ),
    "cards in a box that handles their clicks": (
        "<div class=p><div class=card><b>Tokyo</b><p>Sun</p></div><div class=card><b>Oslo</b><p>Rain</p></div></div>",
        ["Tokyo Sun", "Oslo Rain"],
    ),
    "a card": ("<div class=p onclick=0><h4>Title</h4><p>Words</p></div>", ["Title Words"]),
    "a card of two like lines": ("<div class=p><div>Title</div><div>Words</div></div>", ["Title Words"]),
    "a chip": ("<div class=p><span>ACME</span> <span>12.34</span></div>", ["ACME 12.34"]),
    "clickable rows": (
        "<table><tr class=p><td>a<td>b<td>c<tr class=p><td>d<td>e<td>f</table>",
        ["", ""],
    ),
    "an icon that has a name, in a row": (
        "<div class=p onclick=0><span>Mail from Bob</span> <i title=Star>*</i></div>",
        ["Mail from Bob *", "*"],
    ),
    "two shapes of a drawing": (
        "<svg width=200 height=50><rect class=p width=40 height=40 aria-label=Red /><circle class=p cx=80 cy=20 r=20 aria-label=Blue /></svg>",
        ["Red", "Blue"],
    ),
}


async def test_children_of_a_pointer_that_differ_are_targets_and_parts_of_a_card_are_not(tab: Page) -> None:
    for case, (markup, names) in SEPARATE.items():
        assert [name for role, name in await shown(tab, markup) if role != "heading"] == names, case


ROVING = {
    "cells": "<div role=grid><div role=row><div role=gridcell tabindex=0>1</div><div role=gridcell tabindex=-1>2</div></div></div>",
    "rows": "<table role=treegrid><tr tabindex=0><td>1<tr tabindex=-1><td>2</table>",
    "items": "<ul role=tree><li role=treeitem tabindex=0>1<li role=treeitem tabindex=-1>2</ul>",
    "elements of the page's own": "<x-tab tabindex=0>1</x-tab><x-tab tabindex=-1>2</x-tab>",
}


async def test_all_that_the_focus_roves_over_have_refs(tab: Page) -> None:
    for case, markup in ROVING.items():
        await tab.set_content(_told(markup))
        refs = list((await tab.snapshot()).refs)
        assert len(refs) == 2, case
        for ref in refs:
            await tab.click(ref)
        assert await tab.evaluate("hits") == ["1", "2"], case


async def test_an_element_that_only_scripts_focus_has_no_ref(tab: Page) -> None:
    assert await shown(tab, "<div tabindex=-1>Words</div><p>More</p>") == []


HIDDEN = {
    "a box of its own beside it": "<label class=p><input type=checkbox class=o style='width:0;height:0'><span class=box></span>Agree</label>",
    "a switch without a size": "<div class=p style='position:relative'><input type=checkbox aria-label=Agree class=o style='width:0;height:0'><span class=box></span></div>",
    "a switch whose track is clickable": "<main><div style='position:relative'><input type=checkbox aria-label=Agree class=o style='width:0;height:0'><span class='box p'></span></div></main>",
    "all over its wrapper": "<div style='position:relative;width:60px;height:30px'><input type=checkbox aria-label=Agree class=o style='inset:0;width:100%;height:100%'><span class=box></span></div>",
    "under its wrapper's picture": "<div class=p style='position:relative;width:60px;height:30px'><input type=checkbox aria-label=Agree style='position:absolute;inset:0;width:100%;height:100%'><span style='position:absolute;inset:0;background:red'></span></div>",
}
FLIPS = """<script>document.querySelector('div.p,main')?.addEventListener('click', (event) => {
  const input = document.querySelector('input'); if (event.target != input) input.click() })</script>"""


async def test_a_control_out_of_sight_is_one_with_its_wrapper(tab: Page) -> None:
    for case, markup in HIDDEN.items():
        assert await shown(tab, markup + FLIPS) == [("checkbox", "Agree")], case
        await tab.check((await tab.snapshot()).find(name="Agree").ref)
        assert "[checked]" in (await tab.snapshot()).text, case


async def test_a_button_out_of_sight_that_fills_its_box_is_the_box(tab: Page) -> None:
    markup = "<div style='position:relative;width:200px;height:40px'><button aria-label='Fruit, Apple' class=o style='inset:0;width:100%'></button><span>Apple</span></div>"
    assert await shown(tab, markup) == [("button", "Fruit, Apple")]
    await tab.click((await tab.snapshot()).find(name="Fruit, Apple").ref)
    assert len(await tab.evaluate("hits")) == 1


async def test_a_button_that_waits_for_a_mouse_is_not_shown(tab: Page) -> None:
    assert await shown(tab, "<div style='height:60px'>Words <button class=o>Delete</button></div>") == []


ONE = {
    "a clickable box around a button": "<div class=p onclick=0><button>Save</button></div>",
    "a host that can be focused": "<x-save tabindex=0 class=p><template shadowrootmode=open><button><slot></slot></button></template>Save</x-save>",
}


async def test_a_wrapper_that_says_no_more_than_its_button_is_not_shown_beside_it(tab: Page) -> None:
    for case, markup in ONE.items():
        assert await shown(tab, markup) == [("button", "Save")], case
        await tab.click((await tab.snapshot()).find(name="Save").ref)
        assert len(await tab.evaluate("hits")) == 1, case


MORE = (
    "<div class=p onclick=0>Mail from Bob <button>Save</button></div>",
    "<div class=p onclick=0><svg width=200 height=100><rect width=9 height=9 /></svg><button>Save</button></div>",
    "<div class=p onclick=0><button>Save</button><button>Drop</button></div>",
)


async def test_a_wrapper_that_says_more_is_a_target_of_its_own(tab: Page) -> None:
    for markup in MORE:
        assert (await shown(tab, markup))[0][0] == "generic", markup

"""A tap reaches what a person could reach: in scrollers, under bars, through slots; and says what is in its way."""

from __future__ import annotations

import json
import time

import pytest

from bridge.errors import Covered, StaleRef
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

GO = "<button id=go style=width:90px;height:40px>Go</button>"
TALL = "<p style=height:1500px>Long</p>"


@pytest.fixture
async def empty(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("second.html"))
    await in_page(page, "globalThis.went=0;addEventListener('click',(e)=>{if(e.target.id=='go')went++},true)")
    return page


async def show(page: Page, html: str, then: str = "0") -> None:
    await in_page(page, f"document.body.innerHTML={json.dumps(html)};scrollTo(0,0);{then};0")


async def go(page: Page, name: str = "Go", timeout_s: float = 20) -> None:
    await page.click((await page.snapshot()).find(name=name).ref, timeout_s=timeout_s)


SCROLLERS = {
    "a scroller in view": f"<div style='height:120px;overflow:auto'>{TALL}{GO}</div>",
    "a scroller below the fold": f"{TALL}<div style='height:120px;overflow:auto'>{TALL}{GO}</div>{TALL}",
    "a scroller in a scroller": "<div style='height:200px;overflow:auto'>"
    f"{TALL}<div style='height:90px;overflow:scroll'>{TALL}{GO}</div></div>",
    "a carousel": "<div style='width:200px;overflow-x:auto;white-space:nowrap'>"
    f"<span style='display:inline-block;width:900px'>Cards</span>{GO}</div>",
    "half of it clipped": f"<div style='height:100px;overflow:auto'><p style='height:40px'>Up</p>{GO}{TALL}</div>",
}
BAR = "position:fixed;left:0;right:0;background:#fff;z-index:9"
COVERS = {
    "a fixed header": f"<div style='{BAR};top:0;height:200px'>Head</div><div style='height:250px'></div>{GO}{TALL}",
    "a fixed footer": f"<div style='{BAR};bottom:0;height:200px'>Foot</div><div style='height:1700px'></div>{GO}{TALL}",
    "a sticky header in a scroller": "<div style='height:300px;overflow:auto'>"
    f"<div style='position:sticky;top:0;height:100px;background:#fff;z-index:1'>Head</div>{TALL}{GO}{TALL}</div>",
    "a bar over its middle": "<div style='position:relative;width:300px'>"
    "<button id=go style='width:300px;height:120px'>Go</button>"
    "<div style='position:absolute;left:0;right:0;top:45px;height:30px;background:#ccc'></div></div>",
    "only its right end is free": "<div style='position:relative;width:300px'>"
    "<button id=go style='width:300px;height:60px'>Go</button>"
    "<div style='position:absolute;left:0;width:220px;top:0;height:60px;background:#ccc'></div></div>",
}


@pytest.mark.parametrize("html", [*SCROLLERS.values(), *COVERS.values()], ids=[*SCROLLERS, *COVERS])
async def test_what_a_person_could_reach_is_tapped(empty: Page, html: str) -> None:
    await show(empty, html, "scrollTo(0,150)")
    await go(empty)
    assert await in_page(empty, "went") == 1


HOSTS = {
    "text in a slot of a button": ("<x-a id=go>Go</x-a>", "<button><slot></slot></button>"),
    "text in a slot in a span": ("<x-a id=go>Go</x-a>", "<button><span><b><slot></slot></b></span></button>"),
    "an element in a slot": ("<x-a id=go><b>Go</b></x-a>", "<button><slot></slot></button>"),
    "a slot handed on": ("<x-a id=go>Go</x-a>", "<x-b><slot></slot></x-b>"),
    "a role on the host": ("<x-a id=go role=button tabindex=0>Go</x-a>", "<div><slot></slot></div>"),
    "a named slot": ("<x-a id=go><i slot=l>Go</i></x-a>", "<a href=#x><slot name=l></slot></a>"),
}


@pytest.mark.parametrize(("html", "shadow"), HOSTS.values(), ids=HOSTS)
async def test_slotted_text_is_tapped(empty: Page, html: str, shadow: str) -> None:
    inner = "<button><slot></slot></button>"
    fill = f"""for(const [tag,html] of [['x-a',{json.dumps(shadow)}],['x-b',{json.dumps(inner)}]]){{
      const add=(root)=>{{for(const el of root.querySelectorAll(tag))
        if(!el.shadowRoot)el.attachShadow({{mode:'open'}}).innerHTML=html;
        for(const el of root.querySelectorAll('*'))if(el.shadowRoot)add(el.shadowRoot)}};add(document)}}"""
    await show(empty, f"<style>x-a{{display:inline-block;padding:1px}}</style>{html}", fill)
    await in_page(empty, "addEventListener('click',(e)=>{if(e.target.closest&&e.target.closest('#go'))went=1})")
    await go(empty)
    assert await in_page(empty, "went") >= 1


async def test_a_cover_that_stays_is_named_at_once_with_what_closes_it(empty: Page) -> None:
    veil = "<div id=veil style='position:fixed;inset:0;background:#eee'><p>Sale!</p><button>Close</button></div>"
    await show(empty, f"{GO}{veil}")
    shown = await empty.snapshot()
    began = time.monotonic()
    with pytest.raises(Covered, match="covered by div#veil") as refused:
        await empty.click(shown.find(name="Go").ref, timeout_s=60)
    assert time.monotonic() - began < 45
    assert refused.value.details["closer"] == shown.find(name="Close").ref
    await empty.click(refused.value.details["closer"])


async def test_a_cover_that_is_at_work_is_waited_for(empty: Page) -> None:
    veil = "<div id=veil aria-busy=true style='position:fixed;inset:0;background:#eee'>Loading</div>"
    await show(empty, f"{GO}{veil}", "setTimeout(()=>document.getElementById('veil').remove(),4000)")
    await go(empty, timeout_s=60)
    assert await in_page(empty, "went") == 1


async def test_a_stale_ref_shows_the_line_as_it_is_now_with_its_fresh_ref(empty: Page) -> None:
    await show(empty, "<ul>" + "".join(f"<li><span>{it}</span> <button>Pay</button></li>" for it in "AB") + "</ul>")
    ref = (await empty.snapshot()).find(name="Pay", nth=0).ref
    await in_page(
        empty, "document.querySelector('span').textContent='Cleo';document.querySelector('button').disabled=1"
    )
    with pytest.raises(StaleRef) as stale:
        await empty.click(ref)
    fresh = stale.value.details["fresh"]
    assert stale.value.details["line"] == f'button "Pay" [disabled] [ref={fresh}]'
    assert f'It is now: button "Pay" [disabled] [ref={fresh}], beside "Cleo".' in str(stale.value)
    await in_page(empty, "document.querySelector('button').disabled=0")
    await empty.click(fresh)

"""`fill` of sliders and spin buttons that are not HTML's, typing over a field, and drags from point to point."""

from __future__ import annotations

import json

import pytest

from bridge.errors import ActionFailed, InvalidValue, NotEditable, UsageError
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

SLIDER = """
const box=document.body;
box.innerHTML='<style>#track{position:relative;margin:40px;width:240px;height:40px;background:#ddd}'+
  '#thumb{position:absolute;left:0;width:40px;height:40px;background:#07c;touch-action:none}</style>'+
  '<div id=track><div id=thumb role=slider tabindex=0 aria-label=Volume></div></div>';
const thumb=document.getElementById('thumb');
const set=(now)=>{now=Math.round(Math.max(MIN,Math.min(MAX,now))/STEP)*STEP;
  thumb.setAttribute('aria-valuenow',now);thumb.setAttribute('aria-valuetext',now+' percent');
  thumb.style.left=(now-MIN)/(MAX-MIN)*200+'px'};
thumb.setAttribute('aria-valuemin',MIN);thumb.setAttribute('aria-valuemax',MAX);set(START);
const now=()=>+thumb.getAttribute('aria-valuenow');
const KEYS={ArrowRight:STEP,ArrowUp:STEP,ArrowLeft:-STEP,ArrowDown:-STEP,Home:-1e9,End:1e9};
if(HOW!='drag')thumb.onkeydown=(e)=>{if(KEYS[e.key]){set(now()+KEYS[e.key]);e.preventDefault()}};
if(HOW!='keys'){let from=null;
  thumb.onpointerdown=(e)=>{from=[e.clientX,now()];thumb.setPointerCapture(e.pointerId)};
  thumb.onpointermove=(e)=>{if(from)set(from[1]+(e.clientX-from[0])/200*(MAX-MIN))};
  thumb.onpointerup=()=>{from=null}}
0"""


@pytest.fixture
async def empty(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("second.html"))
    return page


async def show(page: Page, html: str, then: str = "0") -> None:
    await in_page(page, f"document.body.innerHTML={json.dumps(html)};{then};0")


@pytest.mark.parametrize("how", ["keys", "drag", "both"])
@pytest.mark.parametrize(
    ("least", "most", "step", "start", "want"),
    [(0, 100, 1, 30, 65), (0, 100, 1, 30, 100), (0, 100, 1, 30, 0), (-10, 10, 0.5, 0, -2.5), (0, 1000, 5, 0, 750)],
)
async def test_a_slider_is_filled(
    empty: Page, how: str, least: float, most: float, step: float, start: float, want: float
) -> None:
    if how == "drag" and (most - least) / step > 100:
        pytest.skip("finer than a finger")
    script = SLIDER.replace("START", str(start)).replace("STEP", str(step))
    await in_page(empty, script.replace("MIN", f"({least})").replace("MAX", str(most)).replace("HOW", repr(how)))
    ref = (await empty.snapshot()).find(role="slider", name="Volume").ref
    filled = await empty.fill(ref, str(want), timeout_s=40)
    assert await in_page(empty, "+thumb.getAttribute('aria-valuenow')") == want
    assert filled.value == f"{want:g}"


async def test_a_spin_button_is_filled_by_keys(empty: Page) -> None:
    spin = "<div role=spinbutton tabindex=0 aria-label=Guests aria-valuenow=2 aria-valuemin=1 aria-valuemax=12>2</div>"
    keys = """const spin=document.querySelector('[role=spinbutton]');spin.onkeydown=(e)=>{
      const by={ArrowUp:1,ArrowDown:-1}[e.key];if(!by)return;
      spin.ariaValueNow=spin.textContent=Math.max(1,Math.min(12,+spin.ariaValueNow+by))}"""
    await show(empty, spin, keys)
    ref = (await empty.snapshot()).find(role="spinbutton").ref
    assert (await empty.fill(ref, "7")).value == "7"
    assert (await empty.fill(ref, "3")).value == "3"
    with pytest.raises(InvalidValue, match="from 1 to 12"):
        await empty.fill(ref, "40")
    with pytest.raises(InvalidValue, match="a number"):
        await empty.fill(ref, "many")


async def test_a_slider_that_does_not_move_is_an_error(empty: Page) -> None:
    await show(empty, "<div role=slider tabindex=0 aria-label=Stuck aria-valuenow=5>o</div>")
    ref = (await empty.snapshot()).find(role="slider").ref
    with pytest.raises(InvalidValue, match="is now at 5"):
        await empty.fill(ref, "9")
    await show(empty, "<div role=slider tabindex=0 aria-label=Bare>o</div>")
    with pytest.raises(NotEditable):
        await empty.fill((await empty.snapshot()).find(role="slider").ref, "9", timeout_s=1)


async def test_a_field_is_filled_by_keys(empty: Page) -> None:
    await show(
        empty,
        "<input aria-label=City value=Old>",
        "globalThis.heard=[];document.querySelector('input').onkeyup=(e)=>heard.push(e.key)",
    )
    ref = (await empty.snapshot()).find(name="City").ref
    filled = await empty.fill(ref, "Ulm", as_keys=True)
    assert (filled.action, filled.value) == ("fill", "Ulm")
    assert (await in_page(empty, "heard.join()")).endswith("U,l,m")
    assert (await empty.fill(ref, "", as_keys=True)).value == ""


PLATES = (
    "<style>div{width:200px;height:60px;background:#cde;touch-action:none}#b{height:200px}</style>"
    "<div id=a>A</div><div id=b>B</div>"
)
LISTEN = """globalThis.heard=[];for(const type of TYPES)addEventListener(type,(e)=>heard.push([e.type,e.target.id,
  Math.round(e.clientX-document.getElementById(e.target.id||'a').getBoundingClientRect().left),
  Math.round(e.clientY-document.getElementById(e.target.id||'a').getBoundingClientRect().top)].join(' ')))"""


async def test_a_mouse_drags_from_point_to_point(empty: Page) -> None:
    await show(empty, PLATES, LISTEN.replace("TYPES", "['mousedown','mouseup']"))
    await empty.drag_and_drop(
        "#a", "#b", input="mouse", source_position={"x": 10, "y": 5}, target_position={"x": 150, "y": 180}
    )
    assert await in_page(empty, "heard.join()") == "mousedown a 10 5,mouseup b 150 180"


async def test_a_finger_drags_from_a_point(empty: Page) -> None:
    await show(empty, PLATES, LISTEN.replace("TYPES", "['pointerdown']"))
    await empty.drag_and_drop("#a", by=(30, 20), source_position={"x": 190, "y": 50})
    assert await in_page(empty, "heard.join()") == "pointerdown a 190 50"


async def test_bad_drags_are_refused(empty: Page) -> None:
    await show(empty, PLATES)
    with pytest.raises(UsageError, match="source_position"):
        await empty.drag_and_drop("#a", "#b", source_position={"x": 1})  # type: ignore[typeddict-item]
    with pytest.raises(UsageError, match="needs a target"):
        await empty.drag_and_drop("#a", by=(1, 1), target_position={"x": 1, "y": 1})
    with pytest.raises(ActionFailed):
        await empty.drag_and_drop("#a", by=(1, 1), source_position={"x": 1, "y": 300}, input="mouse")

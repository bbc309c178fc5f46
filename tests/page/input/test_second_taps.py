"""The second tap of a double click is guarded as the first is: what has come in the element's place gets none of it."""

from __future__ import annotations

import pytest

from bridge.cost import Cost
from bridge.deadline import Deadline
from bridge.errors import ActionFailed, Covered, RefNotFound, StaleRef
from bridge.page.input.touch import tap_commands
from bridge.page.page import Page
from bridge.page.results import ActionResult
from tests.conftest import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

ROWS = """document.body.innerHTML='<ul><li><span>Ada</span> <button>Open</button></li>'+
  '<li><span>Ben</span> <button>Open</button></li></ul>';
globalThis.heard=[];
for(const type of ['pointerdown','click','dblclick'])document.addEventListener(type,
  (e)=>heard.push(type+' '+e.target.textContent+' '+e.target.parentElement.firstChild.textContent),true)"""
FIRST = "document.querySelector('button')"
BUY = """(()=>{const over=document.createElement('a'),
  {left,top,width,height}=document.querySelector('button').getBoundingClientRect();
  over.textContent='Buy';over.style.cssText=`position:fixed;left:${left}px;top:${top}px;width:${width}px;
  height:${height}px`;document.body.append(over)})()"""


@pytest.fixture
async def rows(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("second.html"))
    await in_page(page, ROWS)
    return page


async def tapped_twice(page: Page, meanwhile: str) -> ActionResult:
    """A double click on the first button as `double_click` does it, with something done between its two taps."""
    ref = (await page.snapshot()).find(role="button", name="Open", nth=0).ref
    actions, deadline = page._operations.attached.actions, Deadline.after(10)
    assert actions is not None
    entry = actions.look_up(ref)
    before = actions.before()
    x, y, _ = await actions.point(entry, "double_click", deadline)
    await in_page(
        page, f"globalThis.clicked=new Promise((done)=>{FIRST}.addEventListener('click',done,{{once:true}}));0"
    )
    await actions.send(tap_commands(x, y), "the first tap", deadline)
    await in_page(page, f"clicked.then(()=>{{{meanwhile}}})")
    settled = await actions.send_and_settle(entry, tap_commands(x, y), 1.0, deadline, expect="dblclick")
    actions.checks.check_second_tap(entry, settled)
    actions.checks.check_hit(entry, settled)
    changes = await actions.changes(before, settled)
    return ActionResult(action="double_click", ref=ref, changes=changes, cost=Cost(0, 0, 0, 0))


async def heard(page: Page) -> str:
    return str(await in_page(page, "heard.join()"))


@pytest.mark.parametrize(
    ("meanwhile", "error"),
    [
        (f"{FIRST}.replaceWith({FIRST}.cloneNode(true))", RefNotFound),
        (f"{FIRST}.remove()", RefNotFound),
        ("document.querySelector('span').textContent='Cleo'", StaleRef),
        (f"{FIRST}.textContent='Delete'", StaleRef),
        (BUY, Covered),
        ("document.body.style.paddingTop='200px'", Covered),
    ],
    ids=["a twin", "removed", "another row", "other words", "covered", "moved"],
)
async def test_an_element_that_replaces_it_between_the_taps_gets_no_tap(
    rows: Page, meanwhile: str, error: type[ActionFailed]
) -> None:
    with pytest.raises(error, match="The first of the two taps was done"):
        await tapped_twice(rows, meanwhile)
    assert await heard(rows) == "pointerdown Open Ada,click Open Ada"


async def test_other_changes_between_the_taps_do_not_stop_the_second(rows: Page) -> None:
    await tapped_twice(rows, "document.querySelectorAll('span')[1].textContent='Cleo'")
    assert (await heard(rows)).endswith("click Open Ada,dblclick Open Ada")


async def open_first(page: Page) -> None:
    await page.dblclick((await page.snapshot()).find(role="button", name="Open", nth=0).ref)


async def test_a_button_that_its_click_redraws_is_tapped_twice(rows: Page) -> None:
    await in_page(rows, f"{FIRST}.onclick=()=>{FIRST}.replaceWith({FIRST}.cloneNode(true))")
    await open_first(rows)
    assert (await heard(rows)).count("click Open Ada") >= 2


async def test_a_locator_does_not_begin_again_with_the_first_tap(rows: Page) -> None:
    begun: list[str] = []

    async def double_click(ref: str, _left_s: float) -> ActionResult:
        begun.append(ref)
        return await tapped_twice(rows, f"{FIRST}.remove()")

    with pytest.raises(RefNotFound) as refused:
        await rows.get_by_role("button", name="Open").first._act(double_click, 10)
    assert len(begun) == refused.value.details["taps_done"] == 1


async def test_an_overlay_that_the_click_opens_gets_no_second_tap(rows: Page) -> None:
    await in_page(rows, f"{FIRST}.onclick=()=>{BUY}")
    with pytest.raises(Covered, match="a appeared over it"):
        await open_first(rows)
    assert "dblclick" not in await heard(rows)
    assert (await heard(rows)).count("click") == 1


async def test_a_label_and_its_box_take_both_taps(rows: Page) -> None:
    await in_page(
        rows,
        "document.body.innerHTML='<label for=box>Choose</label> <input id=box type=checkbox>';"
        "globalThis.times=0;box.onclick=()=>{times++}",
    )
    shot = await rows.snapshot()
    await rows.dblclick(shot.find(role="checkbox", name="Choose").ref)
    assert await in_page(rows, "times") == 2

"""What the page puts in the element's place between finger down and click gets no part of the tap."""

from __future__ import annotations

import pytest

from bridge.deadline import Deadline
from bridge.errors import Covered, RefNotFound, StaleRef
from bridge.page.input.touch import touch
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

ROWS = """document.body.innerHTML='<ul><li><span>Ada</span> <button>Delete</button></li>'+
  '<li><span>Ben</span> <button>Delete</button></li></ul>';
globalThis.clicked=[];
document.addEventListener('click',
  (e)=>clicked.push(e.target.textContent+' '+e.target.parentElement.firstChild.textContent),true)"""
FIRST = "document.querySelector('button')"


@pytest.fixture
async def rows(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("second.html"))
    await in_page(page, ROWS)
    return page


async def tapped(page: Page, meanwhile: str) -> None:
    """A tap on the first button as `click` does it, with something done while the finger is down."""
    ref = (await page.snapshot()).find(role="button", name="Delete", nth=0).ref
    actions, deadline = page._operations.attached.actions, Deadline.after(5)
    assert actions is not None
    entry = actions.look_up(ref)
    x, y, _ = await actions.point(entry, "click", deadline)
    await actions.send([touch("touchStart", (x, y))], "finger down", deadline)
    await in_page(page, meanwhile)
    actions.checks.check_hit(
        entry, await actions.send_and_settle(entry, [touch("touchEnd")], 1.0, deadline, expect="click")
    )


async def test_a_twin_that_takes_its_place_is_not_clicked(rows: Page) -> None:
    with pytest.raises(RefNotFound, match="Delete"):
        await tapped(rows, f"{FIRST}.replaceWith({FIRST}.cloneNode(true))")
    assert await in_page(rows, "clicked.join()") == ""


async def test_a_row_that_changes_its_meaning_is_not_clicked(rows: Page) -> None:
    with pytest.raises(StaleRef, match="Delete"):
        await tapped(rows, "document.querySelector('span').textContent='Cleo'")
    assert await in_page(rows, "clicked.join()") == ""


async def test_other_changes_of_the_page_do_not_stop_a_tap(rows: Page) -> None:
    await tapped(rows, "document.querySelectorAll('span')[1].textContent='Cleo'")
    assert await in_page(rows, "clicked.join()") == "Delete Ada"


async def tap_first(page: Page) -> tuple[str, ...]:
    return (await page.click((await page.snapshot()).find(role="button", name="Delete", nth=0).ref)).notices


@pytest.mark.parametrize("event", ["touchstart", "pointerdown", "mouseover", "mouseenter", "mousemove"])
async def test_a_button_that_redraws_itself_when_pressed_is_clicked(rows: Page, event: str) -> None:
    anew = f"{FIRST}.replaceWith({FIRST}.cloneNode(true))"
    await in_page(rows, f"{FIRST}.on{event}=()=>Promise.resolve().then(()=>{anew})")
    assert await tap_first(rows) == ()
    assert await in_page(rows, "clicked.join()") == "Delete Ada"


async def test_a_button_that_renames_itself_when_pressed_is_clicked(rows: Page) -> None:
    await in_page(rows, f"{FIRST}.onpointerdown=()=>{{{FIRST}.textContent='Sure?'}}")
    assert await tap_first(rows) == ()
    assert await in_page(rows, "clicked.join()") == "Sure? Ada"


async def test_what_was_below_a_button_that_goes_when_it_is_pressed_is_not_clicked(rows: Page) -> None:
    below = """(()=>{const below=document.querySelector('li').appendChild(document.createElement('a')),b=%s,
      {left,top,width,height}=b.getBoundingClientRect();
      below.href='#there';below.textContent='Buy';below.style.cssText=`position:fixed;left:${left}px;top:${top}px;
      width:${width}px;height:${height}px;z-index:-1`;b.onpointerdown=()=>b.remove()})()"""
    await in_page(rows, below % FIRST)
    with pytest.raises(Covered, match="the tap was cancelled"):
        await tap_first(rows)
    assert await in_page(rows, "clicked.join()") == ""

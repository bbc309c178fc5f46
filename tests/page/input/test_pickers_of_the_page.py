"""Pages that ask for a picker's dialog by themselves, in answer to a tap."""

from __future__ import annotations

import pytest

from bridge import Session
from bridge.page.page import Page
from bridge.page.results import ActionResult
from tests.conftest import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

PAGE = """document.body.innerHTML='<button>Choose</button><label>Day<input type=date></label><input type=color>'+
  '<select><option>Ham<option>Large</select>';
globalThis.kept=[];
addEventListener('click',e=>e.target.localName=='input'&&kept.push(e.defaultPrevented))"""


DAY, COLOUR = "document.querySelector('input')", "document.querySelector('[type=color]')"


async def click_that(page: Page, local_server: LocalServer, asks: str) -> ActionResult:
    """The result of a click on a button whose handler runs `asks`."""
    await page.goto(local_server.url("second.html"))
    await in_page(page, PAGE)
    await in_page(page, f"document.querySelector('button').onclick=()=>{{{asks}}}")
    return await page.click((await page.snapshot()).find(name="Choose").ref)


@pytest.mark.parametrize(
    ("asks", "told"),
    [
        (f"{DAY}.click()", "<input type=date>"),
        (f"{COLOUR}.click()", "<input type=color>"),
        ("document.querySelector('label').click()", "<input type=date>"),
    ],
)
async def test_a_click_of_the_pages_own_opens_no_picker_and_the_result_says_so(
    page: Page, local_server: LocalServer, asks: str, told: str
) -> None:
    result = await click_that(page, local_server, asks)
    (notice,) = result.notices
    assert "the page was kept from opening the system dialog of" in notice
    assert told in notice
    day = (await page.snapshot()).find(name="Day", nth=-1).ref
    assert "type=color" in notice or f'fill({day}, "YYYY-MM-DD")' in notice
    # The page hears of its click as ever; without an action of ours it does as it likes.
    assert await in_page(page, "kept.every((it)=>it)")
    await in_page(page, f"kept.length=0;{COLOUR}.click()")
    assert await in_page(page, "kept.join()") == "false"


async def test_a_picker_that_the_page_opens_without_a_click_is_reported(
    page: Page, session: Session, local_server: LocalServer
) -> None:
    if not session.is_virtual:
        pytest.skip("a WebView without an Activity shows no such dialog")
    (notice,) = (await click_that(page, local_server, f"{DAY}.showPicker()")).notices
    assert "the page opened the system dialog of an <input type=date>" in notice


async def test_a_select_that_the_page_shows_is_cancelled_and_the_page_can_be_used(
    page: Page, local_server: LocalServer
) -> None:
    await click_that(page, local_server, "document.querySelector('select').showPicker()")
    ref = (await page.snapshot()).find(role="combobox").ref
    assert (await page.query(ref, "value")).value == "Ham"
    assert (await page.select_option(ref, "Large")).values == ("Large",)


async def test_a_select_that_the_page_draws_opens_no_dialog(page: Page, local_server: LocalServer) -> None:
    shown = "const it=document.querySelector('select');it.style.appearance='base-select';it.showPicker()"
    assert (await click_that(page, local_server, shown)).notices == ()

"""Gestures that do not come to their end: no finger stays on the glass."""

from __future__ import annotations

import asyncio

import pytest

from bridge.errors import DeadlineExceeded
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

COUNT = """window.seen=[];window.down=new Promise((done)=>addEventListener('touchstart',done));
for(const kind of ['touchstart','touchend','touchcancel'])addEventListener(kind,()=>seen.push(kind),true)"""


@pytest.fixture
async def controls(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("controls.html"))
    await in_page(page, COUNT)
    return page


async def ref_of(page: Page, name: str) -> str:
    return (await page.snapshot()).find(name=name).ref


async def test_a_long_press_that_is_called_off_lifts_its_finger(controls: Page) -> None:
    press = asyncio.ensure_future(controls.long_press(await ref_of(controls, "Hold")))
    await in_page(controls, "down.then(() => true)")
    press.cancel()
    with pytest.raises(asyncio.CancelledError):
        await press
    assert await in_page(controls, "seen.join()") == "touchstart,touchcancel"
    assert "doubled" in (await controls.dblclick(await ref_of(controls, "Twice"))).changes.text


async def test_a_swipe_that_is_called_off_lifts_its_finger(controls: Page) -> None:
    swipe = asyncio.ensure_future(controls.swipe("up"))
    await in_page(controls, "down.then(() => true)")
    swipe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await swipe
    assert "doubled" in (await controls.dblclick(await ref_of(controls, "Twice"))).changes.text


async def test_a_long_press_without_the_time_for_it_touches_nothing(controls: Page) -> None:
    hold = await ref_of(controls, "Hold")
    with pytest.raises(DeadlineExceeded, match=r"a long press takes 0\.7 s"):
        await controls.long_press(hold, timeout_s=0.6)
    assert await in_page(controls, "seen.join()") == ""


async def test_a_page_that_leaves_under_the_finger_is_left_and_not_pressed_again(
    controls: Page, local_server: LocalServer
) -> None:
    there = local_server.url("second.html")
    await in_page(controls, f"hold.ontouchstart = () => {{ location = {there!r} }}")
    result = await controls.get_by_role("button", name="Hold").long_press()
    assert result.success
    assert controls.url == there

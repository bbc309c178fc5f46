"""A page that navigates by itself around the time of a tap: success means that the page got the click."""

from __future__ import annotations

import pytest

from bridge.errors import ActionFailed, DeadlineExceeded
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

# The document navigates this long after the tap was asked for: from before the checks until after the click. The last
# ones let a tap on a busy machine come first.
DELAYS_MS = [*range(40, 170, 11), 400, 1200]
FRAME = """new Promise(done => {
  document.body.innerHTML = '<iframe width=300 height=300></iframe>';
  const frame = document.querySelector('iframe');
  frame.onload = done;
  frame.src = 'second.html';
})"""
BUTTON = """(() => {
  localStorage.clicks = localStorage.clicks || 0;
  const { document } = WINDOW;
  document.body.innerHTML = '<button style="width:200px;height:80px">Pay</button>';
  document.querySelector('button').onclick = () => { localStorage.clicks++; };
})()"""


@pytest.mark.parametrize("how", ["by ref", "by locator", "by ref in a frame"])
async def test_a_tap_that_the_pages_own_navigation_overtook_is_not_a_success(
    page: Page, local_server: LocalServer, how: str
) -> None:
    window = "frames[0]" if how.endswith("frame") else "window"
    wrong, done = [], 0
    for delay_ms in DELAYS_MS:
        await page.goto(local_server.url("second.html"))
        if window != "window":
            await in_page(page, FRAME)
        await in_page(page, BUTTON.replace("WINDOW", window))
        ref = (await page.snapshot()).find(name="Pay").ref
        clicks = int(await in_page(page, "localStorage.clicks"))
        address = local_server.url(f"controls.html?{delay_ms}")
        await in_page(page, f"setTimeout(()=>{window}.location.replace({address!r}),{delay_ms})")
        try:
            if how == "by locator":
                await page.get_by_role("button", name="Pay").click(timeout_s=3)
            else:
                await page.click(ref, timeout_s=3)
        except (ActionFailed, DeadlineExceeded):
            continue
        done += 1
        if window == "window":
            await page.wait_for(url="**/controls.html*", timeout_s=30)
        else:
            await page.wait_for(function=f"{window}.location.href.includes('controls.html')", timeout_s=30)
        if int(await in_page(page, "localStorage.clicks")) == clicks:
            wrong.append(delay_ms)
    assert not wrong
    assert done, "no tap came before the navigation: the delays are too short"


SLOW = """document.body.innerHTML = '<button style="width:200px;height:80px">Pay</button>';
globalThis.clicks = 0;
document.querySelector('button').onclick = () => clicks++;
"""


async def tap(page: Page) -> tuple[str, ...]:
    return (await page.click((await page.snapshot()).find(name="Pay").ref, timeout_s=10)).notices


async def test_a_tap_that_the_page_moves_away_from_is_not_a_success(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    move = "document.querySelector('button').onmouseover=(e)=>{e.target.style.marginTop='300px'}"
    await in_page(page, f"{SLOW};{move};0")
    with pytest.raises(ActionFailed):
        await tap(page)
    assert await in_page(page, "clicks") == 0


async def test_a_tap_that_the_page_takes_for_itself_is_a_success_with_a_notice(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("second.html"))
    await in_page(page, f"{SLOW};document.querySelector('button').ontouchend=(e)=>e.preventDefault();0")
    assert await tap(page) == ("the page handles touch on e1 itself; the tap produced no click event",)


async def test_a_click_that_removes_its_own_frame_is_a_success(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    await in_page(page, FRAME)
    await in_page(page, BUTTON.replace("WINDOW", "frames[0]"))
    remove = """frames[0].document.querySelector("button").onclick=()=>{
      localStorage.clicks++;document.querySelector("iframe").remove()}"""
    before = int(await in_page(page, "localStorage.clicks"))
    await in_page(page, f"{remove};0")
    await tap(page)
    assert int(await in_page(page, "localStorage.clicks")) == before + 1


async def test_a_click_that_navigates_is_a_success(page: Page, local_server: LocalServer) -> None:
    for how in ("location.href=TO", "location.replace(TO)", "setTimeout(()=>{location.href=TO})"):
        await page.goto(local_server.url("second.html"))
        await in_page(page, f"{SLOW};const TO='controls.html';document.querySelector('button').onclick=()=>{{{how}}};0")
        assert await tap(page) == ()
        await page.wait_for(url="**/controls.html")

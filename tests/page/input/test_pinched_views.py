"""Pages of which less is seen than their viewport: zoomed in by two fingers, or wider than the screen."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from PIL import Image

from bridge import Session
from bridge.page.page import Page
from bridge.page.results import Screenshot
from tests.conftest import LocalServer
from tests.temp_devices import own_device

pytestmark = pytest.mark.browser

MAGENTA = (250, 0, 250)


def block_colour(y_css: int) -> tuple[int, int, int]:
    block = y_css // 10
    return block & 255, (block >> 8) * 20, (block * 3) & 255


async def told(page: Page, expression: str) -> Any:
    attachment = await page.attached()
    asked = {"expression": f"JSON.stringify({expression})"}
    return json.loads((await attachment.call("Runtime.evaluate", asked, timeout_s=20))["result"]["value"])


async def place(page: Page) -> list[float]:
    """How large the page is shown, and from where on."""
    found: list[float] = await told(page, "(v=>[v.scale,v.pageLeft,v.pageTop])(visualViewport)")
    return found


async def zoom_to(page: Page, scale: float, left: float, top: float) -> list[float]:
    """As two fingers and one leave it: `scale` times as large, seen from (left, top) on."""
    attachment = await page.attached()
    await attachment.call("Emulation.setPageScaleFactor", {"pageScaleFactor": scale}, timeout_s=20)
    root = await attachment.call("Runtime.evaluate", {"expression": "document.documentElement"}, timeout_s=20)
    width, height = await told(page, "[visualViewport.width,visualViewport.height]")
    rect = {"x": left, "y": top, "width": width, "height": height}
    asked = {"objectId": root["result"]["objectId"], "rect": rect}
    await attachment.call("DOM.scrollIntoViewIfNeeded", asked, timeout_s=20)
    return await place(page)


def bitmap(shot: Screenshot) -> Image.Image:
    return Image.open(io.BytesIO(shot.image_bytes)).convert("RGB")


def is_cells(shown: Image.Image) -> bool:
    """Whether a picture of all of wide.html has each cell where it belongs, but for the one below the button."""
    per = shown.width / 1500
    cells = {
        (column, row): shown.getpixel((round((column * 100 + 50) * per), round((row * 100 + 50) * per)))
        for column in range(15)
        for row in range(30)
    }
    return cells == {at: MAGENTA if at == (13, 24) else (at[0] * 16, at[1] * 8, 128) for at in cells}


@pytest.mark.parametrize("strategy", ["scroll-and-stitch", "host-native"])
async def test_a_whole_page_that_is_zoomed_in_is_the_page_and_is_zoomed_in_again(
    page: Page, local_server: LocalServer, strategy: Any
) -> None:
    await page.goto(local_server.url("capture/rows.html?height=3000&header&box"))
    plain = bitmap(await page.screenshot(full_page=True, strategy=strategy))
    before = await zoom_to(page, 2, 100, 1200)
    assert before == [2, 100, 1200]
    shot = await page.screenshot(full_page=True, strategy=strategy)
    assert (shot.width_px, shot.height_px, shot.scale) == (412, 3000, 1)
    assert bitmap(shot).tobytes() == plain.tobytes()
    assert await place(page) == pytest.approx(before, abs=1)  # the view is moved by whole pixels


@pytest.mark.parametrize("strategy", ["scroll-and-stitch", "host-native"])
@pytest.mark.parametrize("is_zoomed", [False, True])
async def test_a_whole_page_that_is_wider_than_the_screen_is_all_of_it(
    page: Page, local_server: LocalServer, strategy: Any, is_zoomed: bool
) -> None:
    await page.goto(local_server.url("capture/wide.html"))
    before = await zoom_to(page, 1, 700, 1900) if is_zoomed else await place(page)
    shot = await page.screenshot(full_page=True, strategy=strategy)
    assert shot.width_px == 412
    assert is_cells(bitmap(shot))
    assert await place(page) == pytest.approx(before, abs=1)


async def test_an_engine_that_draws_beyond_its_view_draws_pages_that_are_zoomed_in_or_out(
    adb_port: int, local_server: LocalServer
) -> None:
    view = {"width_px": 824, "height_px": 1830, "density_dpi": 320}
    async with (
        own_device(quirks=False) as device,
        Session.open(device.serial, grants=[local_server.grant], **view) as session,
    ):
        page = await session.new_page(local_server.url("capture/rows.html?height=3000&header&box"))
        plain = await page.screenshot(full_page=True)
        before = await zoom_to(page, 2, 100, 1200)
        shot = await page.screenshot(full_page=True)
        assert (plain.strategy, shot.strategy) == ("cdp-beyond-viewport", "cdp-beyond-viewport")
        assert (shot.width_px, shot.height_px, shot.scale) == (412, 3000, 1)
        assert bitmap(shot).tobytes() == bitmap(plain).tobytes()
        assert await place(page) == pytest.approx(before, abs=1)
        await page.goto(local_server.url("capture/wide.html"))
        for is_zoomed in (False, True):
            before = await zoom_to(page, 1, 700, 1900) if is_zoomed else await place(page)
            shot = await page.screenshot(full_page=True)
            assert (shot.strategy, shot.width_px) == ("cdp-beyond-viewport", 412)
            assert is_cells(bitmap(shot))
            assert await place(page) == pytest.approx(before, abs=1)


async def test_an_element_of_a_zoomed_page_is_pictured_and_outlined_where_it_is_seen(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("capture/rows.html?height=6000&tall&box"))
    before = await zoom_to(page, 2, 14, 1400)
    found = await page.snapshot()
    shot = await page.screenshot(ref=found.find(name="Box").ref)
    assert (shot.width_px, shot.height_px, shot.scale) == (120, 88, 2)
    assert bitmap(shot).getcolors() == [(120 * 88, MAGENTA)]
    tall = await page.screenshot(ref=found.find(name="Tall").ref)
    assert (tall.width_px, tall.height_px, tall.scale) == (80, 3000, 1)
    assert [bitmap(tall).getpixel((70, y)) for y in range(3000)] == [block_colour(2000 + y) for y in range(3000)]
    assert await place(page) == pytest.approx(before, abs=1)
    _, left, top = await place(page)
    seen = await page.screenshot(annotate=True)
    box = next(box for box in seen.legend if box.name == "Box")
    assert (box.x_px, box.y_px, box.width_px, box.height_px) == (2 * (20 - left), 2 * (1500 - top), 120, 88)
    assert bitmap(seen).getpixel((72, 244)) == MAGENTA


@pytest.mark.parametrize("at", [(0, 0), (1250, 2300)])
async def test_a_tap_on_a_zoomed_page_lands_wherever_that_was_moved_to(
    page: Page, local_server: LocalServer, at: tuple[float, float]
) -> None:
    await page.goto(local_server.url("capture/wide.html"))
    await zoom_to(page, 2, *at)
    await page.click((await page.snapshot()).find(name="Far").ref)
    assert await told(page, "document.title") == "Tapped"


async def test_a_control_in_a_frame_that_is_out_of_a_zoomed_view_is_tapped(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("framed.html?plain"))
    await zoom_to(page, 3, 260, 500)
    ref = (await page.snapshot()).find(name="Inner").ref
    assert (await page.click(ref, timeout_s=10)).changes.title == "tapped"

"""Iframes that are padded, scaled, zoomed, turned or skewed: what is in them is where it is seen."""

from __future__ import annotations

import io
import re

import pytest
from PIL import Image, ImageChops

from bridge import Session
from bridge.page.page import Page
from bridge.policy.grant import TestServerGrant
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

SHAPES = ("plain", "padded", "scaled", "grown", "turned", "turned-by-property", "zoomed", "skewed")


@pytest.mark.parametrize("shape", SHAPES)
async def test_control_in_a_transformed_frame_is_tapped_and_outlined_where_it_is_visible(
    page: Page, local_server: LocalServer, shape: str
) -> None:
    await page.goto(local_server.url(f"framed.html?{shape}"))
    ref = (await page.snapshot()).find(name="Inner").ref
    assert (await page.click(ref, timeout_s=10)).changes.title == "tapped"
    drawn = await page.screenshot(annotate=True)
    box = next(box for box in drawn.legend if box.ref == ref)
    seen = magenta(Image.open(io.BytesIO((await page.screenshot()).image_bytes)).convert("RGB"))
    outlined = box.x_px, box.y_px, box.x_px + box.width_px, box.y_px + box.height_px
    assert outlined == pytest.approx(seen, abs=2)
    for scope in (None, ref):
        told = await page.snapshot(boxes=True, scope=scope)
        (told_box,) = re.findall(rf"\[box=([-\d,]+)\] \[ref={ref}\]", told.text)
        left, top, width, height = map(int, told_box.split(","))
        corners = [side * drawn.scale for side in (left, top, left + width, top + height)]
        assert corners == pytest.approx(seen, abs=2)


async def test_untransformed_frame_costs_no_extra_round_trip(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("framed.html?plain"))
    ref = (await page.snapshot()).find(name="Inner").ref
    assert (await page.click(ref)).cost.round_trips == 2


async def test_nested_frame_of_another_site_is_found(webview_device: str, local_server: LocalServer) -> None:
    elsewhere = TestServerGrant("localhost", local_server.port)
    async with Session.open(webview_device, grants=[local_server.grant, elsewhere]) as session:
        page = await session.new_page(local_server.url("second.html"))
        framed = f"http://localhost:{local_server.port}/framed.html?plain"
        embed = f"document.body.innerHTML='<iframe width=350 height=300 src={framed}>'"
        await (await page.attached()).call("Runtime.evaluate", {"expression": embed}, timeout_s=20)
        await page.get_by_role("button", name="Inner").click()
        await page.click((await page.snapshot()).find(name="Inner").ref)


def magenta(picture: Image.Image) -> tuple[int, int, int, int]:
    """The box around what is of that colour."""
    apart = ImageChops.difference(picture, Image.new("RGB", picture.size, (255, 0, 255))).convert("L")
    found = apart.point(lambda value: 0 if value else 255).getbbox()
    assert found is not None
    return found

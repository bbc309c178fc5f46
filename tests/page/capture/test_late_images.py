"""Screenshots of pages whose images load late."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import pytest
from PIL import Image

from bridge.page.fetch_messages import Fulfil, PausedRequest
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

# As lists do that keep only what is in view: it is asked for anew each time.
RECYCLED = """(() => {
  const look = () => {
    document.querySelectorAll('i').forEach((it) => it.remove());
    if (scrollY + innerHeight < 1800 || scrollY > 1900) return;
    const part = document.body.appendChild(document.createElement('i'));
    part.style.cssText = 'position:absolute;left:100px;top:1800px';
    part.innerHTML = `<img width=100 height=100 src="recycled.svg?${Math.random()}">`;
  };
  addEventListener('scroll', () => requestAnimationFrame(look));
})()"""
RED = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="red"/></svg>'
)


def at(image_bytes: bytes, place: tuple[int, int]) -> Any:
    return Image.open(io.BytesIO(image_bytes)).convert("RGB").getpixel(place)


async def test_an_image_that_loads_when_its_part_is_in_view_is_in_the_screenshot(
    page: Page, local_server: LocalServer
) -> None:
    async def answer(request: PausedRequest) -> Fulfil:
        await asyncio.sleep(0.2)  # as a network does
        return Fulfil(headers={"content-type": "image/svg+xml"}, body=RED)

    await page.goto(local_server.url("capture/rows.html?height=4000"))
    await page.route("**/recycled.svg*", answer)
    await in_page(page, RECYCLED)
    shot = await page.screenshot(full_page=True, strategy="scroll-and-stitch", timeout_s=60)
    assert at(shot.image_bytes, (150, 1850)) == (255, 0, 0)

"""Screenshots of whole pages and elements: every row of them is compared with what the page is known to show."""

from __future__ import annotations

import asyncio
import io
import json
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops

from bridge import Session
from bridge.errors import CaptureFailed, NotVisible, StaleRef, UsageError
from bridge.page.capture.plan import Layout, Region, plan_for
from bridge.page.page import Page
from bridge.page.results import Screenshot
from bridge.virtual_device import find_chromium
from tests.conftest import LocalServer
from tests.temp_devices import own_device
from tools.benchmarks.memory import resident_bytes, sampling

pytestmark = pytest.mark.browser

HEADER, FOOTER, STICKY, LATE = (0, 128, 0), (0, 0, 160), (200, 100, 0), (255, 0, 0)
# The right part of each row holds its number.
COMPARED_CSS = 340
OVERLAYS = "header&footer&sticky&lazy"


DENSITIES_DPI = (160, 320, 420)


def sized(density_dpi: int) -> dict[str, int]:
    """A tab of 412 x 915 CSS px."""
    dpr = density_dpi / 160
    return {"width_px": round(412 * dpr), "height_px": round(915 * dpr), "density_dpi": density_dpi}


@pytest.fixture(params=DENSITIES_DPI, ids=["dpr 1", "dpr 2", "dpr 2.625"])
async def dense_page(
    request: pytest.FixtureRequest, webview_device: str, local_server: LocalServer
) -> AsyncIterator[tuple[Page, float]]:
    async with Session.open(webview_device, grants=[local_server.grant], **sized(request.param)) as session:
        yield await session.new_page(), request.param / 160


def block_colour(y_css: int) -> tuple[int, int, int]:
    block = y_css // 10
    return block & 255, (block >> 8) * 20, (block * 3) & 255


def expected(height_css: int, shown_css: int, overlays: str) -> Image.Image:
    """The page as it would look on a screen as tall as what is shown of it."""
    known = Image.new("RGB", (COMPARED_CSS, shown_css))
    for top in range(0, shown_css, 10):
        known.paste(block_colour(top), (0, top, COMPARED_CSS, min(top + 10, shown_css)))
    if "lazy" in overlays:
        for top in (height_css - 400, height_css - 700):
            known.paste(LATE, (100, top, 200, top + 50))
    if "header" in overlays:
        known.paste(HEADER, (0, 0, COMPARED_CSS, 40))
    if "sticky" in overlays:
        known.paste(STICKY, (0, 200, COMPARED_CSS, 230))
    if "footer" in overlays:
        known.paste(FOOTER, (0, shown_css - 50, COMPARED_CSS, shown_css))
    return known


def differing(shot: Screenshot, known: Image.Image) -> float:
    """The share of pixels that are not of the known colour, left of the numbers and right of the bars' words."""
    shown = Image.open(io.BytesIO(shot.image_bytes)).convert("RGB")
    if shot.scale != 1:
        known = known.resize((round(known.width * shot.scale), shown.height), Image.Resampling.BILINEAR)
    assert shown.height == known.height
    left = round(60 * shot.scale)
    box = (left, 0, known.width, known.height)
    apart = ImageChops.difference(shown.crop(box), known.crop(box))
    red, green, blue = apart.split()
    worst = ImageChops.lighter(ImageChops.lighter(red, green), blue).point(lambda value: 255 if value > 24 else 0)
    return worst.histogram()[255] / (worst.width * worst.height)


async def scroll_of(page: Page) -> Any:
    attachment = await page.attached()
    asked = {"expression": "JSON.stringify([scrollY, touched])"}
    reply = await attachment.call("Runtime.evaluate", asked, timeout_s=20)
    return json.loads(reply["result"]["value"])


async def scroll_to(page: Page, y: int) -> None:
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": f"scrollTo(0,{y})"}, timeout_s=20)


@pytest.mark.parametrize("strategy", ["scroll-and-stitch", "host-native"])
@pytest.mark.parametrize("scale", ["css", "device"])
async def test_a_whole_page_is_what_the_page_shows_with_fixed_sticky_and_lazy_parts_once(
    dense_page: tuple[Page, float], local_server: LocalServer, strategy: Any, scale: Any
) -> None:
    page, dpr = dense_page
    await page.goto(local_server.url(f"capture/rows.html?height=3000&{OVERLAYS}"))
    await scroll_to(page, 700)
    before = await scroll_of(page)
    shot = await page.screenshot(full_page=True, strategy=strategy, scale=scale)
    factor = 1 if scale == "css" else dpr
    assert (shot.width_px, shot.height_px) == (round(412 * factor), round(3000 * factor))
    assert (shot.strategy, shot.truncated, shot.notices) == (strategy, False, ())
    assert shot.scale == pytest.approx(factor, abs=0.01)
    assert differing(shot, expected(3000, 3000, OVERLAYS)) < 0.005
    after = await scroll_of(page)
    assert after[0] == pytest.approx(before[0], abs=0.5)
    # Nothing of the page was written to, but by the page itself when its lazy part came into view.
    assert set(after[1]) - set(before[1]) <= {"late"}


async def test_a_page_of_25_000_px_is_cut_at_10_000_and_says_so(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("capture/rows.html?height=25000&header&sticky"))
    heard: list[tuple[int, int]] = []
    shot = await page.screenshot(full_page=True, on_progress=lambda done, all_: heard.append((done, all_)))
    assert (shot.width_px, shot.height_px, shot.truncated) == (412, 10_000, True)
    assert shot.notices == ("height: 10000 of 25000 px are shown (max_height_px)",)
    assert differing(shot, expected(25_000, 10_000, "header&sticky")) < 0.005
    assert heard[-1] == (10_000, 10_000)
    assert len(heard) >= 10


async def test_the_height_limit_applies_to_the_image_and_not_to_the_device(
    dense_page: tuple[Page, float], local_server: LocalServer
) -> None:
    page, dpr = dense_page
    await page.goto(local_server.url("capture/rows.html?height=12000"))
    css = await page.screenshot(full_page=True)
    assert (css.width_px, css.height_px, css.truncated) == (412, 10_000, True)
    assert differing(css, expected(12_000, 10_000, "")) < 0.005
    device = await page.screenshot(full_page=True, scale="device", max_height_px=2_000)
    assert (device.width_px, device.height_px, device.truncated) == (round(412 * dpr), 2_000, True)
    assert differing(device, expected(12_000, round(2_000 / dpr), "")) < 0.01


async def test_the_webviews_repeated_view_is_not_taken_for_a_page(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("capture/rows.html?height=3000"))
    with pytest.raises(CaptureFailed, match="repeated the view"):
        await page.screenshot(full_page=True, strategy="cdp-beyond-viewport")
    shot = await page.screenshot(full_page=True)
    assert shot.strategy == "scroll-and-stitch"


async def test_the_next_strategy_is_tried_if_one_captures_the_wrong_image(
    page: Page, session: Session, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("capture/rows.html?height=3000"))
    assert session.capabilities is not None
    session._tabs.capabilities = replace(session.capabilities, full_page="cdp-beyond-viewport")
    shot = await page.screenshot(full_page=True)
    assert (shot.strategy, shot.height_px) == ("scroll-and-stitch", 3000)
    assert differing(shot, expected(3000, 3000, "")) < 0.005


async def test_when_the_asked_strategy_fails_the_others_are_left_alone(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("capture/rows.html?height=3000"))
    with pytest.raises(CaptureFailed, match=r"^capture_failed: cdp-beyond-viewport: "):
        await page.screenshot(full_page=True, strategy="cdp-beyond-viewport")


@pytest.mark.parametrize("density_dpi", DENSITIES_DPI, ids=["dpr 1", "dpr 2", "dpr 2.625"])
async def test_an_engine_that_draws_beyond_its_view_is_found_out_and_used(
    adb_port: int, local_server: LocalServer, tmp_path: Path, density_dpi: int
) -> None:
    dpr = density_dpi / 160
    engine = {"chromium": str(dense_chromium(tmp_path, dpr))}
    async with (
        own_device(quirks=False, engine=engine) as device,
        Session.open(device.serial, grants=[local_server.grant], **sized(density_dpi)) as session,
    ):
        page = await session.new_page(local_server.url(f"capture/rows.html?height=3000&{OVERLAYS}"))
        assert session.capabilities is not None
        assert session.capabilities.full_page == "cdp-beyond-viewport"
        scales: tuple[tuple[Any, float], ...] = (("css", 1.0), ("device", dpr))
        for scale, per_css in scales:
            shot = await page.screenshot(full_page=True, scale=scale)
            assert (shot.width_px, shot.height_px) == (round(412 * per_css), round(3000 * per_css))
            assert (shot.strategy, shot.truncated) == ("cdp-beyond-viewport", False)
            assert differing(shot, expected(3000, 3000, OVERLAYS)) < 0.005


async def test_a_pixel_ratio_that_a_capture_ends_is_there_again(adb_port: int, local_server: LocalServer) -> None:
    async with (
        own_device(quirks=False) as device,
        Session.open(device.serial, grants=[local_server.grant], **sized(320)) as session,
    ):
        probed = await session.new_page()
        ratio = {"expression": "devicePixelRatio+' '+screen.width"}
        for page in (probed, await session.new_page(local_server.url("capture/rows.html?height=3000"))):
            attachment = await page.attached()
            if page is not probed:
                shot = await page.screenshot(full_page=True, scale="device")
                assert (shot.strategy, shot.width_px, shot.height_px) == ("cdp-beyond-viewport", 824, 6000)
                assert differing(shot, expected(3000, 3000, "")) < 0.005
            told = await attachment.call("Runtime.evaluate", ratio, timeout_s=20)
            assert told["result"]["value"] == "2 412"


def dense_chromium(folder: Path, dpr: float) -> Path:
    """A Chromium whose own screen is so dense."""
    program = folder / "chromium"
    program.write_text(f'#!/bin/sh\nexec "{find_chromium(os.environ)}" --force-device-scale-factor={dpr} "$@"\n')
    program.chmod(0o700)
    return program


async def test_an_element_is_cropped_from_the_view_it_was_scrolled_into(
    dense_page: tuple[Page, float], local_server: LocalServer
) -> None:
    page, dpr = dense_page
    await page.goto(local_server.url("capture/rows.html?height=3000&box"))
    ref = (await page.snapshot()).find(name="Box").ref
    shot = await page.screenshot(ref=ref)
    assert (shot.width_px, shot.height_px) == (60, 44)
    shown = Image.open(io.BytesIO(shot.image_bytes)).convert("RGB")
    assert shown.getpixel((30, 22)) == (250, 0, 250)
    assert shown.getpixel((1, 1)) == (250, 0, 250)
    device = await page.screenshot(ref=ref, scale="device")
    assert (device.width_px, device.height_px) == pytest.approx((60 * dpr, 44 * dpr), abs=1)
    assert (await scroll_of(page))[0] == 0


async def test_an_element_taller_than_the_view_is_put_together(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("capture/rows.html?height=6000&tall&header&footer"))
    ref = (await page.snapshot()).find(name="Tall").ref
    shot = await page.screenshot(ref=ref)
    assert (shot.width_px, shot.height_px, shot.strategy) == (80, 3000, "scroll-and-stitch")
    shown = Image.open(io.BytesIO(shot.image_bytes)).convert("RGB")
    rows = [shown.getpixel((70, y)) for y in range(3000)]
    assert rows == [block_colour(2000 + y) for y in range(3000)]


async def test_an_element_of_a_frame_is_found_where_its_frame_is(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("frames.html"))
    shot = await page.snapshot()
    inner = [ref for ref, node in shot.refs.items() if node.name == "Inner button"]
    picture = await page.screenshot(ref=inner[0])
    whole = Image.open(io.BytesIO((await page.screenshot()).image_bytes)).convert("RGB")
    part = Image.open(io.BytesIO(picture.image_bytes)).convert("RGB")
    assert part.width > 20
    found = any(
        whole.crop((x, y, x + part.width, y + part.height)).tobytes() == part.tobytes()
        for x in range(whole.width - part.width)
        for y in range(min(400, whole.height - part.height))
        if whole.getpixel((x, y)) == part.getpixel((0, 0))
    )
    assert found


async def test_a_capture_of_10_000_px_holds_less_than_four_of_its_bitmaps(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("capture/rows.html?height=12000"))
    await page.screenshot(full_page=True, max_height_px=1_000)  # what is imported and allocated once
    base, peak = resident_bytes(), 0
    with sampling(resident_bytes) as samples:
        shot = await page.screenshot(full_page=True)
        peak = max(samples)
    assert peak - base < 4 * shot.width_px * shot.height_px * 4


async def test_annotation_works_on_whole_pages_and_every_format_is_what_it_says(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("capture/rows.html?height=1700&box"))
    shot = await page.screenshot(full_page=True, annotate=True, type="webp", quality=90)
    box = next(box for box in shot.legend if box.name == "Box")
    assert (box.x_px, box.y_px, box.width_px, box.height_px) == (20, 1500, 60, 44)
    assert Image.open(io.BytesIO(shot.image_bytes)).format == "WEBP"
    jpeg = await page.screenshot(full_page=True, type="jpeg", quality=50)
    assert Image.open(io.BytesIO(jpeg.image_bytes)).format == "JPEG"


async def test_a_capture_that_is_cut_short_leaves_the_page_as_it_was(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("capture/rows.html?height=25000&header&footer&sticky"))
    await scroll_to(page, 1234)
    started = asyncio.Event()
    task = asyncio.ensure_future(page.screenshot(full_page=True, on_progress=lambda *_: started.set()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await scroll_of(page))[0] == 1234
    shot = Image.open(io.BytesIO((await page.screenshot()).image_bytes)).convert("RGB")
    assert (shot.getpixel((200, 20)), shot.getpixel((200, 900))) == (STICKY, FOOTER)


async def test_invalid_screenshot_options_are_bad_usage(page: Page) -> None:
    for wrong in (
        {"full_page": True, "ref": "e1"},
        {"scale": "retina"},
        {"max_height_px": 0},
        {"max_height_px": 10_001},
        {"strategy": "magic"},
        {"format": "bmp"},
        {"quality": 5},
    ):
        with pytest.raises(UsageError):
            await page.screenshot(**wrong)  # type: ignore[arg-type]


async def test_elements_without_a_box_and_views_without_an_area_are_errors(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("capture/rows.html?height=3000&box"))
    ref = (await page.snapshot()).find(name="Box").ref
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": "box.style.display='none'"}, timeout_s=20)
    with pytest.raises((NotVisible, StaleRef)):
        await page.screenshot(ref=ref, timeout_s=2)
    names = "dpr zoom width height left top pageWidth pageHeight offsetLeft offsetTop fullWidth fullHeight".split()
    measured = {**dict.fromkeys(names, 1), "width": 0, "height": 915}
    with pytest.raises(CaptureFailed, match="0 x 915 CSS pixels"):
        Layout.of(measured)


def test_width_is_cut_where_memory_would_not_hold_it() -> None:
    plan = plan_for(Region(0, 0, 30_000, 20_000), 1.0, 10_000, is_page=True)
    assert (plan.width_px, plan.height_px) == (4_000, 10_000)
    assert len(plan.cuts) == 2


WATCHED = """(() => {
  const part = document.body.appendChild(document.createElement('i'));
  part.style.cssText = 'position:absolute;left:100px;top:2100px;width:100px;height:100px';
  new IntersectionObserver((seen) => {
    if (seen.some((one) => one.isIntersecting)) part.style.background = 'rgb(255,0,0)';
  }).observe(part);
})()"""


@pytest.mark.parametrize("strategy", ["scroll-and-stitch", "host-native"])
async def test_a_part_that_only_an_observer_fills_is_there_wherever_it_lies(
    page: Page, local_server: LocalServer, strategy: Any
) -> None:
    await page.goto(local_server.url("capture/rows.html?height=9000"))
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": WATCHED}, timeout_s=20)
    shot = await page.screenshot(full_page=True, strategy=strategy)
    known = expected(9000, 9000, "")
    known.paste(LATE, (100, 2100, 200, 2200))
    assert differing(shot, known) < 0.0005


# As most pages listen: what is asked for is done in the frame that the scrolling is heard of.
LISTENED = """(() => {
  const part = document.body.appendChild(document.createElement('i'));
  part.style.cssText = 'position:absolute;left:100px;top:4400px;width:100px;height:100px';
  const look = () => {
    const { top, bottom } = part.getBoundingClientRect();
    if (bottom > 0 && top < innerHeight && scrollY > 3000) part.style.background = 'rgb(255,0,0)';
  };
  addEventListener('scroll', () => requestAnimationFrame(look));
})()"""


async def test_a_part_that_is_filled_when_the_page_is_scrolled_to_it_is_there(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("capture/rows.html?height=9000"))
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": LISTENED}, timeout_s=20)
    shot = await page.screenshot(full_page=True, strategy="host-native")
    known = expected(9000, 9000, "")
    known.paste(LATE, (100, 4400, 200, 4500))
    assert differing(shot, known) < 0.0005


async def test_zooming_a_page_during_its_capture_is_reported(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("capture/rows.html?height=9000"))
    attachment = await page.attached()
    zoomed: list[asyncio.Task[Any]] = []

    def zoom(done_px: int, _: int) -> None:
        if not zoomed:
            zoomed.append(
                asyncio.ensure_future(
                    attachment.call("Emulation.setPageScaleFactor", {"pageScaleFactor": 2}, timeout_s=20)
                )
            )

    with pytest.raises(CaptureFailed, match=r"zoomed from 1\.00 to 2\.00 while it was captured"):
        await page.screenshot(full_page=True, strategy="scroll-and-stitch", on_progress=zoom)
    await asyncio.gather(*zoomed)

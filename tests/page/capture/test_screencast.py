"""Recordings of what a page draws."""

from __future__ import annotations

import asyncio
import io

import pytest
from PIL import Image

from bridge.errors import UsageError
from bridge.page.capture.screencast import RecordingRequest
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

MOVING = "setInterval(() => document.body.style.background = `hsl(${performance.now() / 5 % 360} 90% 50%)`, 30)"


@pytest.fixture
async def moving(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("second.html"))
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": MOVING}, timeout_s=20)
    return page


def frames_of(image_bytes: bytes) -> tuple[str, int]:
    with Image.open(io.BytesIO(image_bytes)) as image:
        return str(image.format), int(getattr(image, "n_frames", 1))


@pytest.mark.parametrize("format", ["webp", "gif"])
async def test_a_recording_is_an_animation_of_what_was_drawn(moving: Page, format: str) -> None:
    heard: list[int] = []
    film = await moving.record(1.0, format=format, on_frame=lambda done, _: heard.append(done))  # type: ignore[arg-type]
    kind, frames = frames_of(film.image_bytes)
    assert (kind, frames) == (format.upper(), film.frames)
    assert film.frames > 1
    assert 950 <= film.duration_ms <= 15_000
    assert film.width_px == 412
    assert heard[-1] >= film.frames


async def test_what_happens_in_a_block_is_recorded_while_the_page_is_used(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("shop.html"))
    shot = await page.snapshot()
    async with page.recording() as recorder:
        await page.click(shot.find(role="button", name="Add to cart", nth=1).ref)
        with pytest.raises(UsageError):
            _ = recorder.result
    assert recorder.result.frames >= 1
    assert not recorder.result.truncated


async def test_frames_bytes_and_time_are_bounded_and_the_bound_is_named(moving: Page) -> None:
    few = await moving.record(2.0, max_frames=2)
    assert few.frames == 2
    assert few.notices == ("the recording ended after 2 frames (max_frames)",)
    whole = await moving.record(1.0)
    small = await moving.record(1.0, max_bytes=max(4_000, len(whole.image_bytes) // 3))
    assert len(small.image_bytes) <= max(4_000, len(whole.image_bytes) // 3)
    assert any("frames are kept" in notice for notice in small.notices)
    async with moving.recording(max_duration_s=0.3) as recorder:
        async with asyncio.timeout(30):
            await recorder.full.wait()
    assert recorder.result.notices == ("the recording ended after 0.3 s (max_duration_s)",)


async def test_a_page_that_stands_still_is_one_frame_of_full_length(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    film = await page.record(0.6)
    assert film.frames >= 1
    assert film.duration_ms >= 550


def test_bounds_that_are_none_are_bad_usage() -> None:
    for name, value in (("max_frames", 0), ("max_bytes", 1), ("max_duration_s", float("inf")), ("format", "mp4")):
        with pytest.raises(UsageError, match=name):
            RecordingRequest(**{name: value})

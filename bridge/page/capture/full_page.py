"""Captures a region larger than the view as one image, by several strategies. Each result is checked.

WebView cannot capture beyond its view over CDP, so it is scrolled and stitched. Chrome can, and the host app can draw a
whole document itself. The capability probe decides which strategy comes first. An image of the wrong size is discarded,
and the next strategy is tried.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from bridge.deadline import Deadline
from bridge.errors import BridgeError, CaptureFailed
from bridge.page.capture.document_capture import Document
from bridge.page.capture.image import decoded, image_size
from bridge.page.capture.plan import CapturePlan, Layout
from bridge.page.capture.viewport import capture_viewport
from bridge.page.target.attachment import Attachment

if TYPE_CHECKING:
    from PIL.Image import Image as Bitmap

Strategy = Literal["cdp-beyond-viewport", "scroll-and-stitch", "host-native"]
STRATEGIES: tuple[Strategy, ...] = ("scroll-and-stitch", "host-native", "cdp-beyond-viewport")
Progress = Callable[[int, int], None]

# A scroll position is a whole number of device pixels, up to rounding errors.
_ALIGNED = 0.02
_SAME_ZOOM = 0.001


async def stitched(
    attachment: Attachment,
    document: Document,
    plan: CapturePlan,
    layout: Layout,
    deadline: Deadline,
    on_progress: Progress | None,
) -> Bitmap:
    """Scroll and stitch: decode one view at a time and paste it into the bitmap while the next one is captured.

    Raises:
        CaptureFailed: The page does not scroll as expected, or became shorter during the capture.
    """
    from PIL import Image

    out = Image.new("RGB", (plan.width_px, plan.height_px))
    pasting: asyncio.Task[None] | None = None
    try:
        row = 0
        while row < plan.height_px:
            column, next_row = 0, row
            while column < plan.width_px:
                seen, tile = await _tile(attachment, document, plan, column, row, layout, deadline)
                if pasting is not None:
                    await pasting
                right, bottom = _covered(plan, seen, tile)
                if right <= column or bottom <= row:
                    raise CaptureFailed(
                        f"the page stopped scrolling at row {row} of {plan.height_px}",
                        hint="It may have become shorter during the capture.",
                    )
                place = column, row, right, bottom
                pasting = asyncio.ensure_future(asyncio.to_thread(_paste, out, tile, plan, seen, place))
                column, next_row = right, bottom
            row = next_row
            if on_progress is not None:
                on_progress(row, plan.height_px)
        if pasting is not None:
            await pasting
    except BaseException:
        if pasting is not None:
            await asyncio.gather(pasting, return_exceptions=True)
        raise
    return out


async def _tile(
    attachment: Attachment,
    document: Document,
    plan: CapturePlan,
    column: int,
    row: int,
    layout: Layout,
    deadline: Deadline,
) -> tuple[Layout, bytes]:
    """Capture one view. The last one ends at the end of the image, so that elements fixed to the bottom are there."""
    region = plan.region
    left, top = region.left + column / plan.scale, region.top + row / plan.scale
    end = region.top + plan.height_px / plan.scale
    is_last = top + layout.height + _ALIGNED >= end
    if is_last:
        top = max(region.top, end - layout.height)
    first, last = plan.is_page and row == 0, plan.is_page and is_last
    seen = await document.tile(left, top, first=first, last=last, deadline=deadline)
    if abs(seen.device_px - layout.device_px) > _SAME_ZOOM * layout.device_px:
        raise CaptureFailed(
            f"the page was zoomed from {layout.zoom:.2f} to {seen.zoom:.2f} while it was captured"
            if seen.zoom != layout.zoom
            else f"the device pixel ratio went from {layout.dpr:g} to {seen.dpr:g} while the page was captured"
        )
    image = await capture_viewport(attachment, "png", None, deadline, is_fast=True)
    return seen, image


def _covered(plan: CapturePlan, seen: Layout, tile: bytes) -> tuple[int, int]:
    """The column and row of the image that this view reaches."""
    width_px, height_px = image_size(tile)
    region, per = plan.region, seen.device_px
    right = (seen.left - region.left + width_px / per) * plan.scale
    bottom = (seen.top - region.top + height_px / per) * plan.scale
    return _whole(right, plan.width_px), _whole(bottom, plan.height_px)


def _whole(reached: float, side_px: int) -> int:
    """Whole pixels. A gap of less than one at the end is rounding between CSS pixels and the size of the view."""
    return side_px if reached > side_px - 1 else math.floor(reached + _ALIGNED)


def _paste(out: Bitmap, tile: bytes, plan: CapturePlan, seen: Layout, place: tuple[int, int, int, int]) -> None:
    """Paste the part of a view that belongs to these columns and rows of the image."""
    from PIL import Image

    column, row, right, bottom = place
    bitmap = decoded(tile)
    region, per = plan.region, seen.device_px
    shrink = per / plan.scale
    x = (region.left - seen.left) * per + column * shrink
    y = (region.top - seen.top) * per + row * shrink
    if min(x, y) < -1:
        raise CaptureFailed(f"the page did not scroll to row {row}: the view starts {-y:.0f} px below it")
    left, top = max(0, round(x)), max(0, round(y))
    fits = left + right - column <= bitmap.width and top + bottom - row <= bitmap.height
    if abs(shrink - 1) < 1e-3 and fits:
        out.paste(bitmap.crop((left, top, left + right - column, top + bottom - row)), (column, row))
        return
    box = (
        min(max(0.0, x), bitmap.width - 1.0),
        min(max(0.0, y), bitmap.height - 1.0),
        min(float(bitmap.width), x + (right - column) * shrink),
        min(float(bitmap.height), y + (bottom - row) * shrink),
    )
    # The filter reads only neighbours inside the box; a wider box would blur the rows next to a seam.
    out.paste(bitmap.resize((right - column, bottom - row), Image.Resampling.LANCZOS, box=box), (column, row))


async def beyond_viewport(
    attachment: Attachment, plan: CapturePlan, layout: Layout, deadline: Deadline
) -> tuple[Bitmap, bytes | None]:
    """Capture beyond the viewport in one CDP call; the bitmap, and the engine's PNG if it is exactly that image.

    Raises:
        CaptureFailed: The image has another size, or repeats the view, as WebView does.
    """
    region = plan.region
    clip = {
        "x": region.left,
        "y": region.top,
        "width": plan.width_px / plan.scale,
        "height": plan.height_px / plan.scale,
        # In Chromium 156 this scale replaces the zoom of the page.
        "scale": plan.scale / layout.dpr,
    }
    image = await capture_viewport(attachment, "png", None, deadline, clip=clip, is_fast=True)
    size = image_size(image)
    if abs(size[0] - plan.width_px) > 1 or abs(size[1] - plan.height_px) > 1:
        raise CaptureFailed(
            f"the engine captured {size[0]} x {size[1]} px instead of {plan.width_px} x {plan.height_px}"
        )
    bitmap = await asyncio.to_thread(decoded, image)
    view_px = round(layout.height * plan.scale)
    if bitmap.height > view_px and _repeats(bitmap, view_px):
        raise CaptureFailed("the engine repeated the view instead of drawing the content beyond it")
    is_exact = size == (plan.width_px, plan.height_px)
    return (bitmap, image) if is_exact else (bitmap.crop((0, 0, plan.width_px, plan.height_px)), None)


def _repeats(bitmap: Bitmap, period_px: int) -> bool:
    """True if the rows below the first view repeat it."""
    below = min(bitmap.height, 2 * period_px)
    first = bitmap.crop((0, 0, bitmap.width, below - period_px))
    return first.tobytes() == bitmap.crop((0, period_px, bitmap.width, below)).tobytes()


async def host_drawn(
    draw: Callable[[int, float], Any], plan: CapturePlan, layout: Layout, deadline: Deadline
) -> tuple[Bitmap, bytes | None]:
    """Have the host app draw the document; the bitmap, and the host's PNG if it is exactly that image.

    Args:
        draw: Returns a PNG of the page from its top, given the maximum height in device pixels and the seconds left.

    Raises:
        CaptureFailed: The host app cannot draw it, or drew less.
    """
    region, shrink = plan.region, layout.device_px / plan.scale
    bottom_px = math.ceil((region.top * plan.scale + plan.height_px) * shrink)
    try:
        image = await draw(bottom_px, deadline.remaining_s)
    except CaptureFailed:
        raise
    except BridgeError as error:
        raise CaptureFailed(f"the host app could not draw the page: {error.message}") from error
    bitmap = await asyncio.to_thread(decoded, image)
    left, top = region.left * layout.device_px, region.top * layout.device_px
    right, bottom = left + plan.width_px * shrink, top + plan.height_px * shrink
    if bitmap.width + 1.5 < right or bitmap.height + 1.5 < bottom:
        raise CaptureFailed(
            f"the host app drew {bitmap.width} x {bitmap.height} px, not {round(right)} x {round(bottom)}"
        )
    if abs(shrink - 1) < 1e-6:
        at = round(left), round(top)
        if at == (0, 0) and bitmap.size == (plan.width_px, plan.height_px):
            return bitmap, image
        return bitmap.crop((*at, at[0] + plan.width_px, at[1] + plan.height_px)), None
    from PIL import Image

    box = (left, top, min(right, float(bitmap.width)), min(bottom, float(bitmap.height)))
    size = plan.width_px, plan.height_px
    return await asyncio.to_thread(bitmap.resize, size, Image.Resampling.LANCZOS, box), None

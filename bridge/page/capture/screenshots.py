"""Screenshots: chooses a strategy, crops, scales, annotates and encodes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from bridge.cdp.meter import measure
from bridge.deadline import Deadline
from bridge.errors import CaptureFailed, UsageError
from bridge.page.capture.annotate import draw_boxes
from bridge.page.capture.document_capture import Document, capturing
from bridge.page.capture.full_page import STRATEGIES, Progress, Strategy, beyond_viewport, host_drawn, stitched
from bridge.page.capture.image import ImageFormat, checked_format, decoded, encoded, image_size, resized
from bridge.page.capture.plan import CapturePlan, Layout, Region, plan_for
from bridge.page.capture.secret_masking import check_nothing_to_mask, masked_viewport
from bridge.page.capture.viewport import capture_viewport
from bridge.page.files.host_services import HostServices
from bridge.page.results import LabelledBox, Screenshot
from bridge.page.snapshots.boxes import labelled_boxes
from bridge.page.snapshots.element_handles import box_in_view, element_handle
from bridge.page.snapshots.refs import RefEntry, RefTable
from bridge.page.snapshots.take import SnapshotRequest, Snapshots
from bridge.page.target.attachment import Attachment
from bridge.snapshot.injected import script_call

if TYPE_CHECKING:
    from PIL.Image import Image as Bitmap

MAX_HEIGHT_PX = 10_000


@dataclass(frozen=True, slots=True)
class ScreenshotRequest:
    """The validated options of `page.screenshot`.

    Raises:
        UsageError: An option is out of range, or two exclude each other.
    """

    full_page: bool = False
    ref: str | None = None
    format: ImageFormat = "png"
    quality: int | None = None
    scale: Literal["css", "device"] = "css"
    annotate: bool = False
    max_height_px: int = MAX_HEIGHT_PX
    strategy: Strategy | Literal["auto"] = "auto"
    redact: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        checked_format(self.format, self.quality)
        if self.scale not in ("css", "device"):
            raise UsageError(f"scale={self.scale!r}", hint='Use "css" or "device".')
        if self.full_page and self.ref is not None:
            raise UsageError("full_page and ref exclude each other")
        if isinstance(self.max_height_px, bool) or not 1 <= self.max_height_px <= MAX_HEIGHT_PX:
            raise UsageError(f"max_height_px={self.max_height_px}", hint=f"Use 1 to {MAX_HEIGHT_PX}.")
        if self.strategy != "auto" and self.strategy not in get_args(Strategy):
            raise UsageError(f"strategy={self.strategy!r}", hint=f"Use auto, {', '.join(get_args(Strategy))}.")


@dataclass(frozen=True, slots=True)
class _WithBoxes:
    """A raw snapshot with boxes."""

    raw: Mapping[str, Any]

    def boxes(
        self, scale: float, width_px: int, height_px: int, offset: tuple[float, float] = (0.0, 0.0)
    ) -> tuple[LabelledBox, ...]:
        return labelled_boxes(self.raw, scale, width_px, height_px, offset)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """An image before encoding; `png` is the engine's own encoding of exactly this image, if there is one."""

    bitmap: Bitmap
    width_px: int
    height_px: int
    scale: float
    strategy: str
    legend: tuple[LabelledBox, ...] = ()
    cuts: tuple[str, ...] = ()
    png: bytes | None = None


class Screenshots:
    """Takes the screenshots of one attachment."""

    def __init__(
        self,
        attachment: Attachment,
        refs: RefTable,
        snapshots: Snapshots,
        host: HostServices | None,
        preferred: Strategy | None,
    ) -> None:
        self._attachment = attachment
        self._refs = refs
        self._snapshots = snapshots
        self._host = host
        self._preferred = preferred

    async def take(
        self, request: ScreenshotRequest, deadline: Deadline, *, on_progress: Progress | None = None
    ) -> Screenshot:
        """Take a screenshot.

        Raises:
            CaptureFailed: No strategy produced an image of the right size; describes what each one did.
            RefNotFound, StaleRef, NotVisible: The element is gone or not visible.
            DeadlineExceeded: The engine drew no frame in time.
        """
        with measure() as meter:
            if not request.full_page and request.ref is None:
                return await self._of_view(request, deadline)
            if request.redact is not None:
                await check_nothing_to_mask(self._attachment, request.redact, deadline)
            async with capturing(self._attachment) as document:
                if request.ref is not None:
                    drawn = await self._of_element(document, request, request.ref, deadline, on_progress)
                else:
                    layout = await document.measure(deadline)
                    whole = Region(0, 0, layout.page_width, layout.page_height)
                    drawn = await self._of_region(document, layout, whole, request, deadline, on_progress)
            image = await asyncio.to_thread(_finished, drawn, request)
        return Screenshot(
            image_bytes=image,
            format=request.format,
            width_px=drawn.width_px,
            height_px=drawn.height_px,
            scale=round(drawn.scale, 4),
            strategy=drawn.strategy,
            truncated=bool(drawn.cuts),
            cost=meter.cost(),
            legend=drawn.legend,
            notices=drawn.cuts,
        )

    async def _of_view(self, request: ScreenshotRequest, deadline: Deadline) -> Screenshot:
        """Capture the viewport: one round trip, and the engine's own bytes unless they have to be changed."""
        with measure() as meter:
            image_task = asyncio.ensure_future(self._view(request, deadline))
            layout_task = asyncio.ensure_future(self._evaluate(script_call("viewLayout"), deadline))
            boxes = asyncio.ensure_future(self._raw(request, deadline))
            try:
                image, measured, raw = await asyncio.gather(image_task, layout_task, boxes)
            finally:
                # If one fails, the others must not run into the next operation.
                for task in (image_task, layout_task, boxes):
                    task.cancel()
                await asyncio.gather(image_task, layout_task, boxes, return_exceptions=True)
        layout = Layout.of(measured)
        width_px, height_px = image_size(image)
        per = width_px / layout.width
        scale = layout.zoom if request.scale == "css" else per
        legend: tuple[LabelledBox, ...] = ()
        cuts: tuple[str, ...] = ()
        shrinks = scale < per * 0.99
        if shrinks:
            width_px, height_px = max(1, round(width_px * scale / per)), max(1, round(height_px * scale / per))
        else:
            scale = per
        if height_px > request.max_height_px:
            cuts = (f"height: {request.max_height_px} of {height_px} px are shown (max_height_px)",)
        if shrinks or cuts or request.annotate:
            bitmap = await asyncio.to_thread(decoded, image)
            bitmap = resized(bitmap, width_px, height_px) if shrinks else bitmap
            if cuts:
                height_px = request.max_height_px
                bitmap = bitmap.crop((0, 0, width_px, height_px))
            offset = (-layout.offset_left, -layout.offset_top)
            legend = raw.boxes(scale, width_px, height_px, offset) if request.annotate else ()
            image = await asyncio.to_thread(_finished, _Drawn(bitmap, width_px, height_px, scale, "", legend), request)
        return Screenshot(
            image_bytes=image,
            format=request.format,
            width_px=width_px,
            height_px=height_px,
            scale=round(scale, 4),
            strategy="cdp-viewport",
            truncated=bool(cuts),
            cost=meter.cost(),
            legend=legend,
            notices=cuts,
        )

    async def _view(self, request: ScreenshotRequest, deadline: Deadline) -> bytes:
        form, quality = request.format, request.quality
        if request.redact is not None:
            return await masked_viewport(self._attachment, request.redact, form, quality, deadline)
        return await capture_viewport(self._attachment, form, quality, deadline)

    async def _of_element(
        self,
        document: Document,
        request: ScreenshotRequest,
        ref: str,
        deadline: Deadline,
        on_progress: Progress | None,
    ) -> _Drawn:
        """Capture the border box of the element: cropped from the view if it fits, otherwise from several views."""
        await document.measure(deadline)
        async with element_handle(self._attachment, self._refs, self._snapshots, ref, deadline) as (entry, object_id):
            await self._scroll_to(entry, deadline)
            layout = await document.arrived(deadline)
            left, top, width, height = await box_in_view(self._attachment, self._snapshots, entry, object_id, deadline)
            right, bottom = left + width, top + height
            if left >= -0.5 and top >= -0.5 and right <= layout.width + 0.5 and bottom <= layout.height + 0.5:
                image = await capture_viewport(self._attachment, "png", None, deadline)
                raw = await self._raw(request, deadline)
                return _cropped(decoded(image), layout, (left, top, right, bottom), request, raw)
            region = Region(left + layout.left, top + layout.top, width, height)
            return await self._of_region(document, layout, _inside(region, layout), request, deadline, on_progress)

    async def _of_region(
        self,
        document: Document,
        layout: Layout,
        region: Region,
        request: ScreenshotRequest,
        deadline: Deadline,
        on_progress: Progress | None,
    ) -> _Drawn:
        failures: list[str] = []
        for strategy in self._strategies(request):
            if failures:  # the document was restored
                layout = await document.measure(deadline)
            layout = await document.zoomed_out(layout, deadline)
            limit = region.top + request.max_height_px / _scale_of(layout, request)
            layout = await document.prepare(region.left, region.top, limit, strategy == "scroll-and-stitch", deadline)
            if request.full_page:  # lazy content may have changed the size of the page
                region = Region(0, 0, layout.page_width, layout.page_height)
            plan = plan_for(region, _scale_of(layout, request), request.max_height_px, is_page=request.full_page)
            raw = await self._raw(request, deadline)
            try:
                bitmap, png = await self._draw(strategy, document, plan, layout, deadline, on_progress)
            except CaptureFailed as error:
                failures.append(f"{strategy}: {error.message}")
                await document.restore()
                continue
            legend = raw.boxes(
                plan.scale, plan.width_px, plan.height_px, (layout.left - region.left, layout.top - region.top)
            )
            size = plan.width_px, plan.height_px
            return _Drawn(bitmap, *size, plan.scale, strategy, legend if request.annotate else (), plan.cuts, png)
        raise CaptureFailed("; ".join(failures) or "no strategy is available")

    async def _draw(
        self,
        strategy: Strategy,
        document: Document,
        plan: CapturePlan,
        layout: Layout,
        deadline: Deadline,
        on_progress: Progress | None,
    ) -> tuple[Bitmap, bytes | None]:
        if strategy == "scroll-and-stitch":
            return await stitched(self._attachment, document, plan, layout, deadline, on_progress), None
        if strategy == "host-native":
            assert self._host is not None
            return await host_drawn(self._host.draw, plan, layout, deadline)
        try:
            return await beyond_viewport(self._attachment, plan, layout, deadline)
        except CaptureFailed:
            if not await document.restore_pixel_ratio(layout, deadline):
                raise
        return await beyond_viewport(self._attachment, plan, layout, deadline)

    def _strategies(self, request: ScreenshotRequest) -> tuple[Strategy, ...]:
        if request.strategy != "auto":
            if request.strategy == "host-native" and self._host is None:
                raise UsageError("host-native needs the host app, and this tab belongs to another app")
            return (request.strategy,)
        found = (self._preferred,) if self._preferred else ()
        others = tuple(strategy for strategy in STRATEGIES if strategy not in found)
        return tuple(strategy for strategy in (*found, *others) if strategy != "host-native" or self._host is not None)

    async def _scroll_to(self, entry: RefEntry, deadline: Deadline) -> None:
        options = {"timeoutMs": round(deadline.remaining_s * 500), "hit": False}
        call = script_call("prepare", entry.local, "scroll_into_view", options)
        ready = await self._attachment.evaluate(entry.frame_id, call, timeout_s=deadline.remaining_s)
        problem = ready.get("error") if isinstance(ready, Mapping) else None
        if isinstance(problem, Mapping):
            raise self._refs.failure(entry, problem, self._snapshots.is_live)

    async def _evaluate(self, expression: str, deadline: Deadline) -> Any:
        main = self._attachment.state.main
        return await self._attachment.evaluate(
            main.frame_id if main else "", expression, timeout_s=deadline.remaining_s
        )

    async def _raw(self, request: ScreenshotRequest, deadline: Deadline) -> _WithBoxes:
        """The snapshot with boxes for an annotated image; empty for others."""
        if not request.annotate:
            return _WithBoxes({})
        wanted = SnapshotRequest(boxes=True)
        raw = await self._snapshots.raw(wanted, deadline)
        self._snapshots.render(raw, wanted)
        return _WithBoxes(raw)


def _scale_of(layout: Layout, request: ScreenshotRequest) -> float:
    """Image pixels per CSS pixel: as the device draws, or one per density-independent pixel of the view."""
    return layout.zoom if request.scale == "css" else layout.device_px


def _inside(region: Region, layout: Layout) -> Region:
    """The part of a region that lies in the document; the rest cannot be scrolled to."""
    left, top = max(0.0, region.left), max(0.0, region.top)
    right = min(region.left + region.width, layout.page_width)
    bottom = min(region.top + region.height, layout.page_height)
    if right - left < 1 or bottom - top < 1:
        raise CaptureFailed("the element lies outside the document")
    return Region(left, top, right - left, bottom - top)


def _cropped(
    bitmap: Bitmap,
    layout: Layout,
    box: tuple[float, float, float, float],
    request: ScreenshotRequest,
    raw: _WithBoxes,
) -> _Drawn:
    per = bitmap.width / layout.width
    left, top, right, bottom = box
    cut = (
        max(0, round(left * per)),
        max(0, round(top * per)),
        min(bitmap.width, max(round(right * per), round(left * per) + 1)),
        min(bitmap.height, max(round(bottom * per), round(top * per) + 1)),
    )
    bitmap = bitmap.crop(cut)
    scale = _scale_of(layout, request)
    if scale < per * 0.99:
        bitmap = resized(bitmap, max(1, round(bitmap.width * scale / per)), max(1, round(bitmap.height * scale / per)))
    else:
        scale = per
    cuts: tuple[str, ...] = ()
    if bitmap.height > request.max_height_px:
        cuts = (f"height: {request.max_height_px} of {bitmap.height} px are shown (max_height_px)",)
        bitmap = bitmap.crop((0, 0, bitmap.width, request.max_height_px))
    offset = (-left - layout.offset_left, -top - layout.offset_top)
    legend = raw.boxes(scale, bitmap.width, bitmap.height, offset) if request.annotate else ()
    return _Drawn(bitmap, *bitmap.size, scale, "cdp-viewport", legend, cuts)


def _finished(drawn: _Drawn, request: ScreenshotRequest) -> bytes:
    if drawn.png is not None and request.format == "png" and not request.annotate:
        return drawn.png
    if request.annotate:
        draw_boxes(drawn.bitmap, drawn.legend, drawn.scale)
    return encoded(drawn.bitmap, request.format, request.quality)

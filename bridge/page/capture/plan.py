"""The arithmetic of a capture: the layout of the page, the region to draw, and the size of the image. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.errors import CaptureFailed

# The limit of the host app's bitmap. A wider region is cut on the right.
MAX_PIXELS = 40_000_000
# The script's names of the fields of a layout, in order.
_MEASURED = (
    "dpr", "zoom", "width", "height", "left", "top", "pageWidth", "pageHeight",
    "offsetLeft", "offsetTop", "fullWidth", "fullHeight",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """The document and its visual viewport, in CSS pixels.

    Attributes:
        zoom: Density-independent pixels per CSS pixel (below 1: overview).
        width, height: The size of the visual viewport.
        left, top: The corner of the visual viewport in the document.
        offset_left, offset_top: Its corner in the layout viewport, the origin of element boxes. Scrolling by script
            moves the layout viewport, never the visual viewport within it (CSSOM View §13).
        full_width, full_height: The size of the layout viewport; the visual viewport shows all of it unless pinched.
    """

    dpr: float
    zoom: float
    width: float
    height: float
    left: float
    top: float
    page_width: float
    page_height: float
    offset_left: float
    offset_top: float
    full_width: float
    full_height: float

    @classmethod
    def of(cls, measured: Any) -> Layout:
        """Parse what the script measured.

        Raises:
            CaptureFailed: The view has no area, or the reply is malformed.
        """
        values = [measured.get(name) if isinstance(measured, Mapping) else None for name in _MEASURED]
        numbers = [float(value) for value in values if isinstance(value, int | float) and math.isfinite(value)]
        if len(numbers) != len(_MEASURED):
            raise CaptureFailed("the page could not be measured")
        layout = cls(*numbers)
        if layout.width < 1 or layout.height < 1 or layout.dpr <= 0 or layout.zoom <= 0:
            raise CaptureFailed(
                f"the view is {layout.width:g} x {layout.height:g} CSS pixels, so there is nothing to capture",
                hint="Resize the tab.",
            )
        return layout

    @property
    def device_px(self) -> float:
        """Device pixels per CSS px."""
        return self.dpr * self.zoom

    @property
    def is_pinched(self) -> bool:
        """True if the view shows only a part of the layout viewport. A scroll bar shortens one side only."""
        return self.full_width - self.width > 1 and self.full_height - self.height > 1

    @property
    def whole_zoom(self) -> float:
        """The zoom at which the view would show all of the layout viewport."""
        return self.zoom * min(1.0, self.width / self.full_width)


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the document, in CSS pixels from its top left corner."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class CapturePlan:
    """Draw `region` at `scale` pixels per CSS pixel into an image of `width_px` x `height_px`.

    Attributes:
        is_page: The region is the whole page, so fixed elements belong to it; they would cover a single element.
        cuts: Notices about the limits that cut the image.
    """

    region: Region
    scale: float
    width_px: int
    height_px: int
    is_page: bool
    cuts: tuple[str, ...] = ()


def plan_for(region: Region, scale: float, max_height_px: int, *, is_page: bool) -> CapturePlan:
    """The plan for a region, cut at `max_height_px` and at the number of pixels that memory should hold."""
    whole_width, whole_height = max(1, round(region.width * scale)), max(1, round(region.height * scale))
    height_px = min(whole_height, max_height_px)
    width_px = min(whole_width, max(1, MAX_PIXELS // height_px))
    cuts = []
    if height_px < whole_height:
        cuts.append(f"height: {height_px} of {whole_height} px are shown (max_height_px)")
    if width_px < whole_width:
        cuts.append(f"width: {width_px} of {whole_width} px are shown ({MAX_PIXELS // 1_000_000} million pixels)")
    return CapturePlan(region, scale, width_px, height_px, is_page, tuple(cuts))

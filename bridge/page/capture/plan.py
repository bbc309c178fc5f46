"""How a part of a document becomes a picture of so many pixels, as values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.errors import CaptureFailed

# As a host app's bitmap: a region wider than this allows is cut on its right.
MAX_PIXELS = 40_000_000
# What the script calls the fields of a layout, in their order.
_MEASURED = (
    "dpr", "zoom", "width", "height", "left", "top", "pageWidth", "pageHeight",
    "offsetLeft", "offsetTop", "fullWidth", "fullHeight",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """The document and the view on it, in CSS px.

    Attributes:
        zoom: How large the view shows a CSS px (below 1: overview).
        left, top: Where the view begins in the document.
        offset_left, offset_top: Where it begins in the layout viewport, in which boxes of elements are told. Scrolling
            by script moves that one, and never the view within it (CSSOM View §13, the visual viewport).
        full_width, full_height: The layout viewport, which is all of it in view where nothing was zoomed in to.
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
        """What the script measured.

        Raises:
            CaptureFailed: The view has no area, or the script answered nonsense.
        """
        values = [measured.get(name) if isinstance(measured, Mapping) else None for name in _MEASURED]
        numbers = [float(value) for value in values if isinstance(value, int | float) and math.isfinite(value)]
        if len(numbers) != len(_MEASURED):
            raise CaptureFailed("the page could not be measured")
        layout = cls(*numbers)
        if layout.width < 1 or layout.height < 1 or layout.dpr <= 0 or layout.zoom <= 0:
            raise CaptureFailed(
                f"the view is {layout.width:g} x {layout.height:g} CSS px: there is nothing to capture",
                hint="Resize the tab.",
            )
        return layout

    @property
    def device_px(self) -> float:
        """Device pixels per CSS px."""
        return self.dpr * self.zoom

    @property
    def is_pinched(self) -> bool:
        """Whether the view shows a part of the layout viewport; a scroll bar takes from one of its sides only."""
        return self.full_width - self.width > 1 and self.full_height - self.height > 1

    @property
    def whole_zoom(self) -> float:
        """The zoom at which it would show all of it."""
        return self.zoom * min(1.0, self.width / self.full_width)


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the document, in CSS px from its top left corner."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class CapturePlan:
    """What is to be drawn: `region` at `scale` pixels per CSS px, as a picture of `width_px` x `height_px`.

    Attributes:
        is_page: The region is the page, to which what is fixed belongs; on a picture of an element it would be a veil.
    """

    region: Region
    scale: float
    width_px: int
    height_px: int
    is_page: bool
    cuts: tuple[str, ...] = ()


def plan_for(region: Region, scale: float, max_height_px: int, *, is_page: bool) -> CapturePlan:
    """The plan for a region, cut where the picture would be higher than allowed or larger than memory should hold."""
    whole_width, whole_height = max(1, round(region.width * scale)), max(1, round(region.height * scale))
    height_px = min(whole_height, max_height_px)
    width_px = min(whole_width, max(1, MAX_PIXELS // height_px))
    cuts = []
    if height_px < whole_height:
        cuts.append(f"height: {height_px} of {whole_height} px are shown (max_height_px)")
    if width_px < whole_width:
        cuts.append(f"width: {width_px} of {whole_width} px are shown ({MAX_PIXELS // 1_000_000} million pixels)")
    return CapturePlan(region, scale, width_px, height_px, is_page, tuple(cuts))

"""How a part of a document becomes a picture of so many pixels, as values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.errors import CaptureFailed

# As a host app's bitmap: a region wider than this allows is cut on its right.
MAX_PIXELS = 40_000_000


@dataclass(frozen=True, slots=True)
class Layout:
    """The document and the view on it, in CSS px; `zoom` is how much the view is pinched (below 1: overview)."""

    dpr: float
    zoom: float
    width: float
    height: float
    left: float
    top: float
    page_width: float
    page_height: float

    @classmethod
    def of(cls, measured: Any) -> Layout:
        """What the script measured.

        Raises:
            CaptureFailed: The view has no area, or the script answered nonsense.
        """
        names = ("dpr", "zoom", "width", "height", "left", "top", "pageWidth", "pageHeight")
        values = [measured.get(name) if isinstance(measured, Mapping) else None for name in names]
        numbers = [float(value) for value in values if isinstance(value, int | float) and math.isfinite(value)]
        if len(numbers) != len(names):
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


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the document, in CSS px from its top left corner."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Plan:
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


def plan_for(region: Region, scale: float, max_height_px: int, *, is_page: bool) -> Plan:
    """The plan for a region, cut where the picture would be higher than allowed or larger than memory should hold."""
    whole_width, whole_height = max(1, round(region.width * scale)), max(1, round(region.height * scale))
    height_px = min(whole_height, max_height_px)
    width_px = min(whole_width, max(1, MAX_PIXELS // height_px))
    cuts = []
    if height_px < whole_height:
        cuts.append(f"height: {height_px} of {whole_height} px are shown (max_height_px)")
    if width_px < whole_width:
        cuts.append(f"width: {width_px} of {whole_width} px are shown ({MAX_PIXELS // 1_000_000} million pixels)")
    return Plan(region, scale, width_px, height_px, is_page, tuple(cuts))

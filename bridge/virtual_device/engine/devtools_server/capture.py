"""Page.captureScreenshot as WebView implements it: always a redraw of the view.

SynchronousCopyContents supports no other origin than (0,0), SetSize is ignored on Android, and page_handler repeats the
bitmap up to the requested size (CreateTiledBitmap; Chromium, content/browser).
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.virtual_device.engine.emulation import ViewSize

_FORMATS = {"png": "PNG", "jpeg": "JPEG", "webp": "WEBP"}
_MAX_SIDE_PX = 16384


@dataclass(frozen=True)
class WebViewCapture:
    """The parameters for Chromium, which always captures the view, and how to reshape the image.

    Attributes:
        size_px: The size to which the image is cropped or repeated; None keeps it.
        scale: The factor by which the image is enlarged before.
    """

    params: dict[str, Any]
    size_px: tuple[int, int] | None = None
    scale: float = 1.0

    @property
    def image_format(self) -> str:
        return str(self.params.get("format", "png"))


def plan_capture(params: Mapping[str, Any], view: ViewSize, *, overridden: bool) -> WebViewCapture:
    """`overridden`: the client has set device metrics, which change the page but not the view's size."""
    passed = {name: value for name, value in params.items() if name not in ("clip", "captureBeyondViewport")}
    clip = params.get("clip")
    if not isinstance(clip, Mapping):
        return WebViewCapture(passed, (view.width_px, view.height_px) if overridden else None)
    width, height, scale = (_number(clip.get(name)) for name in ("width", "height", "scale"))
    if width <= 0 or height <= 0 or scale <= 0:
        return WebViewCapture(dict(params))  # invalid: Chromium reports the error
    factor = scale * view.scale
    # The product may overflow, or round to 0.
    size = (_side_px(width * factor), _side_px(height * factor))
    if size == (view.width_px, view.height_px) and scale == 1 and not overridden:
        return WebViewCapture(passed)
    return WebViewCapture(passed, size, scale)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else 0.0


def reshaped(encoded: str, plan: WebViewCapture) -> str:
    """The base64 image, enlarged, then cropped or repeated to the planned size."""
    from PIL import Image  # slow to import and rarely needed

    assert plan.size_px is not None
    with Image.open(io.BytesIO(base64.b64decode(encoded))) as image:
        tile = image.convert("RGB") if plan.image_format == "jpeg" else image.copy()
    if plan.scale != 1:
        tile = tile.resize((max(1, round(tile.width * plan.scale)), max(1, round(tile.height * plan.scale))))
    out = Image.new(tile.mode, plan.size_px)
    for top in range(0, out.height, tile.height):
        for left in range(0, out.width, tile.width):
            out.paste(tile, (left, top))
    written = io.BytesIO()
    out.save(written, _FORMATS.get(plan.image_format, "PNG"))
    return base64.b64encode(written.getvalue()).decode()


def _side_px(length: float) -> int:
    return max(1, math.ceil(min(float(_MAX_SIDE_PX), length)))

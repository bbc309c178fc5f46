"""Makes screenshots small enough for models: clients refuse large messages, and APIs refuse tall images."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.model_tools.tool_result import Image
from bridge.page.capture.image import decoded, encoded, image_size, resized

#: In Base64 this is 1,000,000 characters.
MAX_BYTES = 750_000
MAX_SIDE_PX = 8_000
_JPEG_QUALITY = 80
_SHRINK = 0.8


@dataclass(frozen=True, slots=True)
class Picture:
    """A screenshot for a model.

    Attributes:
        factor: Its pixels per pixel of the screenshot that was taken.
        notes: What was cut, scaled or encoded again, one phrase each.
    """

    image: Image
    width_px: int
    height_px: int
    factor: float
    notes: tuple[str, ...]


def picture_for_model(image_bytes: bytes, image_format: str) -> Picture:
    """The screenshot within the limits: cut at MAX_SIDE_PX, then as JPEG, then scaled down.

    Raises:
        CaptureFailed: Not a valid image.
    """
    width, height = image_size(image_bytes)
    if max(width, height) <= MAX_SIDE_PX and len(image_bytes) <= MAX_BYTES:
        return Picture(Image(image_bytes, f"image/{image_format}"), width, height, 1.0, ())
    notes: list[str] = []
    bitmap = decoded(image_bytes)
    if max(width, height) > MAX_SIDE_PX:
        notes.append(f"cut from {width}×{height} px")
        bitmap = bitmap.crop((0, 0, min(width, MAX_SIDE_PX), min(height, MAX_SIDE_PX)))
    full = bitmap
    kind, factor = "png", 1.0
    found = encoded(bitmap, "png", None)
    while len(found) > MAX_BYTES:
        if kind == "jpeg":
            factor *= _SHRINK
            bitmap = resized(full, max(1, round(full.width * factor)), max(1, round(full.height * factor)))
        kind = "jpeg"
        found = encoded(bitmap, "jpeg", _JPEG_QUALITY)
    if kind == "jpeg":
        notes.append(f"JPEG, scaled to {factor:.0%}" if factor < 1 else "JPEG")
    return Picture(Image(found, f"image/{kind}"), bitmap.width, bitmap.height, factor, tuple(notes))

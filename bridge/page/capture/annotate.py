"""Draws numbered boxes on an image, never into the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bridge.page.results import LabelledBox

if TYPE_CHECKING:
    from PIL import ImageDraw, ImageFont
    from PIL.Image import Image as Bitmap

# Distinguishable with most colour vision deficiencies, and dark enough for white numbers.
_COLOURS = ("#0b5fad", "#b3261e", "#0b6e4f", "#8a4b00", "#6a1b9a", "#37474f")
_LABEL_PX = 13


def draw_boxes(image: Bitmap, boxes: Sequence[LabelledBox], scale: float) -> None:
    """Draw a box and a number for each ref. A number moves aside for another one."""
    from PIL import ImageDraw, ImageFont

    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=round(_LABEL_PX * max(1.0, scale)))
    line_px = max(1, round(1.5 * scale))
    taken: list[tuple[float, float, float, float]] = []
    placed = []
    for index, box in enumerate(boxes):
        colour = _COLOURS[index % len(_COLOURS)]
        left, top = max(0.0, box.x_px), max(0.0, box.y_px)
        right = min(image.width - 1.0, box.x_px + box.width_px)
        bottom = min(image.height - 1.0, box.y_px + box.height_px)
        if right - left < 1 or bottom - top < 1:
            continue
        draw.rectangle((left, top, right, bottom), outline=colour, width=line_px)
        placed.append((box.ref, colour, left, top, right, bottom))
    for ref, colour, left, top, right, bottom in placed:
        _label(draw, font, ref, colour, (left, top, right, bottom), (image.width, image.height), taken)


def _label(
    draw: ImageDraw.ImageDraw,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    text: str,
    colour: str,
    box: tuple[float, float, float, float],
    size: tuple[int, int],
    taken: list[tuple[float, float, float, float]],
) -> None:
    x0, y0, x1, y1 = draw.textbbox((0, 0), text, font=font)
    width, height = x1 - x0 + 4, y1 - y0 + 4
    left, top, right, bottom = box
    corners = (
        (left, top - height),
        (right - width, top - height),
        (left, top),
        (right - width, top),
        (left, bottom),
        (right - width, bottom),
    )
    fitting = [(min(max(0.0, x), size[0] - width), min(max(0.0, y), size[1] - height)) for x, y in corners]
    x, y = next(
        (corner for corner in fitting if not any(_overlap(corner, width, height, t) for t in taken)), fitting[0]
    )
    taken.append((x, y, x + width, y + height))
    draw.rectangle((x, y, x + width, y + height), fill=colour)
    draw.text((x + 2 - x0, y + 2 - y0), text, fill="white", font=font)


def _overlap(
    corner: tuple[float, float], width: float, height: float, other: tuple[float, float, float, float]
) -> bool:
    x, y = corner
    return x < other[2] and other[0] < x + width and y < other[3] and other[1] < y + height

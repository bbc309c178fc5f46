"""Compares two images: how much of them differs, and where. Pure."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bridge.errors import CaptureFailed, UsageError
from bridge.json_record import JsonRecord
from bridge.page.capture.image import decoded, image_size
from bridge.page.results import Screenshot

if TYPE_CHECKING:
    from PIL.Image import Image as Bitmap

# Differences closer to each other than this share a box.
_CELL_PX = 8
_MAX_BOXES = 100


@dataclass(frozen=True, slots=True)
class Difference(JsonRecord):
    """The difference between two images.

    Attributes:
        ratio: Differing pixels divided by all pixels of the larger area. A pixel that only one image has differs.
        boxes: Left, top, width and height of each differing area, in pixels, from top to bottom.
        more_boxes: How many further areas there are.
        image_bytes: A PNG of the second image, faded, with the differing pixels in red.
    """

    ratio: float
    differing_px: int
    width_px: int
    height_px: int
    boxes: tuple[tuple[int, int, int, int], ...]
    more_boxes: int
    image_bytes: bytes = field(repr=False)


def diff(a: bytes | Screenshot, b: bytes | Screenshot, threshold: float = 0.1) -> Difference:
    """Compare two images of any format.

    Args:
        threshold: From 0 to 1, how much a channel of two pixels must differ for the pixels to count as different.

    Raises:
        UsageError: The threshold is out of range, or an image is not valid.
    """
    if not 0 <= threshold < 1:
        raise UsageError(f"threshold={threshold:g}", hint="Use 0 to below 1.")
    first, second = _bitmap(a), _bitmap(b)
    mask = _mask(first, second, round(threshold * 255))
    differing_px = mask.histogram()[255]
    boxes = _boxes(mask)
    return Difference(
        ratio=differing_px / (mask.width * mask.height),
        differing_px=differing_px,
        width_px=mask.width,
        height_px=mask.height,
        boxes=tuple(boxes[:_MAX_BOXES]),
        more_boxes=max(0, len(boxes) - _MAX_BOXES),
        image_bytes=_highlighted(second, mask),
    )


def _bitmap(image: bytes | Screenshot) -> Bitmap:
    image_bytes = image.image_bytes if isinstance(image, Screenshot) else image
    try:
        image_size(image_bytes)
        return decoded(image_bytes)
    except CaptureFailed as error:
        raise UsageError("not a valid image") from error


def _mask(first: Bitmap, second: Bitmap, tolerance: int) -> Bitmap:
    """255 where the images differ by more than `tolerance` in a channel."""
    from PIL import Image, ImageChops

    width, height = max(first.width, second.width), max(first.height, second.height)
    both = (0, 0, min(first.width, second.width), min(first.height, second.height))
    red, green, blue = ImageChops.difference(first.crop(both), second.crop(both)).split()
    worst = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    mask = Image.new("L", (width, height), 255)
    mask.paste(worst.point([255 if value > tolerance else 0 for value in range(256)]), both)
    return mask


def _boxes(mask: Bitmap) -> list[tuple[int, int, int, int]]:
    """One box for each group of adjacent cells with differing pixels."""
    columns, rows = -(-mask.width // _CELL_PX), -(-mask.height // _CELL_PX)
    # One pixel of 64 makes a mean of 4, so none is rounded away.
    cells = mask.reduce(_CELL_PX).tobytes()
    waiting = {index for index, value in enumerate(cells) if value}
    found = []
    for start in sorted(waiting):
        if start not in waiting:
            continue
        waiting.discard(start)
        pending, members = [start], []
        while pending:
            cell = pending.pop()
            members.append(cell)
            row, column = divmod(cell, columns)
            for y in range(max(0, row - 1), min(rows, row + 2)):
                for x in range(max(0, column - 1), min(columns, column + 2)):
                    if (near := y * columns + x) in waiting:
                        waiting.discard(near)
                        pending.append(near)
        found.append(_tight(mask, [divmod(cell, columns) for cell in members]))
    return sorted(found, key=lambda box: (box[1], box[0]))


def _tight(mask: Bitmap, cells: list[tuple[int, int]]) -> tuple[int, int, int, int]:
    left, top = min(column for _, column in cells) * _CELL_PX, min(row for row, _ in cells) * _CELL_PX
    right = min(mask.width, (max(column for _, column in cells) + 1) * _CELL_PX)
    bottom = min(mask.height, (max(row for row, _ in cells) + 1) * _CELL_PX)
    inner = mask.crop((left, top, right, bottom)).getbbox() or (0, 0, right - left, bottom - top)
    return left + inner[0], top + inner[1], inner[2] - inner[0], inner[3] - inner[1]


def _highlighted(image: Bitmap, mask: Bitmap) -> bytes:
    from PIL import Image

    canvas = Image.new("RGB", mask.size, "white")
    canvas.paste(Image.blend(image, Image.new("RGB", image.size, "white"), 0.75))
    canvas.paste((220, 0, 0), (0, 0, *mask.size), mask)
    out = io.BytesIO()
    canvas.save(out, "PNG", compress_level=3)
    return out.getvalue()

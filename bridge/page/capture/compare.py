"""Two pictures side by side: how much of them differs, and where. Pure."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bridge.errors import CaptureFailed, UsageError
from bridge.page.capture.image import decoded, picture_size
from bridge.page.results import Screenshot

if TYPE_CHECKING:
    from PIL.Image import Image as Bitmap

# Differences nearer to each other than this are shown in one box.
_CELL_PX = 8
_MAX_BOXES = 100


@dataclass(frozen=True, slots=True)
class Difference:
    """What sets two pictures apart.

    Attributes:
        ratio: Pixels that differ, of all pixels of the larger area; what only one picture covers differs.
        boxes: Left, top, width and height of each place that differs, in pixels, from top to bottom.
        more_boxes: How many places were too many to list.
        image_bytes: A PNG of the second picture, faded, with the differing pixels in red.
    """

    ratio: float
    differing_px: int
    width_px: int
    height_px: int
    boxes: tuple[tuple[int, int, int, int], ...]
    more_boxes: int
    image_bytes: bytes = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """Everything but the bytes."""
        return {
            "ratio": self.ratio,
            "differing_px": self.differing_px,
            "width_px": self.width_px,
            "height_px": self.height_px,
            "boxes": [list(box) for box in self.boxes],
            "more_boxes": self.more_boxes,
        }


def diff(a: bytes | Screenshot, b: bytes | Screenshot, threshold: float = 0.1) -> Difference:
    """The difference between two pictures of any format.

    Args:
        threshold: 0 to 1: how far apart a channel of two pixels must be for the pixels to differ.

    Raises:
        UsageError: A threshold that is none, or bytes that are no picture.
    """
    if not 0 <= threshold < 1:
        raise UsageError(f"threshold={threshold:g}", hint="0 to below 1.")
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
        image_bytes=_shown(second, mask),
    )


def _bitmap(picture: bytes | Screenshot) -> Bitmap:
    image_bytes = picture.image_bytes if isinstance(picture, Screenshot) else picture
    try:
        picture_size(image_bytes)
        return decoded(image_bytes)
    except CaptureFailed as error:
        raise UsageError("what was to be compared is no picture") from error


def _mask(first: Bitmap, second: Bitmap, apart: int) -> Bitmap:
    """255 where the pictures differ by more than `apart` in a channel."""
    from PIL import Image, ImageChops

    width, height = max(first.width, second.width), max(first.height, second.height)
    both = (0, 0, min(first.width, second.width), min(first.height, second.height))
    red, green, blue = ImageChops.difference(first.crop(both), second.crop(both)).split()
    worst = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    mask = Image.new("L", (width, height), 255)
    mask.paste(worst.point([255 if value > apart else 0 for value in range(256)]), both)
    return mask


def _boxes(mask: Bitmap) -> list[tuple[int, int, int, int]]:
    """One box for each group of cells that touch and hold a differing pixel."""
    columns, rows = -(-mask.width // _CELL_PX), -(-mask.height // _CELL_PX)
    # One pixel of 64 makes a mean of 4; nothing is rounded away.
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


def _shown(picture: Bitmap, mask: Bitmap) -> bytes:
    from PIL import Image

    canvas = Image.new("RGB", mask.size, "white")
    canvas.paste(Image.blend(picture, Image.new("RGB", picture.size, "white"), 0.75))
    canvas.paste((220, 0, 0), (0, 0, *mask.size), mask)
    out = io.BytesIO()
    canvas.save(out, "PNG", compress_level=3)
    return out.getvalue()

"""Paints over secrets in an image of the view.

The script reports what the page draws with its boxes, before and after the capture, so that a moving text is covered at
both places: texts, generated content, alternatives of images, labels of options, and values and placeholders of fields.
A secret in a child frame or at a place that is not known, or a page with too much text to check, fails the capture: no
image is returned.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import CaptureFailed
from bridge.page.capture.image import ImageFormat, decoded, encoded
from bridge.page.capture.viewport import capture_viewport
from bridge.page.target.attachment import Attachment
from bridge.snapshot.injected import script_call
from bridge.snapshot.split_text import REACH_CHARS, TooManySpans, redacted_texts

Redact = Callable[[str], str]

_MAX_CHARS = 400_000
_FILL = (128, 128, 128)
# CSS pixels of the visual viewport: glyphs overhang the box of their line, and the page may still be moving.
_MARGIN_PX, _OVERHANG, _MAX_OVERHANG_PX = 2.0, 0.12, 16.0


@dataclass(frozen=True, slots=True)
class Box:
    """A part of the viewport, in fractions of the viewport's width."""

    left: float
    top: float
    width: float
    height: float


async def masked_viewport(
    attachment: Attachment,
    redact: Redact,
    image_format: ImageFormat,
    quality: int | None,
    deadline: Deadline,
) -> bytes:
    """Capture the viewport with the texts painted over that `redact` changes.

    Raises:
        CaptureFailed: The places of the texts are unknown, or the capture failed.
    """
    before = await _boxes(attachment, redact, deadline)
    # Lossless: a lossy image has traces of the glyphs around the box that covers them.
    image = await capture_viewport(attachment, "png", None, deadline, is_fast=True)
    boxes = [*before, *await _boxes(attachment, redact, deadline)]
    return await asyncio.to_thread(painted_over, image, boxes, image_format, quality)


async def check_nothing_to_mask(attachment: Attachment, redact: Redact, deadline: Deadline) -> None:
    """Refuse an image of more than the view, which is stitched while the page moves, if the page shows a secret.

    Raises:
        CaptureFailed: The page shows a text that `redact` changes.
    """
    if await _boxes(attachment, redact, deadline, everywhere=True):
        raise CaptureFailed(
            "the page shows a secret, which can be painted over only in a screenshot of the view",
            hint="Take a screenshot of the view, without full_page and ref.",
        )


def painted_over(image: bytes, boxes: Iterable[Box], image_format: ImageFormat, quality: int | None) -> bytes:
    """The image with these boxes filled."""
    from PIL import ImageDraw

    bitmap = decoded(image).convert("RGB")
    drawing = ImageDraw.Draw(bitmap)
    for box in boxes:
        left, top = box.left * bitmap.width, box.top * bitmap.width
        right, bottom = left + box.width * bitmap.width, top + box.height * bitmap.width
        drawing.rectangle((left, top, right, bottom), fill=_FILL)
    return encoded(bitmap, image_format, quality)


async def _boxes(attachment: Attachment, redact: Redact, deadline: Deadline, *, everywhere: bool = False) -> list[Box]:
    found: list[Box] = []
    main = attachment.state.main_frame_id
    asked = script_call("visibleTexts", _MAX_CHARS, REACH_CHARS, everywhere)
    for frame in attachment.state.ordered_frames():
        answer = await attachment.evaluate(frame.frame_id, asked, timeout_s=deadline.remaining_s)
        if not isinstance(answer, list) or len(answer) != 3:
            raise CaptureFailed("the page has too much text to check for secrets")
        width_px, *rows = answer
        try:
            places = [(row, place) for row in rows for place in redacted_texts([str(text) for text, _ in row], redact)]
        except TooManySpans as error:
            raise CaptureFailed("too many secrets of the page span several elements") from error
        hidden = [boxes for row, place in places if (boxes := row[place][1]) != []]
        if hidden and frame.frame_id != main:
            raise CaptureFailed("a child frame shows a secret, which cannot be painted over")
        if None in hidden:
            raise CaptureFailed("the page shows a secret at an unknown position: a style draws it outside its box")
        found += [_box(rect, float(width_px)) for rects in hidden for rect in rects]
    return found


def _box(rect: Any, width_px: float) -> Box:
    left, top, width, height = (float(side) for side in rect)
    margin = _MARGIN_PX + min(_OVERHANG * height, _MAX_OVERHANG_PX)
    return Box(
        (left - margin) / width_px,
        (top - margin) / width_px,
        (width + 2 * margin) / width_px,
        (height + 2 * margin) / width_px,
    )

"""Paints over secrets in an image of the view.

The script reports the texts of the page and the values of its fields with their boxes, before and after the capture,
so that a moving text is covered at both places. A secret in a child frame, or a page with too much text to check, fails
the capture: no image is returned.

A secret may start in one text and end in another: `hunter<b>2</b>` is two texts, and a code may have an element for
each letter. Only a function from text to redacted text is given, so each gap between two texts is tried: a secret that
spans the gap is no longer found when a character is inserted there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import CaptureFailed
from bridge.page.capture.image import ImageFormat, decoded, encoded
from bridge.page.capture.viewport import capture_viewport
from bridge.page.target.attachment import Attachment

Redact = Callable[[str], str]

_MAX_CHARS = 400_000
# The longest secret that is found.
REACH_CHARS = 4_096
_MAX_SPANNED = 256
_BAR = "\0"
_FILL = (128, 128, 128)
# CSS pixels of the visual viewport: glyphs overhang the box of their line, and the page may still be moving.
_MARGIN_PX = 2.0


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
    asked = f"__agentBrowser.visibleTexts({_MAX_CHARS},{REACH_CHARS},{json.dumps(everywhere)})"
    for frame in attachment.state.ordered_frames():
        answer = await attachment.evaluate(frame.frame_id, asked, timeout_s=deadline.remaining_s)
        if not isinstance(answer, list) or len(answer) != 3:
            raise CaptureFailed("the page has too much text to check for secrets")
        width_px, *rows = answer
        places = [(row, place) for row in rows for place in hidden_texts([str(text) for text, _ in row], redact)]
        hidden = [boxes for row, place in places if (boxes := row[place][1])]
        if hidden and frame.frame_id != main:
            raise CaptureFailed("a child frame shows a secret, which cannot be painted over")
        found += [_box(rect, float(width_px)) for rects in hidden for rect in rects]
    return found


def _box(rect: Any, width_px: float) -> Box:
    left, top, width, height = (float(side) for side in rect)
    return Box(
        (left - _MARGIN_PX) / width_px,
        (top - _MARGIN_PX) / width_px,
        (width + 2 * _MARGIN_PX) / width_px,
        (height + 2 * _MARGIN_PX) / width_px,
    )


def hidden_texts(texts: Sequence[str], redact: Callable[[str], str]) -> set[int]:
    """The positions of the texts that `redact` changes, alone or together with adjacent ones.

    Raises:
        CaptureFailed: Too many secrets span several texts.
    """
    texts = [text.replace(_BAR, "") for text in texts]
    found = {place for place, text in enumerate(texts) if redact(text) != text}
    for number, gap in enumerate(_spanned_gaps(texts, redact, 0, len(texts) - 1)):
        if number == _MAX_SPANNED:
            raise CaptureFailed("too many secrets of the page span several elements")
        found |= {gap, gap + 1}
    return found


def _spanned_gaps(texts: Sequence[str], redact: Callable[[str], str], first: int, end: int) -> Iterator[int]:
    """The gaps from `first` up to `end` that a secret spans; gap n follows text n."""
    if first >= end:
        return
    before, after = "".join(_near(texts[first::-1])[::-1])[-REACH_CHARS:], "".join(_near(texts[end:]))[:REACH_CHARS]
    within = texts[first + 1 : end]
    whole = redact("".join([before, *within, after]))
    if redact(_BAR.join([before, *within, after])).replace(_BAR, "") == whole:
        return
    if end - first == 1:
        yield first
        return
    middle = (first + end) // 2
    yield from _spanned_gaps(texts, redact, first, middle)
    yield from _spanned_gaps(texts, redact, middle, end)


def _near(texts: Sequence[str]) -> list[str]:
    """The texts near the gap that a secret can reach into."""
    room, kept = REACH_CHARS, []
    for text in texts:
        kept.append(text)
        room -= len(text)
        if room <= 0:
            break
    return kept

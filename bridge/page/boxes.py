"""Boxes of refs in the top frame's viewport, from a stitched raw snapshot that was taken with boxes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.page.results import LabelledBox


def labelled_boxes(
    raw: Mapping[str, Any], scale: float, width_px: int, height_px: int, offset: tuple[float, float] = (0.0, 0.0)
) -> tuple[LabelledBox, ...]:
    """The boxes that lie in a picture of `width_px` x `height_px`, in the order of their refs.

    `offset` is where the viewport's corner lies in the picture, in CSS px.

    A child frame's boxes are in its own viewport; they are moved by where its iframe's content begins.
    """
    found: list[LabelledBox] = []
    pending: list[tuple[Any, float, float]] = [(raw.get("tree"), *offset)]
    while pending:
        node, left, top = pending.pop()
        if not isinstance(node, Mapping):
            continue
        box = _box(node)
        ref = node.get("ref")
        if box and isinstance(ref, str):
            shown = LabelledBox(
                ref=ref,
                role=str(node.get("role", "")),
                name=str(node.get("name") or node.get("text") or ""),
                x_px=round((box[0] + left) * scale, 1),
                y_px=round((box[1] + top) * scale, 1),
                width_px=round(box[2] * scale, 1),
                height_px=round(box[3] * scale, 1),
            )
            inside = shown.x_px < width_px and shown.y_px < height_px
            if inside and shown.x_px + shown.width_px > 0 and shown.y_px + shown.height_px > 0:
                found.append(shown)
        if box and "frame" in node:
            inset = node.get("inset")
            inset_x, inset_y = inset if isinstance(inset, list) and len(inset) == 2 else (0, 0)
            left, top = left + box[0] + inset_x, top + box[1] + inset_y
        below = node.get("children")
        if isinstance(below, list):
            pending.extend((child, left, top) for child in below)
    return tuple(sorted(found, key=lambda box: int(box.ref[1:])))


def _box(node: Mapping[str, Any]) -> tuple[float, float, float, float] | None:
    box = node.get("box")
    if not isinstance(box, list) or len(box) != 4 or not all(isinstance(side, int | float) for side in box):
        return None
    x, y, width, height = box
    return (float(x), float(y), float(width), float(height)) if width > 0 and height > 0 else None

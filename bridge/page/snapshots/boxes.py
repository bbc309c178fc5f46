"""The boxes of a stitched raw snapshot: in the top frame's viewport, and of its refs in an image. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.page.results import LabelledBox
from bridge.page.target.frame_geometry import FramePath, Matrix

_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def labelled_boxes(
    raw: Mapping[str, Any],
    scale: float,
    width_px: int,
    height_px: int,
    offset: tuple[float, float] = (0.0, 0.0),
) -> tuple[LabelledBox, ...]:
    """The boxes that lie in an image of `width_px` x `height_px`, in the order of their refs.

    Args:
        scale: Image pixels per CSS pixel.
        offset: Where the corner of the viewport lies in the image, in CSS pixels.
    """
    found: list[LabelledBox] = []
    pending: list[Any] = [raw.get("tree")]
    while pending:
        node = pending.pop()
        if not isinstance(node, Mapping):
            continue
        box = _box(node)
        ref = node.get("ref")
        if box and isinstance(ref, str):
            x, y, width, height = box[0] + offset[0], box[1] + offset[1], box[2], box[3]
            labelled = LabelledBox(
                ref=ref,
                role=str(node.get("role", "")),
                name=str(node.get("name") or node.get("text") or ""),
                x_px=round(x * scale, 1),
                y_px=round(y * scale, 1),
                width_px=round(width * scale, 1),
                height_px=round(height * scale, 1),
            )
            inside = labelled.x_px < width_px and labelled.y_px < height_px
            if inside and labelled.x_px + labelled.width_px > 0 and labelled.y_px + labelled.height_px > 0:
                found.append(labelled)
        below = node.get("children")
        if isinstance(below, list):
            pending.extend(below)
    return tuple(sorted(found, key=lambda box: int(box.ref[1:])))


def place_boxes(raw: Mapping[str, Any], shown: Mapping[FramePath, Matrix], path: FramePath = ()) -> None:
    """Convert the boxes of child frames from the viewport of their frame to that of the top frame.

    Args:
        raw: The stitched snapshot, modified in place.
        shown: Where the document of each frame lies in its parent's viewport. A frame that is missing is assumed to
            start at the corner of its iframe.
        path: The frame of the root of the tree.
    """
    place = _IDENTITY
    for depth in range(1, len(path) + 1):
        place = _composed(place, shown.get(path[:depth], _IDENTITY))
    pending: list[tuple[Any, Matrix, FramePath]] = [(raw.get("tree"), place, path)]
    while pending:
        node, place, path = pending.pop()
        if not isinstance(node, dict):
            continue
        box, inside = _box(node), place
        if box and isinstance(index := node.get("frame"), int):
            path = (*path, index)
            inside = _composed(place, shown.get(path, (1.0, 0.0, 0.0, 1.0, box[0], box[1])))
        if box and place != _IDENTITY:
            node["box"] = [*_bounds(box, place)]
        below = node.get("children")
        if isinstance(below, list):
            pending.extend((child, inside, path) for child in below)


def _composed(outer: Matrix, inner: Matrix) -> Matrix:
    """First `inner`, then `outer`."""
    a, b, c, d, e, f = outer
    p, q, r, s, t, u = inner
    return a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, a * t + c * u + e, b * t + d * u + f


def _bounds(box: tuple[float, float, float, float], place: Matrix) -> tuple[float, float, float, float]:
    """The upright box around the transformed box."""
    left, top, width, height = box
    a, b, c, d, e, f = place
    corners = [(left + i * width, top + j * height) for i in (0, 1) for j in (0, 1)]
    xs, ys = [a * x + c * y + e for x, y in corners], [b * x + d * y + f for x, y in corners]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def _box(node: Mapping[str, Any]) -> tuple[float, float, float, float] | None:
    box = node.get("box")
    if not isinstance(box, list) or len(box) != 4 or not all(isinstance(side, int | float) for side in box):
        return None
    x, y, width, height = box
    return (float(x), float(y), float(width), float(height)) if width > 0 and height > 0 else None

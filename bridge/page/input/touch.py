"""Touch input through CDP, and where a point of a child frame lies in the top frame's viewport."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from typing import Any

from bridge.errors import ActionFailed, Covered, DeadlineExceeded
from bridge.page.snapshots.boxes import FramePath, Matrix
from bridge.page.snapshots.refs import RefEntry
from bridge.page.target.attachment import Attachment, WorldGone

# By this a document knows a tap that was prepared elsewhere (injected_js/src/checks/guard.js); no screen measures it.
_TAP_FORCE = 0.6180419921875


def touch(kind: str, *points: tuple[float, float], force: float = 1) -> tuple[str, dict[str, Any]]:
    """One touch event: the fingers that are down at these points, CSS pixels of what is seen of the top frame."""
    fingers = [
        {"x": round(x, 2), "y": round(y, 2), "radiusX": 1, "radiusY": 1, "force": force, "id": number}
        for number, (x, y) in enumerate(points, 1)
    ]
    return "Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers}


def tap_commands(x: float, y: float) -> list[tuple[str, dict[str, Any]]]:
    """One finger down and up at (x, y); only a document in which an action was prepared takes it."""
    return [touch("touchStart", (x, y), force=_TAP_FORCE), touch("touchEnd")]


async def to_top_viewport(
    attachment: Attachment,
    frame_indexes: Mapping[str, int],
    entry: RefEntry,
    x: float,
    y: float,
    *,
    timeout_s: float,
    of_frame: str | None = None,
    covered_too: bool = False,
) -> tuple[float, float]:
    """A point of `entry`'s frame in the top frame's viewport; one round trip per ancestor frame.

    Args:
        of_frame: The point is of this frame's viewport, an ancestor of the entry's.
        covered_too: Nothing is going to be touched there.

    Raises:
        Covered: Something of an ancestor lies over the frame there.
        ActionFailed: The frame cannot be found in its parent.
    """
    frame = attachment.state.frames.get(of_frame or entry.frame_id)
    while frame is not None and frame.parent_id is not None:
        index = frame_indexes.get(frame.frame_id, -1)
        place = None
        if index >= 0:
            call = f"__agentBrowser.pointInParent({json.dumps(index)},{json.dumps(x)},{json.dumps(y)})"
            place = await attachment.evaluate(frame.parent_id, call, timeout_s=timeout_s)
        if not isinstance(place, dict):
            raise ActionFailed(f"{entry.ref} ({entry.described()}): its frame cannot be found in the page.")
        if not place.get("hit") and not covered_too:
            raise Covered(f"{entry.ref} ({entry.described()}): its frame is covered by {place.get('over')}.")
        x, y = float(place["x"]), float(place["y"])
        frame = attachment.state.frames.get(frame.parent_id)
    return x, y


async def frames_shown(
    attachment: Attachment, frame_indexes: Mapping[str, int], *, timeout_s: float
) -> dict[FramePath, Matrix]:
    """Where the document of each child frame is in its parent's viewport; all are asked at once."""
    frames = attachment.state.ordered_frames()
    paths: dict[str, FramePath] = {frame.frame_id: () for frame in frames[:1]}
    asked: dict[FramePath, Awaitable[Any]] = {}
    for frame in frames[1:]:
        index, parent_id = frame_indexes.get(frame.frame_id, -1), frame.parent_id
        if index >= 0 and parent_id in paths:
            path = paths[frame.frame_id] = (*paths[parent_id], index)
            asked[path] = attachment.evaluate(parent_id, f"__agentBrowser.frameMatrix({index})", timeout_s=timeout_s)
    answers = await asyncio.gather(*asked.values(), return_exceptions=True)
    found: dict[FramePath, Matrix] = {}
    for path, answer in zip(asked, answers, strict=True):
        if isinstance(answer, list) and len(answer) == 6 and all(isinstance(number, int | float) for number in answer):
            a, b, c, d, e, f = map(float, answer)
            found[path] = a, b, c, d, e, f
        elif isinstance(answer, BaseException) and not isinstance(answer, WorldGone | DeadlineExceeded):
            raise answer
    return found

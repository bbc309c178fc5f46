"""Maps points of child frames to the top frame's viewport, through the boxes in which parents show their frames."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, TypeAlias

from bridge.errors import ActionFailed, Covered, DeadlineExceeded, ExecutionContextDestroyed
from bridge.page.target.attachment import Attachment
from bridge.snapshot.injected import script_call

# As of a DOMMatrix: x' = a·x + c·y + e, y' = b·x + d·y + f.
Matrix: TypeAlias = tuple[float, float, float, float, float, float]
# Which frame: the places in `window.frames`, from the top document on.
FramePath: TypeAlias = tuple[int, ...]


async def to_top_viewport(
    attachment: Attachment,
    frame_indexes: Mapping[str, int],
    frame_id: str,
    x: float,
    y: float,
    *,
    of: str,
    timeout_s: float,
    allow_covered: bool = False,
) -> tuple[float, float]:
    """A point of a frame's viewport in the top frame's viewport: one round trip per ancestor frame.

    Args:
        frame_indexes: The position of each frame in its parent's `window.frames`.
        of: What is at the point, for errors: `e5 (button "Pay")`.
        allow_covered: Accept a point that an ancestor's content covers, because nothing is going to touch it.

    Raises:
        Covered: Content of an ancestor lies over the frame at that point.
        ActionFailed: The frame is not in its parent.
    """
    frame = attachment.state.frames.get(frame_id)
    while frame is not None and frame.parent_id is not None:
        index = frame_indexes.get(frame.frame_id, -1)
        place = None
        if index >= 0:
            call = script_call("pointInParent", index, x, y)
            place = await attachment.evaluate(frame.parent_id, call, timeout_s=timeout_s)
        if not isinstance(place, dict):
            raise ActionFailed(f"{of}: its frame was not found in the page.")
        if not place.get("hit") and not allow_covered:
            raise Covered(f"{of}: its frame is covered by {place.get('over')}.")
        x, y = float(place["x"]), float(place["y"])
        frame = attachment.state.frames.get(frame.parent_id)
    return x, y


async def frames_shown(
    attachment: Attachment, frame_indexes: Mapping[str, int], *, timeout_s: float
) -> dict[FramePath, Matrix]:
    """Locates each child frame's document in its parent's viewport, querying all parents at once."""
    frames = attachment.state.ordered_frames()
    paths: dict[str, FramePath] = {frame.frame_id: () for frame in frames[:1]}
    asked: dict[FramePath, Awaitable[Any]] = {}
    for frame in frames[1:]:
        index, parent_id = frame_indexes.get(frame.frame_id, -1), frame.parent_id
        if index >= 0 and parent_id in paths:
            path = paths[frame.frame_id] = (*paths[parent_id], index)
            asked[path] = attachment.evaluate(parent_id, script_call("frameMatrix", index), timeout_s=timeout_s)
    answers = await asyncio.gather(*asked.values(), return_exceptions=True)
    found: dict[FramePath, Matrix] = {}
    for path, answer in zip(asked, answers, strict=True):
        if isinstance(answer, list) and len(answer) == 6 and all(isinstance(number, int | float) for number in answer):
            a, b, c, d, e, f = map(float, answer)
            found[path] = a, b, c, d, e, f
        elif isinstance(answer, BaseException) and not isinstance(answer, ExecutionContextDestroyed | DeadlineExceeded):
            raise answer
    return found

"""Drag and drop: by a finger, by script for HTML's `draggable`, and by mouse from one frame into another.

A script runs in one document, and a DataTransfer belongs to one; only the browser carries dragged data from renderer to
renderer. `Input.setInterceptDrags` makes it hand that data to the CDP client instead of the window system.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from bridge.deadline import Deadline, finish
from bridge.errors import ActionFailed, DeadlineExceeded, ProtocolError, Unsupported, UsageError
from bridge.page.input.actions import Actions, settle_time
from bridge.page.input.gestures import slide
from bridge.page.input.settle import Settled
from bridge.page.input.touch import checked_px
from bridge.page.results import ActionResult
from bridge.page.snapshots.refs import RefEntry
from bridge.page.target.frame_geometry import to_top_viewport
from bridge.snapshot.injected import script_call

_STARTS_S = 2.0
_END_S = 1.0
# A press becomes a drag after the pointer has moved some pixels.
_FIRST_STEPS_PX = (3.0, 12.0)
_MOUSE_STEPS = 12


class Position(TypedDict):
    """A point in an element: CSS pixels from its upper left corner."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Drag:
    """The distance, the positions and the pointer of a drag.

    Attributes:
        by: Without a target: how far, in CSS pixels.
        hold_s: How long the finger stays before it moves.
        source_position, target_position: None means the middle.
        input: What drags.
    """

    by: tuple[float, float] | None = None
    hold_s: float = 0.0
    source_position: Position | None = None
    target_position: Position | None = None
    input: Literal["touch", "mouse"] = "touch"

    def check(self, to: str | None) -> None:
        """Raise UsageError for what makes no sense."""
        if (to is None) == (self.by is None):
            raise UsageError("drag takes either to (a ref) or by (dx, dy)")
        if not 0 <= self.hold_s <= 5:
            raise UsageError(f"hold_s is {self.hold_s!r}; it must be from 0 to 5.")
        if self.target_position is not None and to is None:
            raise UsageError("target_position needs a target.")
        if self.input not in ("touch", "mouse"):
            raise UsageError(f"input={self.input!r}", hint='Use "touch" or "mouse".')
        for name, position in (("source_position", self.source_position), ("target_position", self.target_position)):
            if position is not None:
                if not isinstance(position, Mapping) or set(position) != {"x", "y"}:
                    raise UsageError(f"{name} is {position!r}", hint='Write {"x": 10, "y": 5}.')
                checked_px(position["x"])
                checked_px(position["y"])


async def drag(
    actions: Actions, ref: str, to: str | None, how: Drag, deadline: Deadline, *, settle_s: float
) -> ActionResult:
    """Drag an element onto another one (`to`, a ref) or by CSS pixels."""
    how.check(to)
    entry = actions.look_up(ref)
    target = actions.look_up(to) if to is not None else None
    what = f"drag {entry.ref}"
    notices: tuple[str, ...] = ()
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        if target is not None:
            await actions.prepare(target, "scroll_into_view", deadline, hit=False)
        x, y, ready = await actions.point(entry, "drag", deadline, also="watchDrag")
        if how.source_position is not None:
            x, y = await _place(actions, entry, entry, deadline, how.source_position)
        is_draggable = bool(ready.also) and how.input == "touch"
        if target is not None and target.frame_id != entry.frame_id:
            if not ready.also:
                await actions.stand_down(entry)
                raise UsageError(
                    f"{entry.ref} and {target.ref} are in different frames, and a touch stays in its frame.",
                    hint="Only a draggable=true element can be dropped in another frame.",
                )
            end = await _place(actions, entry, target, deadline, how.target_position)
            await _drag_by_mouse(actions, entry, (x, y), end, deadline)
            settled = await actions.send_and_settle(entry, [], settle_s, deadline)
            actions.checks.check_hit(entry, settled)
        elif target is not None and is_draggable:
            settled = await _drag_by_script(actions, entry, target, settle_s, deadline)
            failure = settled.reply.drag_failure
            notices = (f"HTML drag and drop was done by script{f': {failure}' if failure else ''}",)
        else:
            if target is not None:
                end = await _place(actions, entry, target, deadline, how.target_position)
            else:
                assert how.by is not None
                end = (x + checked_px(how.by[0]), y + checked_px(how.by[1]))
            if how.input == "mouse":
                await _slide_mouse(actions, what, (x, y), end, how.hold_s, deadline)
            else:
                await slide(actions, what, [[(x, y)], [end]], deadline, hold_s=how.hold_s)
            settled = await actions.send_and_settle(entry, [], settle_s, deadline, after="wasDragCancelled")
            actions.checks.check_hit(entry, settled)
            if settled.reply.after and how.input == "touch":
                notices = ("the browser treated the movement as scrolling; the page did not handle it as a drag",)
        changes = await actions.changes(before, settled)
    return ActionResult(action="drag", ref=entry.ref, changes=changes, cost=meter.cost(), notices=notices)


async def _slide_mouse(
    actions: Actions, what: str, start: tuple[float, float], end: tuple[float, float], hold_s: float, deadline: Deadline
) -> None:
    """Press the mouse, move it in steps and release it; it is released also if the block fails."""
    await actions.send([_mouse("mouseMoved", *start), _mouse("mousePressed", *start, buttons=1)], what, deadline)
    at = start
    try:
        await asyncio.sleep(hold_s)
        for step in range(1, _MOUSE_STEPS + 1):
            part = step / _MOUSE_STEPS
            at = (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part)
            await actions.send([_mouse("mouseMoved", *at, buttons=1)], what, deadline)
    finally:
        released = actions.attachment.connection.call(*_mouse("mouseReleased", *at), timeout_s=_END_S)
        await finish(released, at_most_s=_END_S, what="releasing the mouse")


async def _place(
    actions: Actions, entry: RefEntry, target: RefEntry, deadline: Deadline, position: Position | None = None
) -> tuple[float, float]:
    """A point of an element, by default its middle, which must be on the screen together with the dragged element."""
    call = script_call("onElement", target.local, "boxInView")
    found = await actions.evaluate(target, call, f"drag {entry.ref}", deadline)
    box = found.get("box") if isinstance(found, Mapping) else None
    if not isinstance(box, list):
        await actions.stand_down(entry)
        raise actions.refs.failure(target, {"code": "ref_not_found"}, actions.snapshots.is_live)
    left, top, width, height = (float(number) for number in box)
    view_left, view_top, view_width, view_height = found["seen"]
    across, down = (width / 2, height / 2) if position is None else (position["x"], position["y"])
    x, y = left + across - view_left, top + down - view_top
    if not (0 <= x < view_width and 0 <= y < view_height):
        await actions.stand_down(entry)
        raise ActionFailed(
            f"{entry.label} and {target.label} are not on the screen together.",
            hint="Drag in steps, to an element between them.",
        )
    frame = actions.attachment.state.frames.get(target.frame_id)
    if frame is None or frame.parent_id is None:
        return x, y
    indexes, left_s = actions.snapshots.frame_indexes, deadline.remaining_s
    return await to_top_viewport(actions.attachment, indexes, target.frame_id, x, y, of=target.label, timeout_s=left_s)


async def _drag_by_script(
    actions: Actions, entry: RefEntry, target: RefEntry, settle_s: float, deadline: Deadline
) -> Settled:
    settling = actions.settle_options(settle_time(settle_s, deadline))
    expression = script_call("dragAndSettle", entry.local, target.local, settling)
    what = f"drag {entry.ref}"
    settled = await actions.send_and_settle(entry, [], settle_s, deadline, expression=expression, awaited=what)
    actions.checks.raise_for(entry, "drag", settled.reply.error, deadline)
    return settled


async def _drag_by_mouse(
    actions: Actions, entry: RefEntry, start: tuple[float, float], end: tuple[float, float], deadline: Deadline
) -> None:
    """Press the mouse at `start` and drop the drag that it starts at `end`, both in the top frame's viewport.

    Raises:
        Unsupported: The engine cannot intercept drags.
        ActionFailed: No drag started.
    """
    connection = actions.attachment.connection
    what = f"drag {entry.ref}"

    async def intercept(enabled: bool) -> None:
        params = {"enabled": enabled}
        await connection.call("Input.setInterceptDrags", params, timeout_s=max(deadline.remaining_s, _END_S))

    try:
        await intercept(True)
    except ProtocolError as error:
        await actions.stand_down(entry)
        raise Unsupported(f"this WebView cannot intercept drags: {error.reason}") from error
    # The command that ends the gesture: the press until a drag has started, then the drag.
    (method, params) = _mouse("mouseReleased", *start)
    try:
        with connection.events("Input.dragIntercepted") as drags:
            x, y = start
            moves = [_mouse("mouseMoved", x + step, y + step, buttons=1) for step in _FIRST_STEPS_PX]
            # A drag that starts holds back the replies to the moves.
            for command in (_mouse("mouseMoved", x, y), _mouse("mousePressed", x, y, buttons=1), *moves):
                connection.send(*command).abandon()
            try:
                drag_data = (await drags.next(timeout_s=min(_STARTS_S, deadline.remaining_s))).params["data"]
            except DeadlineExceeded as error:
                raise ActionFailed(
                    f"{entry.label}: no drag started; the page refused it, or the engine has no drag and drop."
                ) from error
        method, params = _drag("dragCancel", end, drag_data)
        for kind in ("dragEnter", "dragOver", "dragOver", "drop"):
            await actions.send([_drag(kind, end, drag_data)], what, deadline)
        # Chromium reports the end to the renderer of the drop only; where the drag started, the mouse stays pressed.
        method, params = _drag("dragCancel", start, drag_data)
    finally:
        await finish(_end(actions, method, params, intercept(False)), at_most_s=2 * _END_S, what="ending a drag")


async def _end(actions: Actions, method: str, params: dict[str, Any], last: Awaitable[None]) -> None:
    try:
        await actions.attachment.connection.call(method, params, timeout_s=_END_S)
    finally:
        await last


def _drag(kind: str, at: tuple[float, float], drag_data: Any) -> tuple[str, dict[str, Any]]:
    return "Input.dispatchDragEvent", {"type": kind, "x": round(at[0], 2), "y": round(at[1], 2), "data": drag_data}


def _mouse(kind: str, x: float, y: float, *, buttons: int = 0) -> tuple[str, dict[str, Any]]:
    button = {} if kind == "mouseMoved" and not buttons else {"button": "left"}
    count = {} if kind == "mouseMoved" else {"clickCount": 1}
    return "Input.dispatchMouseEvent", {
        "type": kind,
        "x": round(x, 2),
        "y": round(y, 2),
        "buttons": buttons,
        **button,
        **count,
    }

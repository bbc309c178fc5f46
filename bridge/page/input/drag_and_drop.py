"""Drag and drop: by a finger, by script for HTML's `draggable`, and by mouse from one frame into another.

A script runs in one document, and a DataTransfer belongs to one; only the browser carries dragged data from renderer to
renderer. `Input.setInterceptDrags` makes it hand that data to the CDP client instead of the window system.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

from bridge.deadline import Deadline, finish
from bridge.errors import ActionFailed, DeadlineExceeded, ProtocolError, Unsupported, UsageError
from bridge.page.input.actions import Actions, settle_time
from bridge.page.input.gestures import slide
from bridge.page.input.settle import Settled
from bridge.page.input.touch import checked_px
from bridge.page.results import ActionResult
from bridge.page.snapshots.element_handles import on_element
from bridge.page.snapshots.refs import RefEntry
from bridge.page.target.frame_geometry import to_top_viewport

_STARTS_S = 2.0
_END_S = 1.0
# A press becomes a drag after some pixels.
_FIRST_STEPS_PX = (3.0, 12.0)


async def drag(
    actions: Actions,
    ref: str,
    to: str | None,
    by: tuple[float, float] | None,
    hold_s: float,
    deadline: Deadline,
    *,
    settle_s: float,
) -> ActionResult:
    """Drag an element onto another one (`to`, a ref) or by CSS pixels; `hold_s` is how long it is held first."""
    if (to is None) == (by is None):
        raise UsageError("drag needs either to (a ref) or by (dx, dy)")
    if not 0 <= hold_s <= 5:
        raise UsageError(f"hold_s is {hold_s!r}; it must be from 0 to 5.")
    entry = actions.look_up(ref)
    goal = actions.look_up(to) if to is not None else None
    is_across = goal is not None and goal.frame_id != entry.frame_id
    notices: tuple[str, ...] = ()
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        if goal is not None:
            await actions.prepare(goal, "scroll_into_view", deadline, hit=False)
        x, y, ready = await actions.point(entry, "drag", deadline, also="el=>el&&a.watchDrag(el)")
        if goal is not None and is_across:
            if not ready.get("also"):
                await actions.stand_down(entry)
                raise UsageError(
                    f"{entry.ref} and {goal.ref} are in different frames, and a finger's touch stays in one.",
                    hint="Only what is draggable=true can be dropped in another frame.",
                )
            await _drag_by_mouse(actions, entry, (x, y), await _middle(actions, entry, goal, deadline), deadline)
            settled = await actions.act_and_settle(entry, None, [], settle_s, deadline)
            actions.verdicts.check_hit(entry, settled)
        elif goal is not None and ready.get("also"):
            settled, said = await _html_drag(actions, entry, goal, settle_s, deadline)
            notices = (f"{said}",) if said else ()
        else:
            end = (
                (x + checked_px(by[0]), y + checked_px(by[1])) if by else await _middle(actions, entry, goal, deadline)
            )
            await slide(actions, f"drag {entry.ref}", [[(x, y)], [end]], deadline, hold_s=hold_s)
            look = "()=>a.wasDragCancelled()"
            settled = await actions.act_and_settle(entry, None, [], settle_s, deadline, after=look)
            actions.verdicts.check_hit(entry, settled)
            if settled.acted.get("after"):
                notices = ("the browser took the movement for scrolling; the page did not claim it as a drag",)
        changes = await actions.changes(before, settled)
    return ActionResult(action="drag", ref=entry.ref, changes=changes, cost=meter.cost(), notices=notices)


async def _middle(actions: Actions, entry: RefEntry, goal: RefEntry | None, deadline: Deadline) -> tuple[float, float]:
    """The middle of the goal, which must be on the screen together with what is dragged."""
    assert goal is not None
    look = f"(a=>{on_element('el=>el&&a.boxInView(el)', goal.local)})(__agentBrowser)"
    found = await actions.evaluate(goal, look, f"drag {entry.ref}", deadline)
    box = found.get("box") if isinstance(found, Mapping) else None
    if not isinstance(box, list):
        await actions.stand_down(entry)
        raise actions.refs.failure(goal, {"code": "ref_not_found"}, actions.snapshots.is_live)
    left, top, width, height = (float(number) for number in box)
    view_left, view_top, view_width, view_height = found["seen"]
    x, y = left + width / 2 - view_left, top + height / 2 - view_top
    if not (0 <= x < view_width and 0 <= y < view_height):
        await actions.stand_down(entry)
        raise ActionFailed(
            f"{entry.ref} ({entry.described()}) and {goal.ref} ({goal.described()}) are not on the screen together.",
            hint="Drag in steps, to an element between them.",
        )
    frame = actions.attachment.state.frames.get(goal.frame_id)
    if frame is None or frame.parent_id is None:
        return x, y
    of = f"{goal.ref} ({goal.described()})"
    indexes, left_s = actions.snapshots.frame_indexes, deadline.remaining_s
    return await to_top_viewport(actions.attachment, indexes, goal.frame_id, x, y, of=of, timeout_s=left_s)


async def _html_drag(
    actions: Actions, entry: RefEntry, goal: RefEntry, settle_s: float, deadline: Deadline
) -> tuple[Settled, str]:
    settle_s = settle_time(settle_s, deadline)
    settle = f"a.settle({actions.settle_options(settle_s)})"
    both = f"{on_element('el=>el', entry.local)},{on_element('el=>el', goal.local)}"
    expression = (
        f"(async a=>{{const d=[{both}];if(!d[0]||!d[1])return{{error:{{code:'ref_not_found'}}}};"
        f"const told=await a.dragAndDrop(...d);return Object.assign(await {settle},{{told}})}})(__agentBrowser)"
    )
    settled = await actions.settle_with(entry, f"drag {entry.ref}", expression, [], settle_s, deadline)
    actions.verdicts.raise_for(entry, "drag", settled.acted.get("error"), deadline)
    told = settled.acted.get("told")
    said = "HTML drag and drop was done by script"
    return settled, f"{said}: {told}" if told else said


async def _drag_by_mouse(
    actions: Actions, entry: RefEntry, start: tuple[float, float], end: tuple[float, float], deadline: Deadline
) -> None:
    """Press at `start`, and drop what the page lets be dragged at `end`: both in the top frame's viewport.

    Raises:
        Unsupported: The engine does not hand drags over.
        ActionFailed: No drag began.
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
        raise Unsupported(f"this WebView does not hand drags over: {error.reason}") from error
    # What ends the gesture: a press until a drag has begun of it.
    (method, params) = _mouse("mouseReleased", *start)
    try:
        with connection.events("Input.dragIntercepted") as begun:
            x, y = start
            moves = [_mouse("mouseMoved", x + step, y + step, buttons=1) for step in _FIRST_STEPS_PX]
            # A drag that begins keeps back the answers to the moves.
            for command in (_mouse("mouseMoved", x, y), _mouse("mousePressed", x, y, buttons=1), *moves):
                connection.send(*command).abandon()
            try:
                carried = (await begun.next(timeout_s=min(_STARTS_S, deadline.remaining_s))).params["data"]
            except DeadlineExceeded as error:
                raise ActionFailed(
                    f"{entry.ref} ({entry.described()}): no drag began; the page refused it, or the engine has none."
                ) from error
        method, params = _drag("dragCancel", end, carried)
        for kind in ("dragEnter", "dragOver", "dragOver", "drop"):
            await actions.send([_drag(kind, end, carried)], what, deadline)
        # Chromium tells the end of it to the renderer of the drop, and the one where it began goes on pressing.
        method, params = _drag("dragCancel", start, carried)
    finally:
        await finish(_end(actions, method, params, intercept(False)), at_most_s=2 * _END_S, what="ending a drag")


async def _end(actions: Actions, method: str, params: dict[str, Any], last: Awaitable[None]) -> None:
    try:
        await actions.attachment.connection.call(method, params, timeout_s=_END_S)
    finally:
        await last


def _drag(kind: str, at: tuple[float, float], carried: Any) -> tuple[str, dict[str, Any]]:
    return "Input.dispatchDragEvent", {"type": kind, "x": round(at[0], 2), "y": round(at[1], 2), "data": carried}


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

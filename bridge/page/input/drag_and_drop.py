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
# A press becomes a drag after the pointer has moved some pixels.
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
    """Drag an element onto another one (`to`, a ref) or by CSS pixels, after holding it for `hold_s`."""
    if (to is None) == (by is None):
        raise UsageError("drag takes either to (a ref) or by (dx, dy)")
    if not 0 <= hold_s <= 5:
        raise UsageError(f"hold_s is {hold_s!r}; it must be from 0 to 5.")
    entry = actions.look_up(ref)
    target = actions.look_up(to) if to is not None else None
    notices: tuple[str, ...] = ()
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        if target is not None:
            await actions.prepare(target, "scroll_into_view", deadline, hit=False)
        x, y, ready = await actions.point(entry, "drag", deadline, also="el=>el&&a.watchDrag(el)")
        is_draggable = bool(ready.also)
        if target is not None and target.frame_id != entry.frame_id:
            if not is_draggable:
                await actions.stand_down(entry)
                raise UsageError(
                    f"{entry.ref} and {target.ref} are in different frames, and a touch stays in its frame.",
                    hint="Only a draggable=true element can be dropped in another frame.",
                )
            await _drag_by_mouse(actions, entry, (x, y), await _center(actions, entry, target, deadline), deadline)
            settled = await actions.settle(entry, [], settle_s, deadline)
            actions.checks.check_hit(entry, settled)
        elif target is not None and is_draggable:
            settled = await _drag_by_script(actions, entry, target, settle_s, deadline)
            failure = settled.reply.drag_failure
            notices = (f"HTML drag and drop was done by script{f': {failure}' if failure else ''}",)
        else:
            if target is not None:
                end = await _center(actions, entry, target, deadline)
            else:
                assert by is not None
                end = (x + checked_px(by[0]), y + checked_px(by[1]))
            await slide(actions, f"drag {entry.ref}", [[(x, y)], [end]], deadline, hold_s=hold_s)
            settled = await actions.settle(entry, [], settle_s, deadline, after="()=>a.wasDragCancelled()")
            actions.checks.check_hit(entry, settled)
            if settled.reply.after:
                notices = ("the browser treated the movement as scrolling; the page did not handle it as a drag",)
        changes = await actions.changes(before, settled)
    return ActionResult(action="drag", ref=entry.ref, changes=changes, cost=meter.cost(), notices=notices)


async def _center(actions: Actions, entry: RefEntry, target: RefEntry, deadline: Deadline) -> tuple[float, float]:
    """The center of the drop target, which must be on the screen together with the dragged element."""
    call = f"(a=>{on_element('el=>el&&a.boxInView(el)', target.local)})(__agentBrowser)"
    found = await actions.evaluate(target, call, f"drag {entry.ref}", deadline)
    box = found.get("box") if isinstance(found, Mapping) else None
    if not isinstance(box, list):
        await actions.stand_down(entry)
        raise actions.refs.failure(target, {"code": "ref_not_found"}, actions.snapshots.is_live)
    left, top, width, height = (float(number) for number in box)
    view_left, view_top, view_width, view_height = found["seen"]
    x, y = left + width / 2 - view_left, top + height / 2 - view_top
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
    settle = f"a.settle({actions.settle_options(settle_time(settle_s, deadline))})"
    both = f"{on_element('el=>el', entry.local)},{on_element('el=>el', target.local)}"
    expression = (
        f"(async a=>{{const d=[{both}];if(!d[0]||!d[1])return{{error:{{code:'ref_not_found'}}}};"
        f"const dragFailure=await a.dragAndDrop(...d);"
        f"return Object.assign(await {settle},{{dragFailure}})}})(__agentBrowser)"
    )
    what = f"drag {entry.ref}"
    settled = await actions.settle(entry, [], settle_s, deadline, expression=expression, awaited=what)
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

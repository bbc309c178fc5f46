"""Gestures: double tap, long press, hover, drag, swipe, pinch, scroll.

Fingers are CDP touch events, so the page gets the pointer, touch and mouse events that its browser makes of them.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Literal, get_args

from bridge.deadline import Deadline
from bridge.errors import ActionFailed, BridgeError, RefNotFound, UsageError
from bridge.page.input.action_outcome import kept_from
from bridge.page.input.actions import Actions, settle_time
from bridge.page.input.drag_and_drop import carry
from bridge.page.input.settle import Settled
from bridge.page.input.touch import to_top_viewport, touch
from bridge.page.results import ActionResult
from bridge.page.snapshots.element_calls import on_element
from bridge.page.snapshots.refs import RefEntry

Direction = Literal["up", "down", "left", "right"]
_TOWARDS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
# Android's long-press timeout is 400 or 500 ms (ViewConfiguration); pages that time it themselves take up to 600.
_LONG_PRESS_S = 0.7
_STEPS = 12
_FRAME_S = 0.016
# What lifting the fingers may take when the deadline has passed.
_LIFT_S = 0.5
_MAX_DISTANCE_PX = 20_000


async def double_click(actions: Actions, ref: str, *, timeout_s: float, settle_s: float) -> ActionResult:
    """Two taps in a row: two round trips. A page zoomed by double taps (no mobile viewport) gets no `dblclick`.

    What the first tap brings in the element's place does not get the second: that is an error with `taps_done`.
    """
    deadline = Deadline.after(timeout_s)
    entry = actions.look_up(ref)
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        ready = await actions.prepare(entry, "double_click", deadline)
        settled = await actions.tap(entry, ready, "double_click", settle_s, deadline)
        changes = await actions.changes(before, settled)
    notices = kept_from(entry, settled)
    return ActionResult(action="double_click", ref=entry.ref, changes=changes, cost=meter.cost(), notices=notices)


async def long_press(actions: Actions, ref: str, *, timeout_s: float, settle_s: float) -> ActionResult:
    """A finger that stays for 0.7 s. Where the engine makes no context menu of it, the result says so.

    What comes in the element's place meanwhile gets no part of the press.
    """
    deadline = Deadline.after(timeout_s)
    notices: tuple[str, ...] = ()
    entry = actions.look_up(ref)
    what = f"long_press {entry.ref}"
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        x, y, _ = await actions.point(entry, "long_press", deadline, also="el=>el&&a.watchMenu()")
        if deadline.remaining_s < _LONG_PRESS_S:
            await actions.stand_down(entry)
            raise deadline.exceeded(what, f"the finger has to stay for {_LONG_PRESS_S} s")
        async with _fingers_down(actions, what, [(x, y)], deadline):
            await asyncio.sleep(_LONG_PRESS_S)
            menu = f"__agentBrowser.openMenu({json.dumps(entry.local)})"
            try:
                held = await actions.evaluate(actions.look_up(ref), menu, what, deadline)
            except RefNotFound:  # the page went away under the finger: that is what the press has done
                held = None
            failure = held.get("error") if isinstance(held, Mapping) else None
            if held is None or failure:
                # What is under the finger now gets no part of the press.
                await _cancel_touch(actions, what, deadline)
                settled = await actions.act_and_settle(entry if failure else None, None, [], settle_s, deadline)
            else:
                settled = await actions.act_and_settle(entry, "touchend", [touch("touchEnd")], settle_s, deadline)
        if failure:
            notices = _lost_under_the_finger(actions, entry, failure, settled)
        elif held is not None:
            actions.verdicts.check_hit(entry, settled)
        changes = await actions.changes(before, settled)
    if held == "script":
        notices = ("this engine makes no contextmenu of a touch; the event was sent by script",)
    return ActionResult(action="long_press", ref=entry.ref, changes=changes, cost=meter.cost(), notices=notices)


def _lost_under_the_finger(
    actions: Actions, entry: RefEntry, failure: Mapping[str, object], settled: Settled
) -> tuple[str, ...]:
    """A notice where the page took the element away while it was held, which may be its answer.

    Raises:
        StaleRef: It is there and belongs to something else.
        ActionFailed: See `Verdicts.check_hit`.
    """
    try:
        actions.verdicts.check_hit(entry, settled)
        raise actions.refs.failure(entry, failure, actions.snapshots.is_live)
    except RefNotFound:
        if settled.acted.get("hit") is not True:
            raise
        return (f"{entry.ref} was gone before the finger was lifted, so the touch was taken back: nothing was tapped",)


async def hover(actions: Actions, ref: str, *, timeout_s: float, settle_s: float) -> ActionResult:
    """A mouse pointer that comes to rest on the element: `:hover` and the pointer events, no press."""
    deadline = Deadline.after(timeout_s)
    entry = actions.look_up(ref)
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        x, y, _ = await actions.point(entry, "hover", deadline)
        moved = [("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": round(x, 2), "y": round(y, 2)})]
        await actions.send(moved, f"hover {entry.ref}", deadline)
        settled = await actions.act_and_settle(entry, None, [], settle_s, deadline)
        changes = await actions.changes(before, settled)
    return ActionResult(action="hover", ref=entry.ref, changes=changes, cost=meter.cost())


async def drag(
    actions: Actions,
    ref: str,
    to: str | None,
    by: tuple[float, float] | None,
    hold_s: float,
    *,
    timeout_s: float,
    settle_s: float,
) -> ActionResult:
    """Drag an element onto another one (`to`, a ref) or by CSS pixels; `hold_s` is how long it is held first."""
    if (to is None) == (by is None):
        raise UsageError("drag needs either to (a ref) or by (dx, dy)")
    if not 0 <= hold_s <= 5:
        raise UsageError(f"hold_s is {hold_s!r}; it must be from 0 to 5.")
    deadline = Deadline.after(timeout_s)
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
            await carry(actions, entry, (x, y), await _middle(actions, entry, goal, deadline), deadline)
            settled = await actions.act_and_settle(entry, None, [], settle_s, deadline)
            actions.verdicts.check_hit(entry, settled)
        elif goal is not None and ready.get("also"):
            settled, said = await _html_drag(actions, entry, goal, settle_s, deadline)
            notices = (f"{said}",) if said else ()
        else:
            end = (x + _number(by[0]), y + _number(by[1])) if by else await _middle(actions, entry, goal, deadline)
            await _slide(actions, f"drag {entry.ref}", [[(x, y)], [end]], deadline, hold_s=hold_s)
            look = "()=>a.wasDragCancelled()"
            settled = await actions.act_and_settle(entry, None, [], settle_s, deadline, after=look)
            actions.verdicts.check_hit(entry, settled)
            if settled.acted.get("after"):
                notices = ("the browser took the movement for scrolling; the page did not claim it as a drag",)
        changes = await actions.changes(before, settled)
    return ActionResult(action="drag", ref=entry.ref, changes=changes, cost=meter.cost(), notices=notices)


async def swipe(
    actions: Actions, direction: Direction, ref: str | None, distance_px: float, *, timeout_s: float, settle_s: float
) -> ActionResult:
    """A finger that moves in `direction` over the element, or over the middle of the page."""
    dx, dy = towards(direction)
    distance = _number(distance_px)
    if not 1 <= distance <= _MAX_DISTANCE_PX:
        raise UsageError(f"distance_px is {distance_px!r}; it must be from 1 to {_MAX_DISTANCE_PX}.")
    deadline = Deadline.after(timeout_s)
    entry = actions.look_up(ref) if ref is not None else None
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        if entry is not None:
            x, y, _ = await actions.point(entry, "swipe", deadline)
        else:
            width, height = await _viewport(actions, deadline)
            # As much of the way as the screen has, half of it on either side of the middle.
            distance = min(distance, (width if dx else height) * 0.9)
            x, y = width / 2 - dx * distance / 2, height / 2 - dy * distance / 2
        what = f"swipe {entry.ref}" if entry else f"swipe {direction}"
        await _slide(actions, what, [[(x, y)], [(x + dx * distance, y + dy * distance)]], deadline)
        settled = await actions.act_and_settle(entry, None, [], settle_s, deadline)
        if entry is not None:
            actions.verdicts.check_hit(entry, settled)
        changes = await actions.changes(before, settled)
    return ActionResult(action="swipe", ref=entry.ref if entry else None, changes=changes, cost=meter.cost())


async def pinch(actions: Actions, scale: float, ref: str | None, *, timeout_s: float, settle_s: float) -> ActionResult:
    """Two fingers that move apart (`scale` over 1) or together, around the element or the middle of the page."""
    factor = _number(scale)
    if not 0.1 <= factor <= 10 or factor == 1:
        raise UsageError(f"scale is {scale!r}; it must be from 0.1 to 10, and not 1.")
    deadline = Deadline.after(timeout_s)
    entry = actions.look_up(ref) if ref is not None else None
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        width, height = await _viewport(actions, deadline)
        x, y = width / 2, height / 2
        if entry is not None:
            x, y, _ = await actions.point(entry, "pinch", deadline)
        wide = min(x, y, width - x, height - y, 150.0) * 0.9
        near, far = wide / max(factor, 1 / factor), wide
        start, end = (near, far) if factor > 1 else (far, near)
        fingers = [[(x - way, y), (x + way, y)] for way in (start, end)]
        await _slide(actions, f"pinch {entry.ref}" if entry else "pinch", fingers, deadline)
        settled = await actions.act_and_settle(entry, None, [], settle_s, deadline)
        changes = await actions.changes(before, settled)
    return ActionResult(action="pinch", ref=entry.ref if entry else None, changes=changes, cost=meter.cost())


async def scroll(
    actions: Actions, direction: Direction, amount: float, ref: str | None, *, timeout_s: float, settle_s: float
) -> ActionResult:
    """Scroll by CSS pixels: what scrolls around the element or in the middle of the page: one round trip."""
    dx, dy = towards(direction)
    distance = _number(amount)
    if not 1 <= distance <= 1_000_000:
        raise UsageError(f"amount is {amount!r}; it must be from 1 to 1000000.")
    deadline = Deadline.after(timeout_s)
    entry = actions.look_up(ref) if ref is not None else None
    by = f"{dx * distance},{dy * distance}"
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        settle_s = settle_time(settle_s, deadline)
        settle = f"a.settle({actions.settle_options(settle_s)})"
        if entry is None:
            body = f"const m=a.scrollFrom(null,{by});"
        else:
            check = f"a.prepare({json.dumps(entry.local)},'scroll',{{timeoutMs:300,hit:false}})"
            ready = f"const p=await {check};if(p.error)return p;"
            body = f"{ready}const m={on_element(f'el=>a.scrollFrom(el,{by})', entry.local)};"
        expression = f"(async a=>{{{body}return Object.assign(await {settle},m)}})(__agentBrowser)"
        awaited = f"scroll {entry.ref}" if entry else f"scroll {direction}"
        settled = await actions.settle_with(entry, awaited, expression, [], settle_s, deadline)
        if entry is not None:
            actions.verdicts.raise_for(entry, "scroll", settled.acted.get("error"), deadline)
        changes = await actions.changes(before, settled)
    stuck = settled.acted.get("moved") is False
    notices = (f"nothing there scrolls {direction} any further",) if stuck else ()
    return ActionResult(
        action="scroll", ref=entry.ref if entry else None, changes=changes, cost=meter.cost(), notices=notices
    )


def towards(direction: str) -> tuple[int, int]:
    """The unit vector of a direction, in CSS pixels.

    Raises:
        UsageError: It is none.
    """
    if direction not in _TOWARDS:
        raise UsageError(f"direction={direction!r}", hint=f"It is one of {', '.join(get_args(Direction))}.")
    return _TOWARDS[direction]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"{value!r} is no number of CSS pixels.")
    return float(value)


async def _slide(
    actions: Actions,
    what: str,
    keyframes: list[list[tuple[float, float]]],
    deadline: Deadline,
    *,
    hold_s: float = 0.0,
) -> None:
    """Fingers from the first keyframe to the last; each move waits until the page has taken the one before."""
    start, end = keyframes[0], keyframes[-1]
    async with _fingers_down(actions, what, start, deadline):
        await asyncio.sleep(hold_s)
        for step in range(1, _STEPS + 1):
            part = step / _STEPS
            points = [
                (x + (to_x - x) * part, y + (to_y - y) * part) for (x, y), (to_x, to_y) in zip(start, end, strict=True)
            ]
            await actions.send([touch("touchMove", *points)], what, deadline)
            await asyncio.sleep(_FRAME_S)
        lifting = Deadline(deadline.timeout_s, max(deadline.at, time.monotonic() + _LIFT_S))
        await actions.send([touch("touchEnd")], what, lifting)


@asynccontextmanager
async def _fingers_down(
    actions: Actions, what: str, points: Iterable[tuple[float, float]], deadline: Deadline
) -> AsyncIterator[None]:
    """Touch, and leave it to the block to lift the fingers; one that does not come so far leaves none down."""
    try:
        await actions.send([touch("touchStart", *points)], what, deadline)
        yield
    except BaseException:
        await _cancel_touch(actions, what, deadline)
        raise


async def _cancel_touch(actions: Actions, what: str, deadline: Deadline) -> None:
    """Take the touch back, which is no tap; without one, or in a page that is gone, nothing happens."""
    with suppress(BridgeError):
        await actions.send([touch("touchCancel")], what, Deadline(deadline.timeout_s, time.monotonic() + _LIFT_S))


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
    return await to_top_viewport(
        actions.attachment, actions.snapshots.frame_indexes, goal, x, y, timeout_s=deadline.remaining_s
    )


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


async def _viewport(actions: Actions, deadline: Deadline) -> tuple[float, float]:
    """The size of what is seen of the page; a guard that an earlier action has left for late input stands down."""
    main = actions.attachment.state.main
    look = "__agentBrowser.settle({settleMs:0}).then(()=>[visualViewport.width,visualViewport.height])"
    found = await actions.attachment.evaluate(main.frame_id if main else "", look, timeout_s=deadline.remaining_s)
    return float(found[0]), float(found[1])

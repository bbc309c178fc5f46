"""Gestures: double tap, long press, hover, drag, swipe, pinch, scroll.

Fingers are CDP touch events, so the page gets the pointer, touch and mouse events that its browser makes of them.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress

from bridge.deadline import Deadline
from bridge.errors import BridgeError, RefNotFound, UsageError
from bridge.page.input.action_outcome import kept_from
from bridge.page.input.actions import Actions
from bridge.page.input.settle import Settled
from bridge.page.input.touch import Direction, checked_px, touch, unit_vector
from bridge.page.results import ActionResult
from bridge.page.snapshots.refs import RefEntry

# Android's long-press timeout is 400 or 500 ms (ViewConfiguration); pages that time it themselves take up to 600.
_LONG_PRESS_S = 0.7
_STEPS = 12
_FRAME_S = 0.016
# What lifting the fingers may take when the deadline has passed.
_LIFT_S = 0.5
_MAX_DISTANCE_PX = 20_000


async def double_click(actions: Actions, ref: str, deadline: Deadline, *, settle_s: float) -> ActionResult:
    """Two taps in a row: two round trips. A page zoomed by double taps (no mobile viewport) gets no `dblclick`.

    What the first tap brings in the element's place does not get the second: that is an error with `taps_done`.
    """
    entry = actions.look_up(ref)
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        ready = await actions.prepare(entry, "double_click", deadline)
        settled = await actions.tap(entry, ready, "double_click", settle_s, deadline)
        changes = await actions.changes(before, settled)
    notices = kept_from(entry, settled)
    return ActionResult(action="double_click", ref=entry.ref, changes=changes, cost=meter.cost(), notices=notices)


async def long_press(actions: Actions, ref: str, deadline: Deadline, *, settle_s: float) -> ActionResult:
    """A finger that stays for 0.7 s. Where the engine makes no context menu of it, the result says so.

    What comes in the element's place meanwhile gets no part of the press.
    """
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


async def hover(actions: Actions, ref: str, deadline: Deadline, *, settle_s: float) -> ActionResult:
    """A mouse pointer that comes to rest on the element: `:hover` and the pointer events, no press."""
    entry = actions.look_up(ref)
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        x, y, _ = await actions.point(entry, "hover", deadline)
        moved = [("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": round(x, 2), "y": round(y, 2)})]
        await actions.send(moved, f"hover {entry.ref}", deadline)
        settled = await actions.act_and_settle(entry, None, [], settle_s, deadline)
        changes = await actions.changes(before, settled)
    return ActionResult(action="hover", ref=entry.ref, changes=changes, cost=meter.cost())


async def swipe(
    actions: Actions, direction: Direction, ref: str | None, distance_px: float, deadline: Deadline, *, settle_s: float
) -> ActionResult:
    """A finger that moves in `direction` over the element, or over the middle of the page."""
    dx, dy = unit_vector(direction)
    distance = checked_px(distance_px)
    if not 1 <= distance <= _MAX_DISTANCE_PX:
        raise UsageError(f"distance_px is {distance_px!r}; it must be from 1 to {_MAX_DISTANCE_PX}.")
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
        await slide(actions, what, [[(x, y)], [(x + dx * distance, y + dy * distance)]], deadline)
        settled = await actions.act_and_settle(entry, None, [], settle_s, deadline)
        if entry is not None:
            actions.verdicts.check_hit(entry, settled)
        changes = await actions.changes(before, settled)
    return ActionResult(action="swipe", ref=entry.ref if entry else None, changes=changes, cost=meter.cost())


async def pinch(
    actions: Actions, scale: float, ref: str | None, deadline: Deadline, *, settle_s: float
) -> ActionResult:
    """Two fingers that move apart (`scale` over 1) or together, around the element or the middle of the page."""
    factor = checked_px(scale)
    if not 0.1 <= factor <= 10 or factor == 1:
        raise UsageError(f"scale is {scale!r}; it must be from 0.1 to 10, and not 1.")
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
        await slide(actions, f"pinch {entry.ref}" if entry else "pinch", fingers, deadline)
        settled = await actions.act_and_settle(entry, None, [], settle_s, deadline)
        changes = await actions.changes(before, settled)
    return ActionResult(action="pinch", ref=entry.ref if entry else None, changes=changes, cost=meter.cost())


async def slide(
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


async def _viewport(actions: Actions, deadline: Deadline) -> tuple[float, float]:
    """The size of what is seen of the page; a guard that an earlier action has left for late input stands down."""
    main = actions.attachment.state.main
    look = "__agentBrowser.settle({settleMs:0}).then(()=>[visualViewport.width,visualViewport.height])"
    found = await actions.attachment.evaluate(main.frame_id if main else "", look, timeout_s=deadline.remaining_s)
    return float(found[0]), float(found[1])

"""Gestures: double tap, long press, hover, swipe and pinch; and scrolling by script.

Fingers are CDP touch events. The browser derives the pointer, touch and mouse events from them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress

from bridge.deadline import Deadline
from bridge.errors import BridgeError, RefNotFound, UsageError
from bridge.page.input.actions import Actions, settle_time
from bridge.page.input.script_replies import ScriptError
from bridge.page.input.settle import Settled
from bridge.page.input.touch import Direction, checked_px, touch, unit_vector
from bridge.page.results import ActionResult
from bridge.page.snapshots.refs import RefEntry
from bridge.snapshot.injected import script_call

# Android's long-press timeout is 400 or 500 ms (ViewConfiguration); pages with their own timer use up to 600.
_LONG_PRESS_S = 0.7
_STEPS = 12
_FRAME_S = 0.016
# Time for lifting the fingers after the deadline.
_LIFT_S = 0.5
_MAX_DISTANCE_PX = 20_000


async def double_click(actions: Actions, ref: str, deadline: Deadline, *, settle_s: float) -> ActionResult:
    """Tap twice: two round trips. A page that zooms on double taps (without a mobile viewport) gets no `dblclick`.

    The second tap is stopped if the first one put something else in the element's place. That is an error with
    `taps_done`.
    """
    entry = actions.look_up(ref)
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        ready = await actions.prepare(entry, "double_click", deadline)
        settled = await actions.tap(entry, ready, "double_click", settle_s, deadline)
        changes = await actions.changes(before, settled)
    notices = actions.checks.check_click(entry, settled, changes)
    return ActionResult(action="double_click", ref=entry.ref, changes=changes, cost=meter.cost(), notices=notices)


async def long_press(actions: Actions, ref: str, deadline: Deadline, *, settle_s: float) -> ActionResult:
    """Hold a finger on the element for 0.7 s. A notice says if the engine opens no context menu by touch.

    An element that appears in its place during the press gets no part of it.
    """
    notices: tuple[str, ...] = ()
    entry = actions.look_up(ref)
    what = f"long_press {entry.ref}"
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        x, y, _ = await actions.point(entry, "long_press", deadline, also="watchMenu")
        if deadline.remaining_s < _LONG_PRESS_S:
            await actions.stand_down(entry)
            raise deadline.exceeded(what, f"a long press takes {_LONG_PRESS_S} s")
        async with _fingers_down(actions, what, [(x, y)], deadline):
            await asyncio.sleep(_LONG_PRESS_S)
            menu = script_call("openMenu", entry.local)
            try:
                menu_by = await actions.evaluate(actions.look_up(ref), menu, what, deadline)
            except RefNotFound:  # the press made the page navigate
                menu_by = None
            error = menu_by.get("error") if isinstance(menu_by, Mapping) else None
            if menu_by is None or error:
                # Whatever is under the finger now gets no part of the press.
                await _cancel_touch(actions, what, deadline)
                settled = await actions.send_and_settle(entry if error else None, [], settle_s, deadline)
            else:
                settled = await actions.send_and_settle(
                    entry, [touch("touchEnd")], settle_s, deadline, expect="touchend"
                )
        if error:
            notices = _removed_during_press(actions, entry, error, settled)
        elif menu_by is not None:
            actions.checks.check_hit(entry, settled)
        changes = await actions.changes(before, settled)
    if menu_by == "script":
        notices = ("this engine opens no context menu by touch; the contextmenu event was dispatched by script",)
    return ActionResult(action="long_press", ref=entry.ref, changes=changes, cost=meter.cost(), notices=notices)


async def scroll(
    actions: Actions, direction: Direction, amount: float, ref: str | None, deadline: Deadline, *, settle_s: float
) -> ActionResult:
    """Scroll the nearest scrollable ancestor of the element, or of the center of the page, by CSS pixels.

    By script (`Element.scrollBy`), without touch events, in one round trip.
    """
    dx, dy = unit_vector(direction)
    distance = checked_px(amount)
    if not 1 <= distance <= 1_000_000:
        raise UsageError(f"amount is {amount!r}; it must be from 1 to 1000000.")
    entry = actions.look_up(ref) if ref is not None else None
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        settling = actions.settle_options(settle_time(settle_s, deadline))
        local = entry.local if entry else None
        expression = script_call("scrollAndSettle", local, dx * distance, dy * distance, settling)
        what = f"scroll {entry.ref if entry else direction}"
        settled = await actions.send_and_settle(entry, [], settle_s, deadline, expression=expression, awaited=what)
        if entry is not None:
            actions.checks.raise_for(entry, "scroll", settled.reply.error, deadline)
        changes = await actions.changes(before, settled)
    is_at_end = settled.reply.moved is False
    return ActionResult(
        action="scroll",
        ref=entry.ref if entry else None,
        changes=changes,
        cost=meter.cost(),
        notices=(f"nothing there can scroll further {direction}",) if is_at_end else (),
    )


def _removed_during_press(actions: Actions, entry: RefEntry, error: ScriptError, settled: Settled) -> tuple[str, ...]:
    """A notice if the page removed the element during the press, which may be its reaction to the press.

    Raises:
        StaleRef: The element is there and became something else.
        ActionFailed: See `OutcomeChecks.check_hit`.
    """
    try:
        actions.checks.check_hit(entry, settled)
        raise actions.refs.failure(entry, error, actions.snapshots.is_live)
    except RefNotFound:
        if not settled.reply.is_hit:
            raise
        return (
            f"{entry.ref} disappeared before the finger was lifted; the touch was cancelled and nothing was tapped",
        )


async def hover(actions: Actions, ref: str, deadline: Deadline, *, settle_s: float) -> ActionResult:
    """Rest a mouse pointer on the element: `:hover` and pointer events, no press."""
    entry = actions.look_up(ref)
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        x, y, _ = await actions.point(entry, "hover", deadline)
        moved = [("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": round(x, 2), "y": round(y, 2)})]
        await actions.send(moved, f"hover {entry.ref}", deadline)
        settled = await actions.send_and_settle(entry, [], settle_s, deadline)
        changes = await actions.changes(before, settled)
    return ActionResult(action="hover", ref=entry.ref, changes=changes, cost=meter.cost())


async def swipe(
    actions: Actions, direction: Direction, ref: str | None, distance_px: float, deadline: Deadline, *, settle_s: float
) -> ActionResult:
    """Move a finger in `direction` over the element, or over the center of the page."""
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
            # At most what the screen has room for, half of it on either side of the center.
            distance = min(distance, (width if dx else height) * 0.9)
            x, y = width / 2 - dx * distance / 2, height / 2 - dy * distance / 2
        what = f"swipe {entry.ref}" if entry else f"swipe {direction}"
        await slide(actions, what, [[(x, y)], [(x + dx * distance, y + dy * distance)]], deadline)
        settled = await actions.send_and_settle(entry, [], settle_s, deadline)
        if entry is not None:
            actions.checks.check_hit(entry, settled)
        changes = await actions.changes(before, settled)
    return ActionResult(action="swipe", ref=entry.ref if entry else None, changes=changes, cost=meter.cost())


async def pinch(
    actions: Actions, scale: float, ref: str | None, deadline: Deadline, *, settle_s: float
) -> ActionResult:
    """Move two fingers apart (`scale` over 1) or together, around the element or the center of the page."""
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
        far = min(x, y, width - x, height - y, 150.0) * 0.9
        near = far / max(factor, 1 / factor)
        start, end = (near, far) if factor > 1 else (far, near)
        fingers = [[(x - offset, y), (x + offset, y)] for offset in (start, end)]
        await slide(actions, f"pinch {entry.ref}" if entry else "pinch", fingers, deadline)
        settled = await actions.send_and_settle(entry, [], settle_s, deadline)
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
    """Move fingers from the first keyframe to the last; each move waits until the page acknowledged the one before."""
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
    """Put fingers down; the block lifts them. If the block fails, the touch is cancelled."""
    try:
        await actions.send([touch("touchStart", *points)], what, deadline)
        yield
    except BaseException:
        await _cancel_touch(actions, what, deadline)
        raise


async def _cancel_touch(actions: Actions, what: str, deadline: Deadline) -> None:
    """Cancel the touch, which produces no tap. Does nothing without a touch, or in a page that is gone."""
    with suppress(BridgeError):
        await actions.send([touch("touchCancel")], what, Deadline(deadline.timeout_s, time.monotonic() + _LIFT_S))


async def _viewport(actions: Actions, deadline: Deadline) -> tuple[float, float]:
    """The size of the visual viewport; also disarms a guard that an earlier action left for late input."""
    main = actions.attachment.state.main
    call = script_call("disarmedViewSize")
    found = await actions.attachment.evaluate(main.frame_id if main else "", call, timeout_s=deadline.remaining_s)
    return float(found[0]), float(found[1])

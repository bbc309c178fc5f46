"""`fill`: by script; by keys, for widgets that listen to keys; of ARIA's sliders and spin buttons by keys or a drag."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bridge.cost import Cost
from bridge.deadline import Deadline
from bridge.errors import ActionFailed, InvalidValue, NotEditable
from bridge.page.input.actions import Actions
from bridge.page.input.gestures import slide
from bridge.page.input.keyboard import press_key, type_text
from bridge.page.results import ActionResult, Changes
from bridge.page.snapshots.refs import RefEntry
from bridge.snapshot.injected import script_call

# Roles with a value between two bounds (WAI-ARIA 1.3 §5.3.1).
_RANGES = frozenset({"slider", "spinbutton", "scrollbar", "separator"})
# More presses than this are a drag first.
_MOST_PRESSES = 100
_MOST_TRIES = 8
_QUICK_S = 0.2

_Key = Literal["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Home", "End"]


async def fill(
    actions: Actions, ref: str, value: str, deadline: Deadline, *, settle_s: float, as_keys: bool = False
) -> ActionResult:
    """Replace the content of a control: one round trip, unless it is a slider of the page's own or `as_keys`.

    Raises:
        NotEditable: The element takes no text and is no slider or spin button with a value.
        InvalidValue: It takes another format, or cannot be moved to this value.
    """
    if as_keys:
        return await type_text(actions, ref, value, deadline, settle_s=settle_s, replaces=True)
    try:
        return await actions.scripted(ref, "fill", {"value": value}, deadline, settle_s=settle_s)
    except NotEditable:
        entry = actions.look_up(ref)
        if entry.role not in _RANGES:
            raise
        return await _set_range(actions, entry, value, deadline, settle_s=settle_s)


@dataclass(frozen=True, slots=True)
class _Range:
    """The state of a slider or spin button.

    Attributes:
        way_px: How far its thumb can be dragged; 0 if it has none.
    """

    now: float
    least: float
    most: float
    is_vertical: bool
    way_px: float


async def _set_range(
    actions: Actions, entry: RefEntry, value: str, deadline: Deadline, *, settle_s: float
) -> ActionResult:
    """Move a slider or spin button: by keys as ARIA's patterns have them, else by dragging its thumb."""
    try:
        want = float(value)
    except ValueError:
        want = math.nan
    if not math.isfinite(want):
        raise InvalidValue(f"{entry.label}: takes a number.", ref=entry.ref)
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        state = await _read(actions, entry, deadline)
        if not state.least <= want <= state.most:
            raise InvalidValue(f"{entry.label}: takes a number from {state.least:g} to {state.most:g}.", ref=entry.ref)
        await _move(actions, entry, state, want, deadline)
        settled = await actions.send_and_settle(None, [], settle_s, deadline, frame_id=entry.frame_id)
        changes = await actions.changes(before, settled)
        state = await _read(actions, entry, deadline)
    if not math.isclose(state.now, want, abs_tol=1e-6):
        raise InvalidValue(
            f"{entry.label}: it could not be moved to {want:g} and is now at {state.now:g}.",
            ref=entry.ref,
            changes=changes.to_json(),
        )
    return _result(entry, changes, meter.cost(), state)


def _result(entry: RefEntry, changes: Changes, cost: Cost, state: _Range) -> ActionResult:
    return ActionResult(action="fill", ref=entry.ref, changes=changes, cost=cost, value=f"{state.now:g}")


async def _read(actions: Actions, entry: RefEntry, deadline: Deadline) -> _Range:
    call = script_call("onElement", entry.local, "rangeState")
    found = await actions.evaluate(entry, call, f"fill {entry.ref}", deadline)
    if not isinstance(found, Mapping):
        raise actions.refs.failure(entry, {"code": "ref_not_found"}, actions.snapshots.is_live)
    if not isinstance(now := found.get("now"), int | float):
        raise NotEditable(f"{entry.label}: it has no value that could be filled (aria-valuenow).", ref=entry.ref)
    least, most = found.get("min"), found.get("max")
    return _Range(
        now=float(now),
        least=float(least) if isinstance(least, int | float) else -math.inf,
        most=float(most) if isinstance(most, int | float) else math.inf,
        is_vertical=found.get("isVertical") is True,
        way_px=float(found.get("way") or 0),
    )


async def _move(actions: Actions, entry: RefEntry, state: _Range, want: float, deadline: Deadline) -> None:
    """Press keys while they bring the value nearer; drag where they do not, or where the way is long."""
    takes_keys = True
    for _ in range(_MOST_TRIES):
        if math.isclose(state.now, want, abs_tol=1e-6):
            return
        nearer = state
        if takes_keys:
            nearer = await _by_keys(actions, entry, state, want, deadline)
            takes_keys = nearer.now != state.now
        if not takes_keys and state.way_px:
            nearer = await _by_drag(actions, entry, state, want, deadline)
        if nearer.now == state.now:
            return
        state = nearer


async def _by_keys(actions: Actions, entry: RefEntry, state: _Range, want: float, deadline: Deadline) -> _Range:
    """To a bound by its key; elsewhere one press, which shows the step, and as many more as are missing."""
    if want in (state.least, state.most):
        moved = await _press(actions, entry, "Home" if want == state.least else "End", 1, deadline)
        if moved.now != state.now:
            return moved
    is_up = want > state.now
    key: _Key = (
        ("ArrowUp" if is_up else "ArrowDown")
        if entry.role == "spinbutton" or state.is_vertical
        else ("ArrowRight" if is_up else "ArrowLeft")
    )
    moved = await _press(actions, entry, key, 1, deadline)
    step = moved.now - state.now
    if step == 0 or (step > 0) != is_up:
        return moved
    presses = math.floor((want - moved.now) / step + 1e-6)
    if presses > _MOST_PRESSES and moved.way_px:
        moved = await _by_drag(actions, entry, moved, want, deadline)
        presses = math.floor((want - moved.now) / step + 1e-6)
    return await _press(actions, entry, key, min(presses, _MOST_PRESSES), deadline) if presses > 0 else moved


async def _press(actions: Actions, entry: RefEntry, key: _Key, times: int, deadline: Deadline) -> _Range:
    await press_key(actions, key, entry.ref, deadline, settle_s=_QUICK_S, times=times)
    return await _read(actions, entry, deadline)


async def _by_drag(actions: Actions, entry: RefEntry, state: _Range, want: float, deadline: Deadline) -> _Range:
    """Drag the thumb by its part of the way; what was dragged once too far or too short is dragged again."""
    span = state.most - state.least
    if not math.isfinite(span) or span <= 0:
        return state
    x, y, _ = await actions.point(entry, "drag", deadline)
    by_px = (want - state.now) / span * state.way_px
    end = (x, y - by_px) if state.is_vertical else (x + by_px, y)
    await slide(actions, f"fill {entry.ref}", [[(x, y)], [end]], deadline)
    settled = await actions.send_and_settle(entry, [], _QUICK_S, deadline)
    if settled.reply.blocked_by is not None:
        raise ActionFailed(f"{entry.label}: the drag would have begun on {settled.reply.blocked_by}.", ref=entry.ref)
    return await _read(actions, entry, deadline)

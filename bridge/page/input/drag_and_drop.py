"""Drag and drop from one frame into another, as the browser itself does it: by mouse, with its own data.

Scripts of ours are in one document each, and a DataTransfer belongs to one; the browser carries what is dragged from
renderer to renderer. With `Input.setInterceptDrags` it hands that over to us instead of to the window system.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from bridge.deadline import Deadline, finish
from bridge.errors import ActionFailed, DeadlineExceeded, ProtocolError, Unsupported
from bridge.page.input.actions import Actions
from bridge.page.snapshots.refs import RefEntry

_STARTS_S = 2.0
_END_S = 1.0
# A press becomes a drag after some pixels.
_FIRST_STEPS_PX = (3.0, 12.0)


async def carry(
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

"""`press` and `type`: key events as a keyboard sends them, so that masks, suggestions and shortcuts see them.

Keys go to the focused element. With a ref they go to its element or nowhere: the element has to take the focus, and a
guard (injected_js/src/checks) stops keys that would arrive elsewhere, unless the page itself moved the focus within
the frame in response to one of them. The guard is armed in every frame, because a frame cannot see where the focus came
from: for an element's keys every other frame takes none. No key opens a system dialog, with or without a ref.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, ExecutionContextDestroyed, UsageError
from bridge.page.input.actions import DISARM, Actions, password_notices, prepare_options
from bridge.page.input.keys import key_events, opens_popup, parse_chord, typing_commands
from bridge.page.results import ActionResult
from bridge.page.snapshots.refs import RefEntry, document_gone
from bridge.page.target.attachment import Attachment
from bridge.snapshot.injected import script_call

_OPEN_NOTHING, _TAKE_NOTHING = (script_call("awaitKeys", keys) for keys in (1, 2))
_STAND_DOWN_S = 1.0


async def press_key(
    actions: Actions, chord: str, ref: str | None, deadline: Deadline, *, settle_s: float, times: int = 1
) -> ActionResult:
    """Press a key or chord on what has the focus, or on `ref` after focusing it: two round trips, however many `times`.

    Raises:
        UsageError: Not a valid key.
        ActionFailed: The element does not accept or keep the focus.
        Unsupported: The key would open a system dialog.
    """
    events = key_events(parse_chord(chord))
    opens = any(map(opens_popup, events))
    commands = [("Input.dispatchKeyEvent", event) for event in events] * times
    entry = actions.look_up(ref) if ref is not None else None
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        if entry is not None:
            # Focusing armed the guard for the key, so settling can be sent along with it.
            await focus(actions, entry, deadline, action="focus", opens=opens)
            settled = await actions.send_and_settle(entry, commands, settle_s, deadline, expect="keydown")
            actions.checks.check_keys(entry, settled)
        else:
            what = f"press {chord}"
            frame_id = await focused_frame(actions, what, deadline) if opens else None
            if frame_id is None:
                # Input overtakes scripts in the renderer: settling that is sent along may run after the key.
                await actions.send(commands, what, deadline)
                commands = []
            expect = "keydown" if commands else None
            settled = await actions.send_and_settle(
                None, commands, settle_s, deadline, expect=expect, frame_id=frame_id
            )
            actions.checks.check_no_picker(what, settled)
        changes = await actions.changes(before, settled)
    return ActionResult(action="press", ref=entry.ref if entry else None, changes=changes, cost=meter.cost())


async def type_text(
    actions: Actions, ref: str | None, text: str, deadline: Deadline, *, settle_s: float, replaces: bool = False
) -> ActionResult:
    """Type at the end of the element's text; without a ref, into the focused element.

    Args:
        replaces: Select what is there first, by Control+A. The result is that of `fill`.

    Raises:
        NotEditable: The element accepts no text.
        ActionFailed: The element does not accept or keep the focus. Text typed until then stays.
        Unsupported: A space or line break would open the system dialog of the focused control. Text typed until then
            stays.
    """
    checked_text("text", text)
    entry = actions.look_up(ref) if ref is not None else None
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        commands = typing_commands(text)
        if replaces:
            first = [*key_events(parse_chord("Control+A")), *(() if text else key_events(parse_chord("Delete")))]
            commands = [*(("Input.dispatchKeyEvent", event) for event in first), *commands]
        if entry is not None:
            await focus(actions, entry, deadline, action="type", then="caretToEnd", leaves="\t" in text)
        elif any(opens_popup(event) for method, event in commands if method == "Input.dispatchKeyEvent"):
            await focused_frame(actions, "typing", deadline)
        # Input overtakes scripts in the renderer: settling that is sent along could end before the last key.
        try:
            await actions.send(commands, f"typing into {entry.ref}" if entry else "typing", deadline)
        except BridgeError:
            await stand_down(actions.attachment)
            raise
        settled = await actions.send_and_settle(entry, [], settle_s, deadline, after="typedValue")
        if entry is None:
            actions.checks.check_no_picker("typing", settled)
        elif commands:
            actions.checks.check_keys(entry, settled)
        changes = await actions.changes(before, settled)
    value = settled.reply.after
    return ActionResult(
        action="fill" if replaces else "type",
        ref=entry.ref if entry else None,
        changes=changes,
        cost=meter.cost(),
        value=value if isinstance(value, str) else None,
        notices=password_notices(value),
    )


async def focus(
    actions: Actions,
    entry: RefEntry,
    deadline: Deadline,
    *,
    action: str,
    opens: bool = False,
    then: str = "",
    leaves: bool = False,
) -> None:
    """Focus the element once it can take `action`, check that it has the focus, and arm the guard over the next keys.

    Args:
        opens: One of the keys opens pickers.
        then: The script's function that is called with the element after focusing.
        leaves: The keys themselves may move the focus to another frame.

    Raises:
        ActionFailed: Another element has the focus.
        Unsupported: The key would open a system dialog.
    """
    preparing = prepare_options(action, deadline, hit=False, keys=True, opens=opens)
    call = script_call("focusForKeys", entry.local, action, preparing, then)
    attachment = actions.attachment
    frames = [frame for frame in attachment.state.ordered_frames() if not leaves or frame.frame_id == entry.frame_id]
    outcomes = await attachment.evaluate_in_frames(
        frames,
        lambda frame: call if frame.frame_id == entry.frame_id else _TAKE_NOTHING,
        main_frame_id=entry.frame_id,
        timeout_s=deadline.remaining_s,
    )
    by_frame = {frame.frame_id: outcome for frame, outcome in zip(frames, outcomes, strict=True)}
    focused = by_frame.get(entry.frame_id, ExecutionContextDestroyed("the frame is gone"))
    error = focused.get("error") if isinstance(focused, Mapping) else None
    if error or isinstance(focused, BaseException):
        await stand_down(attachment)
    if isinstance(focused, ExecutionContextDestroyed):
        raise document_gone(entry) from focused
    if isinstance(focused, DeadlineExceeded):
        raise deadline.exceeded(f"{action} {entry.ref}", "the page did not respond") from focused
    if isinstance(focused, BaseException):
        raise focused
    actions.checks.raise_for(entry, action, error, deadline)


async def focused_frame(actions: Actions, what: str, deadline: Deadline) -> str | None:
    """The id of the frame that has the focus, or None; arms the guard over the keys of `what`. One round trip.

    Raises:
        Unsupported: The keys could open the system dialog of the focused control.
        DeadlineExceeded: The page did not respond.
    """
    attachment = actions.attachment
    frames, main = attachment.state.ordered_frames(), attachment.state.main
    replies = await attachment.evaluate_in_frames(
        frames,
        lambda _: _OPEN_NOTHING,
        main_frame_id=main.frame_id if main else "",
        timeout_s=deadline.remaining_s,
    )
    found = None
    try:
        for frame, reply in zip(frames, replies, strict=True):
            if isinstance(reply, DeadlineExceeded) and frame is main:
                raise deadline.exceeded(what, "the page did not respond")
            if isinstance(reply, BaseException) and not isinstance(reply, BridgeError | ExecutionContextDestroyed):
                raise reply
            if isinstance(reply, Mapping):
                actions.checks.raise_for_picker(what, frame.frame_id, reply.get("error"))
                found = frame.frame_id if reply.get("isHere") else found
    except BridgeError:
        await stand_down(attachment)
        raise
    return found


async def stand_down(attachment: Attachment) -> None:
    """Disarm the guard over keys that were not sent or not accepted."""
    calls = [
        attachment.evaluate(frame.frame_id, DISARM, timeout_s=_STAND_DOWN_S)
        for frame in attachment.state.ordered_frames()
    ]
    await asyncio.gather(*calls, return_exceptions=True)


def checked_text(name: str, text: object) -> str:
    """Validate the text that a caller passed as the argument `name`.

    Raises:
        UsageError: Not a string.
    """
    if not isinstance(text, str):
        raise UsageError(f"{name} is {text!r}; it must be a string.")
    return text

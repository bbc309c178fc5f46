"""`press` and `type`: keys as a person at a keyboard presses them, so that masks, suggestions and shortcuts see them.

Keys go to what has the focus. With a ref they go to its element or nowhere: it has to take the focus, and the guard
that is armed then (injected_js/src/checks/guard.js) stops what would arrive elsewhere, unless the page itself has
moved the focus within the frame, in answer to one of the keys. No key opens a dialog of the system's, with or without.
"""

from __future__ import annotations

from bridge.deadline import Deadline
from bridge.errors import BridgeError, UsageError
from bridge.page.input.actions import Actions, unshown
from bridge.page.input.key_guard import focus, focused_frame, stand_down
from bridge.page.input.keys import key_events, opens_popup, parse_chord, typing_commands
from bridge.page.results import ActionResult


async def press_key(
    actions: Actions, chord: str, ref: str | None, *, timeout_s: float, settle_s: float
) -> ActionResult:
    """Press a key or chord on what has the focus, or on `ref` after focusing it: two round trips.

    Raises:
        UsageError: No key.
        ActionFailed: The element does not take or keep the focus.
        Unsupported: The key would open a dialog of the system's; see `key_guard`.
    """
    deadline = Deadline.after(timeout_s)
    events = key_events(parse_chord(chord))
    opens = any(map(opens_popup, events))
    commands = [("Input.dispatchKeyEvent", event) for event in events]
    entry = actions.look_up(ref) if ref is not None else None
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        if entry is not None:
            # Focusing has armed the watch for the key, so settling may travel with it.
            await focus(actions, entry, deadline, action="focus", opens=opens)
            settled = await actions.act_and_settle(entry, "keydown", commands, settle_s, deadline)
            actions.verdicts.check_keys(entry, settled)
        else:
            what = f"press {chord}"
            at = await focused_frame(actions, what, deadline) if opens else None
            if at is None:
                # Input overtakes scripts in the renderer: settling that is sent along may come after the key.
                await actions.send(commands, what, deadline)
                commands = []
            expect = "keydown" if commands else None
            settled = await actions.act_and_settle(None, expect, commands, settle_s, deadline, frame_id=at)
            actions.verdicts.check_pickers(what, settled)
        changes = await actions.changes(before, settled)
    return ActionResult(action="press", ref=entry.ref if entry else None, changes=changes, cost=meter.cost())


async def type_text(actions: Actions, ref: str | None, text: str, *, timeout_s: float, settle_s: float) -> ActionResult:
    """Type after what is there already; without a ref, where the focus is.

    Raises:
        NotEditable: The element takes no text.
        ActionFailed: The element does not take or keep the focus; what was typed until then stays.
        Unsupported: A space or line end would open a dialog of the system's where the focus is; what was typed until
            then stays.
    """
    checked_text("text", text)
    deadline = Deadline.after(timeout_s)
    entry = actions.look_up(ref) if ref is not None else None
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        commands = typing_commands(text)
        if entry is not None:
            await focus(actions, entry, deadline, action="type", also="el=>el&&a.caretToEnd(el)", leaves="\t" in text)
        elif any(opens_popup(event) for method, event in commands if method == "Input.dispatchKeyEvent"):
            await focused_frame(actions, "typing", deadline)
        # Input overtakes scripts in the renderer: settling that is sent along could be over before the last key.
        try:
            await actions.send(commands, f"typing into {entry.ref}" if entry else "typing", deadline)
        except BridgeError:
            await stand_down(actions.attachment)
            raise
        settled = await actions.act_and_settle(entry, None, [], settle_s, deadline, after="el=>el&&a.typedValue(el)")
        if entry is None:
            actions.verdicts.check_pickers("typing", settled)
        elif text:
            actions.verdicts.check_keys(entry, settled)
        changes = await actions.changes(before, settled)
    value = settled.acted.get("after")
    return ActionResult(
        action="type",
        ref=entry.ref if entry else None,
        changes=changes,
        cost=meter.cost(),
        value=value if isinstance(value, str) else None,
        notices=unshown(value),
    )


def checked_text(name: str, text: object) -> str:
    """What is to be written.

    Raises:
        UsageError: No text; `name` is the argument's.
    """
    if not isinstance(text, str):
        raise UsageError(f"{name} is {text!r}; it must be a string.")
    return text

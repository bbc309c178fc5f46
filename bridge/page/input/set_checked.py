"""`check` and `uncheck`: tap only if the state differs, and check the state afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from bridge.deadline import Deadline
from bridge.errors import action_error
from bridge.page.input.actions import Actions
from bridge.page.results import ActionResult, Changes
from bridge.page.snapshots.refs import RefEntry
from bridge.snapshot.injected import script_call

# Its value: True, False or "mixed"; None for an element that cannot be checked; "gone" without an element.
_STATE = "checkedState"
# Time for a page that changes its checkbox only after a response from its server.
_LATE_S = 1.0


async def set_checked(actions: Actions, ref: str, want: bool, deadline: Deadline, *, settle_s: float) -> ActionResult:
    """Two round trips if a tap is needed, one if the element is in that state already.

    Raises:
        NotCheckable, NotUncheckable: Not a checkbox, radio button or switch, or it was tapped and did not change.
    """
    action: Literal["check", "uncheck"] = "check" if want else "uncheck"
    entry = actions.look_up(ref)
    notices: tuple[str, ...] = ()
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        ready = await actions.prepare(entry, action, deadline, first=("checkedWithoutTap", want))
        if ready.is_skipped:
            if ready.first is None:
                raise _refused(entry, action, "it is not a checkbox, radio button or switch")
            if ready.first == "radio":
                raise _refused(entry, action, "a radio button is unchecked by checking another one")
            changes = Changes(text=f"no change: it was already {_words_of(want)}", settled="quiet")
            return ActionResult(action=action, ref=entry.ref, changes=changes, cost=meter.cost(), checked=want)
        settled = await actions.tap(entry, ready, action, settle_s, deadline, after=_STATE)
        changes = await actions.changes(before, settled)
        state = settled.reply.after
        if state is not want and state != "gone" and settled.reply.reason != "navigation":
            state = await _state_later(actions, entry, want, deadline)
            if state is not want and state != "gone":
                raise _refused(
                    entry, action, f"it was tapped and is still {_words_of(state)}", changes=changes.to_json()
                )
        if state is not want:
            notices = (f"{entry.ref} disappeared from the page, so it is unknown whether it is {_words_of(want)}",)
    return ActionResult(
        action=action,
        ref=entry.ref,
        changes=changes,
        cost=meter.cost(),
        checked=want if state is want else None,
        notices=notices,
    )


async def _state_later(actions: Actions, entry: RefEntry, want: bool, deadline: Deadline) -> Any:
    """Wait for the wanted state; returns the state at the end."""
    wait_s = min(_LATE_S, deadline.remaining_s)
    expression = script_call("waitChecked", entry.local, want, round(wait_s * 1000))
    found = await actions.evaluate(entry, expression, f"{entry.ref} to change", Deadline.after(wait_s))
    return found.get("state") if isinstance(found, Mapping) else None


def _words_of(state: object) -> str:
    return "partly checked" if state == "mixed" else "checked" if state is True else "not checked"


def _refused(entry: RefEntry, action: str, why: str, **details: Any) -> Exception:
    code = "not_checkable" if action == "check" else "not_uncheckable"
    return action_error(code, f"{entry.label}: {why}.", ref=entry.ref, **details)

"""`check` and `uncheck`: tap only when the state differs, and look afterwards whether it is so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from bridge.deadline import Deadline
from bridge.errors import action_error
from bridge.page.input.actions import Actions
from bridge.page.results import ActionResult, Changes
from bridge.page.snapshots.refs import RefEntry

# true, false or "mixed"; null for what cannot be checked; "gone" without an element.
_STATE = "el=>el?a.checkedState(el):'gone'"
# A page that checks its box only after it has asked its server is given this long.
_LATE_S = 1.0


async def set_checked(actions: Actions, ref: str, want: bool, deadline: Deadline, *, settle_s: float) -> ActionResult:
    """Two round trips where a tap is needed, one where the state is there already.

    Raises:
        NotCheckable, NotUncheckable: No checkbox, radio button or switch; or it was tapped and did not take the state.
    """
    action: Literal["check", "uncheck"] = "check" if want else "uncheck"
    entry = actions.look_up(ref)
    notices: tuple[str, ...] = ()
    wanted = json.dumps(want)
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        first = f"el=>el?a.checkedWithoutTap(el,{wanted}):undefined"
        ready = await actions.prepare(entry, action, deadline, first=first)
        if "first" in ready:
            found = ready["first"]
            if found is None:
                raise _refused(entry, action, "it is no checkbox, radio button or switch")
            if found == "radio":
                raise _refused(entry, action, "a radio button is unchecked by checking another one")
            changes = Changes(text=f"no change: it was {_said(want)} already", settled="quiet")
            return ActionResult(action=action, ref=entry.ref, changes=changes, cost=meter.cost(), checked=want)
        settled = await actions.tap(entry, ready, action, settle_s, deadline, after=_STATE)
        changes = await actions.changes(before, settled)
        state = settled.acted.get("after")
        if state is not want and state != "gone" and settled.acted.get("reason") != "navigation":
            state = await _state_later(actions, entry, want, deadline)
            if state is not want and state != "gone":
                raise _refused(entry, action, f"it was tapped and is {_said(state)}", changes=changes.to_json())
        if state is not want:
            notices = (f"{entry.ref} is no longer on the page, so whether it is {_said(want)} could not be seen",)
    return ActionResult(
        action=action,
        ref=entry.ref,
        changes=changes,
        cost=meter.cost(),
        checked=want if state is want else None,
        notices=notices,
    )


async def _state_later(actions: Actions, entry: RefEntry, want: bool, deadline: Deadline) -> Any:
    """The state as soon as it is the wanted one, or what it still is a while later."""
    wait_s = min(_LATE_S, deadline.remaining_s)
    expression = f"__agentBrowser.waitChecked({json.dumps(entry.local)},{json.dumps(want)},{round(wait_s * 1000)})"
    found = await actions.evaluate(entry, expression, f"{entry.ref} to change", Deadline.after(wait_s))
    return found.get("state") if isinstance(found, Mapping) else None


def _said(state: object) -> str:
    return "partly checked" if state == "mixed" else "checked" if state is True else "not checked"


def _refused(entry: RefEntry, action: str, why: str, **details: Any) -> Exception:
    code = "not_checkable" if action == "check" else "not_uncheckable"
    return action_error(code, f"{entry.ref} ({entry.described()}): {why}.", ref=entry.ref, **details)

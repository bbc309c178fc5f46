"""`scroll`: by script, in one round trip. A finger's way of scrolling is `swipe`."""

from __future__ import annotations

import json

from bridge.deadline import Deadline
from bridge.errors import UsageError
from bridge.page.input.actions import Actions, settle_time
from bridge.page.input.touch import Direction, checked_px, unit_vector
from bridge.page.results import ActionResult
from bridge.page.snapshots.element_handles import on_element


async def scroll(
    actions: Actions, direction: Direction, amount: float, ref: str | None, deadline: Deadline, *, settle_s: float
) -> ActionResult:
    """Scroll by CSS pixels: what scrolls around the element or in the middle of the page: one round trip."""
    dx, dy = unit_vector(direction)
    distance = checked_px(amount)
    if not 1 <= distance <= 1_000_000:
        raise UsageError(f"amount is {amount!r}; it must be from 1 to 1000000.")
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

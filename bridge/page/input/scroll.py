"""`scroll`: scrolls by script (`Element.scrollBy`), without touch events, in one round trip. `swipe` moves a finger."""

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
    """Scroll the nearest scrollable ancestor of the element, or of the center of the page, by CSS pixels."""
    dx, dy = unit_vector(direction)
    distance = checked_px(amount)
    if not 1 <= distance <= 1_000_000:
        raise UsageError(f"amount is {amount!r}; it must be from 1 to 1000000.")
    entry = actions.look_up(ref) if ref is not None else None
    by = f"{dx * distance},{dy * distance}"
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        settle = f"a.settle({actions.settle_options(settle_time(settle_s, deadline))})"
        if entry is None:
            body = f"const m=a.scrollFrom(null,{by});"
        else:
            check = f"a.prepare({json.dumps(entry.local)},'scroll',{{timeoutMs:300,hit:false}})"
            ready = f"const p=await {check};if(p.error)return p;"
            body = f"{ready}const m={on_element(f'el=>a.scrollFrom(el,{by})', entry.local)};"
        expression = f"(async a=>{{{body}return Object.assign(await {settle},m)}})(__agentBrowser)"
        what = f"scroll {entry.ref if entry else direction}"
        settled = await actions.settle(entry, [], settle_s, deadline, expression=expression, awaited=what)
        if entry is not None:
            actions.checks.raise_for(entry, "scroll", settled.reply.error, deadline)
        changes = await actions.changes(before, settled)
    is_at_end = settled.reply.moved is False
    return ActionResult(
        action="scroll",
        ref=entry.ref if entry else None,
        changes=changes,
        cost=meter.cost(),
        notices=(f"nothing there scrolls further {direction}",) if is_at_end else (),
    )

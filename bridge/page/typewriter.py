"""`type`: text key by key, as a person at a keyboard, so that masks, suggestions and shortcuts see it."""

from __future__ import annotations

from bridge.deadline import Deadline
from bridge.errors import UsageError
from bridge.page.actions import Actions, unshown
from bridge.page.keys import typing_commands
from bridge.page.results import ActionResult

# The end of what is there, where a person goes on writing.
_CARET_TO_END = """(el=>{
  if(!el)return;
  if(el.isContentEditable){const s=getSelection();s.selectAllChildren(el);s.collapseToEnd()}
  else try{const n=el.value.length;el.setSelectionRange(n,n)}catch(e){}
})"""
_VALUE = """(el=>el?el.type=='password'?{filled:!!el.value}:el.isContentEditable?el.innerText:el.value:null)"""


async def type_text(actions: Actions, ref: str | None, text: str, *, timeout_s: float, settle_s: float) -> ActionResult:
    """Type after what is there already; without a ref, where the focus is.

    Raises:
        NotEditable: The element takes no text.
    """
    if not isinstance(text, str):
        raise UsageError(f"text is {text!r}; it must be a string.")
    deadline = Deadline.after(timeout_s)
    entry = actions.look_up(ref) if ref is not None else None
    with actions.attachment.connection.measure() as meter:
        before = actions.before()
        if entry is not None:
            await actions.focus(entry, deadline, action="type", also=_CARET_TO_END)
        # Input overtakes scripts in the renderer: settling that is sent along could be over before the last key.
        await actions.send(typing_commands(text), f"typing into {entry.ref}" if entry else "typing", deadline)
        settled = await actions.act_and_settle(entry, None, [], settle_s, deadline, after=_VALUE)
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

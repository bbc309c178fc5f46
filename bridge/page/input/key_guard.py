"""The guard over keys, armed in every frame before they are sent: where one arrives, it is decided what it may do.

Keys go to what has the focus, and the page may move that from frame to frame while they are on their way. A frame
cannot see where the focus has come from; so for an element's keys every other frame takes none, and keys without an
element open nothing anywhere that is a dialog of the system's (injected_js/src/checks/guard.js).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded
from bridge.page.input.actions import Actions, focus_away, prepare_options
from bridge.page.snapshots.element_calls import on_element
from bridge.page.snapshots.refs import RefEntry
from bridge.page.target.attachment import Attachment, WorldGone
from bridge.page.target.frame_calls import ask_frames
from bridge.page.target.frames import Frame

_OPEN_NOTHING, _TAKE_NOTHING = (f"__agentBrowser.awaitKeys({keys})" for keys in (1, 2))
_STAND_DOWN_S = 1.0


async def focus(
    actions: Actions,
    entry: RefEntry,
    deadline: Deadline,
    *,
    action: str,
    opens: bool = False,
    also: str = "",
    leaves: bool = False,
) -> None:
    """Focus the element once it can take `action`, see that it is, and arm the guard over the keys that come.

    Args:
        opens: A key that opens pickers is among them.
        also: JavaScript of the element, run after.
        leaves: The keys themselves may take the focus to another frame.

    Raises:
        ActionFailed: Something else has the focus.
        Unsupported: The key would open a dialog that ends the process.
    """
    local = json.dumps(entry.local)
    options = prepare_options(action, deadline, hit=False, keys=True, opens=opens)
    late = f"{on_element(also, entry.local)};" if also else ""
    call = (
        f"(async a=>{{const p=await a.prepare({local},{json.dumps(action)},{options});if(p.error)return p;"
        f"const r=await a.action({local},'focus',{{}});if(!r.success)return r;{late}{focus_away(entry)}return r}})"
        "(__agentBrowser)"
    )
    attachment = actions.attachment

    async def ask(frame: Frame) -> Any:
        if frame.frame_id == entry.frame_id:
            return await actions.evaluate(entry, call, f"{action} {entry.ref}", deadline)
        return await attachment.evaluate(frame.frame_id, _TAKE_NOTHING, timeout_s=deadline.remaining_s)

    frames = [frame for frame in attachment.state.ordered_frames() if not leaves or frame.frame_id == entry.frame_id]
    outcomes = await ask_frames(attachment, frames, ask, lead=entry.frame_id)
    answers = {frame.frame_id: outcome for frame, outcome in zip(frames, outcomes, strict=True)}
    done = answers.get(entry.frame_id, WorldGone("the frame is gone"))
    problem = done.get("error") if isinstance(done, Mapping) else None
    if problem or isinstance(done, BaseException):
        await stand_down(attachment)
    if isinstance(done, WorldGone):
        raise actions.left_behind(entry) from done
    if isinstance(done, BaseException):
        raise done
    actions.verdicts.raise_for(entry, action, problem, deadline)


async def focused_frame(actions: Actions, what: str, deadline: Deadline) -> str | None:
    """The id of the frame that has the focus, if one says so, with the guard armed over `what`: one round trip.

    Raises:
        Unsupported: It stands on a control whose dialog the keys could open.
        DeadlineExceeded: The page did not answer.
    """
    attachment = actions.attachment
    frames, main = attachment.state.ordered_frames(), attachment.state.main
    replies = await ask_frames(
        attachment,
        frames,
        lambda frame: attachment.evaluate(frame.frame_id, _OPEN_NOTHING, timeout_s=deadline.remaining_s),
        lead=main.frame_id if main else "",
    )
    found = None
    try:
        for frame, reply in zip(frames, replies, strict=True):
            if isinstance(reply, DeadlineExceeded) and frame is main:
                raise deadline.exceeded(what, "the page did not answer")
            if isinstance(reply, BaseException) and not isinstance(reply, BridgeError | WorldGone):
                raise reply
            if isinstance(reply, Mapping):
                actions.verdicts.raise_for_picker(what, frame.frame_id, reply.get("error"))
                found = frame.frame_id if reply.get("isHere") else found
    except BridgeError:
        await stand_down(attachment)
        raise
    return found


async def stand_down(attachment: Attachment) -> None:
    """Disarm the guard over keys that were not sent, or not taken."""
    calls = [
        attachment.evaluate(frame.frame_id, "__agentBrowser.settle({settleMs:0})", timeout_s=_STAND_DOWN_S)
        for frame in attachment.state.ordered_frames()
    ]
    await asyncio.gather(*calls, return_exceptions=True)

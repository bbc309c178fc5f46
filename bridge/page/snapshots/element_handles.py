"""Resolves a ref to its element: in JavaScript, as a CDP object handle, and as a box in the view."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import CaptureFailed, NotVisible, ProtocolError, RefNotFound, ScriptFailed, TransportError
from bridge.page.snapshots.refs import RefEntry, RefTable
from bridge.page.snapshots.take import Snapshots
from bridge.page.target.attachment import CONTEXT_NAME, Attachment
from bridge.page.target.execution_contexts import ExecutionContext
from bridge.page.target.frame_geometry import to_top_viewport
from bridge.snapshot.injected import script_call


@asynccontextmanager
async def element_handle(
    attachment: Attachment, refs: RefTable, snapshots: Snapshots, ref: str, deadline: Deadline
) -> AsyncIterator[tuple[RefEntry, str]]:
    """The entry of the ref and a CDP object id of its element, which is released at the end of the block.

    Raises:
        RefNotFound, StaleRef: The element is gone or became something else.
    """
    entry = refs.look_up(ref, snapshots.is_live)
    object_id = await _object_of(attachment, refs, snapshots, entry, deadline)
    try:
        yield entry, object_id
    finally:
        release(attachment, object_id, attachment.state.session_of(entry.frame_id))


async def _object_of(
    attachment: Attachment, refs: RefTable, snapshots: Snapshots, entry: RefEntry, deadline: Deadline
) -> str:
    context = attachment.state.context_of(entry.frame_id, CONTEXT_NAME)
    if context is None:
        raise RefNotFound(f"{entry.label} is stale: its frame is reloading.", ref=entry.ref)
    found = await evaluate_handle(attachment, context, script_call("element", entry.local), deadline)
    if found.get("subtype") == "node":
        return str(found["objectId"])
    failed = await attachment.evaluate(
        entry.frame_id, script_call("element", entry.local), timeout_s=deadline.remaining_s
    )
    error = failed.get("error") if isinstance(failed, dict) else None
    if not isinstance(error, dict):
        raise ScriptFailed(f"the script returned neither {entry.ref} nor an error")
    raise refs.failure(entry, error, snapshots.is_live)


async def evaluate_handle(
    attachment: Attachment, context: ExecutionContext, expression: str, deadline: Deadline
) -> dict[str, Any]:
    """The remote object of an expression's value."""
    reply = await attachment.call(
        "Runtime.evaluate",
        {"expression": expression, "contextId": context.context_id},
        timeout_s=deadline.remaining_s,
        session_id=context.session_id,
    )
    if "exceptionDetails" in reply:
        raise ScriptFailed(f"the injected script threw: {str(reply['exceptionDetails'].get('text', ''))[:200]}")
    result = reply.get("result")
    return result if isinstance(result, dict) else {}


def release(attachment: Attachment, object_id: str, session_id: str | None = None) -> None:
    """Release an object for the page's garbage collector, without waiting for the reply."""
    try:
        attachment.connection.send("Runtime.releaseObject", {"objectId": object_id}, session_id=session_id).abandon()
    except TransportError:
        return


async def box_in_view(
    attachment: Attachment, snapshots: Snapshots, entry: RefEntry, object_id: str, deadline: Deadline
) -> tuple[float, ...]:
    """Left, top, width and height of the element's border box in the top frame's viewport, in CSS pixels."""
    session_id = attachment.state.session_of(entry.frame_id)
    try:
        model = await attachment.call(
            "DOM.getBoxModel", {"objectId": object_id}, timeout_s=deadline.remaining_s, session_id=session_id
        )
        quad = [float(value) for value in model["model"]["border"]]
    except ProtocolError as error:
        raise NotVisible(f"{entry.label} has no box: {error.reason}", ref=entry.ref) from error
    except (KeyError, TypeError, ValueError) as error:
        raise CaptureFailed("the engine returned no box of the element") from error
    left, top = min(quad[0::2]), min(quad[1::2])
    width, height = max(quad[0::2]) - left, max(quad[1::2]) - top
    if width < 1 or height < 1:
        raise NotVisible(f"{entry.label} is {width:g} x {height:g} px", ref=entry.ref)
    if session_id is not None:  # each renderer reports boxes in the viewport of its own topmost frame
        left, top = await to_top_viewport(
            attachment,
            snapshots.frame_indexes,
            attachment.oopif_sessions.sessions.get(session_id, entry.frame_id),
            left,
            top,
            of=entry.label,
            timeout_s=deadline.remaining_s,
            allow_covered=True,
        )
    return left, top, width, height

"""Finds the elements whose click handlers a page's script has set, which our isolated world cannot see.

`DOMDebugger.getEventListeners` reports a document's listeners in one reply. Measured on saved pages of 7,000 and 49,000
elements it takes 5 ms and 150 ms, where `DOMSnapshot.captureSnapshot` with its `isClickable` takes 240 ms and 3.3 s.

The command is sent once for each tree, never with `pierce`: that also lists the nodes of child frames, and a renderer
crashes after such a node was resolved in another frame's world. Without it, only the listeners of the world that the
object belongs to are listed, so the document is taken from the page's world.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, ExecutionContextDestroyed, ProtocolError, ScriptFailed, TransportError
from bridge.page.target.attachment import CONTEXT_NAME, Attachment
from bridge.page.target.execution_contexts import ExecutionContext
from bridge.snapshot.injected import script_call

_CLICKS = frozenset(
    {"click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "dblclick", "contextmenu"}
)
# Each element costs a command. Pages with more handlers than this set them on every item of a long list.
_MAX_ELEMENTS = 1_000
_USE = "function(...elements){globalThis.__agentBrowser&&__agentBrowser.useHandlers(elements)}"


async def mark_click_handlers(attachment: Attachment, frame_ids: Sequence[str], deadline: Deadline) -> None:
    """Make these elements known to the script in each frame, for the next snapshot with `clickHandlers`.

    A frame that navigates, or whose renderer does not respond, is left as it is.
    """
    state = attachment.state
    worlds = [(state.context_of(frame_id, CONTEXT_NAME), state.main_context(frame_id)) for frame_id in frame_ids]
    outcomes = await asyncio.gather(
        *(
            _mark(attachment, context, page_world, deadline)
            for context, page_world in worlds
            if context is not None and page_world is not None
        ),
        return_exceptions=True,
    )
    for outcome in outcomes:
        if isinstance(outcome, BaseException) and not isinstance(
            outcome, ProtocolError | ScriptFailed | DeadlineExceeded | ExecutionContextDestroyed
        ):
            raise outcome


async def _mark(
    attachment: Attachment, context: ExecutionContext, page_world: ExecutionContext, deadline: Deadline
) -> None:
    group = f"click-handlers-{context.context_id}"  # one per frame: frames end at different times

    async def call(method: str, **params: Any) -> dict[str, Any]:
        return await attachment.call(method, params, timeout_s=deadline.remaining_s, session_id=context.session_id)

    async def evaluate(expression: str, where: ExecutionContext) -> str:
        reply = await call("Runtime.evaluate", expression=expression, contextId=where.context_id, objectGroup=group)
        return str(reply["result"]["objectId"])

    async def resolve(node_id: int, where: ExecutionContext) -> str | None:
        params = {"backendNodeId": node_id, "executionContextId": where.context_id, "objectGroup": group}
        try:
            return str((await call("DOM.resolveNode", **params))["object"]["objectId"])
        except ProtocolError:  # the node is gone
            return None

    async def shadow_roots() -> list[str]:
        """The open shadow roots, as objects of the page's world."""
        listed = await call(
            "Runtime.getProperties",
            objectId=await evaluate(script_call("openShadowRoots"), context),
            ownProperties=True,
        )
        roots = [
            item["value"]["objectId"] for item in listed["result"] if item.get("value", {}).get("subtype") == "node"
        ]
        nodes = await asyncio.gather(*(call("DOM.describeNode", objectId=root) for root in roots))
        objects = await asyncio.gather(*(resolve(found["node"]["backendNodeId"], page_world) for found in nodes))
        return [found for found in objects if found is not None]

    try:
        trees = [await evaluate("document", page_world), *await shadow_roots()]
        found = await asyncio.gather(
            *(call("DOMDebugger.getEventListeners", objectId=tree, depth=-1, pierce=False) for tree in trees)
        )
        node_ids = {
            listener["backendNodeId"]: None
            for listeners in found
            for listener in listeners["listeners"]
            if listener.get("type") in _CLICKS and "backendNodeId" in listener
        }
        objects = await asyncio.gather(*(resolve(node_id, context) for node_id in list(node_ids)[:_MAX_ELEMENTS]))
        await call(
            "Runtime.callFunctionOn",
            functionDeclaration=_USE,
            arguments=[{"objectId": found} for found in objects if found is not None],
            executionContextId=context.context_id,
        )
    except (KeyError, TypeError) as error:
        raise ScriptFailed("the engine did not report the document's event listeners") from error
    finally:
        with suppress(TransportError):
            attachment.connection.send(
                "Runtime.releaseObjectGroup", {"objectGroup": group}, session_id=context.session_id
            ).abandon()

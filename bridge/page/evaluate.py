"""The operator's own JavaScript in a page: `page.evaluate` and `locator.evaluate`. Never a model's or a page's.

Arguments and values travel as JSON. The source may end with a comment, so a line break follows it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from bridge.deadline import Deadline
from bridge.errors import ExecutionContextDestroyed, ProtocolError, ScriptFailed, UsageError
from bridge.page.snapshots.element_handles import element_handle, release
from bridge.page.target.attachment import Attachment
from bridge.page.target.execution_contexts import ExecutionContext

if TYPE_CHECKING:
    from bridge.page.operation import Operation
    from bridge.page.snapshots.refs import RefTable

ISOLATED_WORLD = "webview-bridge-operator"
# The expression is evaluated outside these functions, whose parameters would hide the page's variables of that name.
_VALUE = "((f,a)=>typeof f=='function'?f(a):f)((%s\n),%s)"
_OF_ELEMENTS = "(f=>function(isList,a,...all){return typeof f=='function'?f(isList?all:all[0],a):f})((%s\n))"
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}
_STACK_CHARS = 2_000
_STOPPED_S = 0.05


async def evaluate_in_frame(
    attachment: Attachment, frame_id: str, expression: str, arg: Any, is_isolated: bool, deadline: Deadline
) -> Any:
    """The value of an expression, or of a function that gets `arg`, in the document of a frame: one round trip.

    Raises:
        ScriptFailed: The script threw, or its value is not one that JSON can carry.
    """
    source = with_argument(expression, arg)
    context = await _context(attachment, frame_id, is_isolated, deadline)
    reply = await _evaluated(attachment, context, source, deadline)
    if _is_syntax_error(reply):  # perhaps statements, which end with an expression
        reply = await _evaluated(attachment, context, expression, deadline)
    return _value(reply)


async def evaluate_on_elements(
    op: Operation, refs: RefTable, wanted: str | Sequence[str], expression: str, arg: Any
) -> Any:
    """The value of a function of an element, or of a list of elements of one document, and `arg`.

    Raises:
        RefNotFound, StaleRef: An element is gone or became something else.
        ScriptFailed: As `evaluate_in_frame`.
    """
    attachment, deadline = op.attachment, op.deadline
    listed = [wanted] if isinstance(wanted, str) else list(wanted)
    if not listed:
        main = attachment.state.main
        call = f"({_source(expression)}\n).bind(null,[])"
        return await evaluate_in_frame(attachment, main.frame_id if main else "", call, arg, False, deadline)
    async with AsyncExitStack() as stack:
        found = [
            await stack.enter_async_context(element_handle(attachment, refs, op.snapshots, ref, deadline))
            for ref in listed
        ]
        frame_id = found[0][0].frame_id
        if any(entry.frame_id != frame_id for entry, _ in found):
            raise UsageError("the elements are in several frames, and a script runs in one of them")
        context = await _context(attachment, frame_id, False, deadline)
        moved = [await _in_context(attachment, context, object_id, deadline) for _, object_id in found]
        for one in moved:
            stack.callback(release, attachment, one, context.session_id)
        params = {
            "functionDeclaration": _OF_ELEMENTS % _source(expression),
            "executionContextId": context.context_id,
            "arguments": [
                {"value": not isinstance(wanted, str)},
                {"value": _json_value(arg)},
                *({"objectId": one} for one in moved),
            ],
            "awaitPromise": True,
            "returnByValue": True,
        }
        reply = await _called(attachment, "Runtime.callFunctionOn", params, context, deadline)
    return _value(reply)


def with_argument(expression: str, arg: Any) -> str:
    """JavaScript whose value is that of the expression, or of the function that it is, called with `arg`."""
    return _VALUE % (_source(expression), json.dumps(_json_value(arg)))


async def current_title(attachment: Attachment, deadline: Deadline) -> str:
    """`document.title` of the main document; of the next one, if the page navigates meanwhile."""
    while True:
        main = attachment.state.main
        try:
            found = await attachment.evaluate(
                main.frame_id if main else "", "document.title", timeout_s=deadline.remaining_s
            )
            return str(found or "")
        except ExecutionContextDestroyed:
            if deadline.passed:
                raise
            await attachment.condition.wait(
                lambda: attachment.state.has_main_context(attachment.state.main_frame_id or ""),
                timeout_s=deadline.remaining_s,
            )


async def _context(attachment: Attachment, frame_id: str, is_isolated: bool, deadline: Deadline) -> ExecutionContext:
    state = attachment.state
    if is_isolated:
        if (known := state.context_of(frame_id, ISOLATED_WORLD)) is not None:
            return known
        session_id = state.session_of(frame_id)
        made = await attachment.call(
            "Page.createIsolatedWorld",
            {"frameId": frame_id, "worldName": ISOLATED_WORLD},
            timeout_s=deadline.remaining_s,
            session_id=session_id,
        )
        number = int(made["executionContextId"])
        return ExecutionContext(number, f"{frame_id}:{number}", frame_id, ISOLATED_WORLD, False, session_id)
    await attachment.condition.wait(lambda: state.has_main_context(frame_id), timeout_s=deadline.remaining_s)
    context = state.main_context(frame_id)
    if context is None:
        raise deadline.exceeded("evaluating", "the document has no execution context yet")
    return context


async def _in_context(attachment: Attachment, context: ExecutionContext, object_id: str, deadline: Deadline) -> str:
    """The object id, in the page's own world, of an element known by one of ours."""
    described = await _called(attachment, "DOM.describeNode", {"objectId": object_id}, context, deadline)
    params = {"backendNodeId": described["node"]["backendNodeId"], "executionContextId": context.context_id}
    resolved = await _called(attachment, "DOM.resolveNode", params, context, deadline)
    return str(resolved["object"]["objectId"])


async def _evaluated(
    attachment: Attachment, context: ExecutionContext, source: str, deadline: Deadline
) -> dict[str, Any]:
    params = {
        "expression": source,
        "contextId": context.context_id,
        "awaitPromise": True,
        "returnByValue": True,
        "userGesture": True,
        "timeout": round(deadline.remaining_s * 1000),
    }
    try:
        return await attachment.evaluate_raw(params, timeout_s=deadline.remaining_s, session_id=context.session_id)
    except ProtocolError as error:
        if deadline.remaining_s <= _STOPPED_S:  # the engine stops a script that runs longer
            raise deadline.exceeded("evaluating", "the script did not end and was stopped") from error
        raise _not_json(error) from error


async def _called(
    attachment: Attachment, method: str, params: Mapping[str, Any], context: ExecutionContext, deadline: Deadline
) -> dict[str, Any]:
    try:
        return await attachment.call(method, params, timeout_s=deadline.remaining_s, session_id=context.session_id)
    except ProtocolError as error:
        raise _not_json(error) from error


def _not_json(error: ProtocolError) -> ScriptFailed:
    return ScriptFailed(
        f"the script has no value that can be returned: {error.reason}", hint="Return strings, numbers, lists, objects."
    )


def _source(expression: str) -> str:
    if not isinstance(expression, str) or not expression.strip():
        raise UsageError(f"{str(expression)[:80]!r} is not JavaScript")
    return expression.strip().removesuffix(";")


def _json_value(arg: Any) -> Any:
    try:
        return json.loads(json.dumps(arg))
    except (TypeError, ValueError) as error:
        raise UsageError(f"the argument cannot be sent as JSON: {error}") from error


def _is_syntax_error(reply: Mapping[str, Any]) -> bool:
    thrown = reply.get("exceptionDetails") or {}
    exception = thrown.get("exception") or {}
    return exception.get("className") == "SyntaxError" and not (thrown.get("stackTrace") or {}).get("callFrames")


def _value(reply: Mapping[str, Any]) -> Any:
    if (thrown := reply.get("exceptionDetails")) is not None:
        exception = thrown.get("exception") or {}
        text = str(exception.get("description") or exception.get("value") or thrown.get("text", ""))
        message, _, stack = text.partition("\n")
        raise ScriptFailed(f"the script threw {message[:500]}", stack=text[:_STACK_CHARS] if stack else "")
    found = reply.get("result") or {}
    if "unserializableValue" in found:
        special = str(found["unserializableValue"])
        return _SPECIAL.get(special) if special in _SPECIAL else int(special.removesuffix("n"))
    return found.get("value")

"""`wait_for`: one promise in the page, one round trip, armed again after a navigation."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import ScriptFailed, UsageError
from bridge.page.attachment import WORLD_NAME, Attachment, WorldGone
from bridge.page.globs import url_pattern

_REARM_PAUSE_S = 0.1
_KINDS = ("selector", "role", "text", "url", "gone", "function")
# In the page's own world; the page may have replaced what it finds there, and then the deadline of this side holds.
_FUNCTION = """new Promise(done=>{const start=Date.now(),get=()=>(%s),step=async()=>{let seen,error='';
try{seen=get();if(typeof seen=='function')seen=seen();seen=await seen}catch(e){seen=0;error=String(e)}
const waitedMs=Date.now()-start;
if(seen)done(JSON.stringify({ok:true,waitedMs}));
else if(waitedMs>=%d)done(JSON.stringify({ok:false,waitedMs,lastSeen:error||'not yet'}));
else setTimeout(step,30)};step()})"""


@dataclass(frozen=True, slots=True)
class Condition:
    """What is waited for; exactly one of selector, role, text, url, gone and function is given.

    Attributes:
        url: A glob over the whole address: `*` within a path segment, `**` across them.
        gone: A selector that must match nothing visible.
        function: JavaScript of the operator's, an expression or a function without arguments, run in the page's own
            world until it gives something truthy. Never a model's or a page's.
    """

    selector: str | None = None
    role: str | None = None
    name: str | None = None
    text: str | None = None
    url: str | None = None
    gone: str | None = None
    function: str | None = None

    def __post_init__(self) -> None:
        given = [key for key in _KINDS if getattr(self, key)]
        if len(given) != 1:
            raise UsageError(
                f"wait_for was given {', '.join(given) or 'nothing'}",
                hint="Give exactly one of selector, role (with name), text, url, gone, function.",
            )
        if self.name is not None and self.role is None:
            raise UsageError("wait_for was given a name without a role")

    def to_json(self) -> dict[str, str]:
        return {key: getattr(self, key) for key in ("name", *_KINDS) if getattr(self, key) is not None}

    def __str__(self) -> str:
        return ", ".join(f"{key} {value!r}" for key, value in self.to_json().items())


async def wait_for(attachment: Attachment, condition: Condition, *, timeout_s: float) -> float:
    """Milliseconds until the page met the condition, in any of its frames (`gone` and `function`: in the top frame).

    Raises:
        DeadlineExceeded: It was not met; says what was there instead.
        UsageError: The page does not understand the selector.
    """
    deadline = Deadline.after(timeout_s)
    state = attachment.state
    if condition.url:
        return await _url_reached(attachment, condition.url, deadline)
    while True:
        frames = state.ordered_frames()
        wanted = frames[:1] if condition.gone else frames
        try:
            if condition.function:
                return await _function_met(attachment, condition.function, deadline)
            return await _first_met(attachment, [frame.frame_id for frame in wanted], condition, deadline)
        except WorldGone:
            navigations = state.navigations
            await attachment.watch.wait(
                lambda navigations=navigations: (  # type: ignore[misc]
                    state.navigations > navigations
                    or (state.main is not None and state.world_of(state.main.frame_id, WORLD_NAME) is not None)
                ),
                timeout_s=min(_REARM_PAUSE_S, deadline.remaining_s),
            )
        if deadline.passed:
            raise deadline.exceeded(f"waiting for {condition}", "the page kept navigating")


async def _url_reached(attachment: Attachment, glob: str, deadline: Deadline) -> float:
    """The browser tells every address that the top frame takes: nothing has to be asked."""
    pattern, state = url_pattern(glob), attachment.state
    began = time.monotonic()
    if not await attachment.watch.wait(
        lambda: state.main is not None and pattern.matches(state.main.url), timeout_s=deadline.remaining_s
    ):
        raise deadline.exceeded(f"waiting for url {glob!r}", f"at {state.main.url if state.main else 'no page'}")
    return (time.monotonic() - began) * 1000


async def _function_met(attachment: Attachment, source: str, deadline: Deadline) -> float:
    main = attachment.state.main
    world = attachment.state.main_world(main.frame_id) if main else None
    if world is None:
        raise WorldGone("the document is not there yet")
    params = {
        "expression": _FUNCTION % (source, round(deadline.remaining_s * 1000)),
        "contextId": world.context_id,
        "awaitPromise": True,
        "returnByValue": True,
    }
    reply = await attachment.evaluate_raw(params, timeout_s=deadline.remaining_s)
    if thrown := reply.get("exceptionDetails"):
        words = (thrown.get("exception") or {}).get("description") or thrown.get("text", "")
        raise UsageError(f"the function cannot be run: {str(words).splitlines()[0][:300]}")
    try:
        answer = json.loads(str(reply.get("result", {}).get("value")))
    except (ValueError, RecursionError):
        answer = {}
    if not isinstance(answer, Mapping) or not answer.get("ok"):
        seen = answer.get("lastSeen", "") if isinstance(answer, Mapping) else ""
        raise deadline.exceeded("waiting for the function", str(seen)[:300])
    waited = answer.get("waitedMs")
    return float(waited) if isinstance(waited, int | float) else 0.0


async def _first_met(attachment: Attachment, frame_ids: list[str], condition: Condition, deadline: Deadline) -> float:
    timeout_ms = round(deadline.remaining_s * 1000)
    call = f"__agentBrowser.waitFor({json.dumps(condition.to_json())},{timeout_ms})"
    tasks = [
        asyncio.ensure_future(attachment.evaluate(frame_id, call, timeout_s=deadline.remaining_s))
        for frame_id in frame_ids
    ]
    top = tasks[0] if tasks else None
    pending = set(tasks)
    answers: dict[asyncio.Future[Any], Any] = {}
    try:
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                error = task.exception()
                if error is not None and task is top:
                    raise error
                answer = None if error else task.result()
                if isinstance(answer, Mapping) and answer.get("ok"):
                    waited = answer.get("waitedMs")
                    return float(waited) if isinstance(waited, int | float) else 0.0
                answers[task] = answer
    finally:
        # Of those that ended together only one may have been looked at.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    answer = answers.get(top) if top else None
    if isinstance(answer, Mapping) and isinstance(answer.get("error"), Mapping):
        raise UsageError(str(answer["error"].get("message", "the page does not understand the condition")))
    if answer is not None and not isinstance(answer, Mapping):
        raise ScriptFailed("waiting gave no object")
    raise deadline.exceeded(f"waiting for {condition}", str((answer or {}).get("lastSeen", "")))

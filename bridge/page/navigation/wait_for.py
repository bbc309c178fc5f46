"""`wait_for`: one promise in each document, one round trip; documents that come later get theirs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, ScriptFailed, UsageError
from bridge.page.navigation.errors import check_arrived
from bridge.page.snapshots.aria_roles import checked_role
from bridge.page.target.attachment import CONTEXT_NAME, Attachment
from bridge.page.target.execution_contexts import ExecutionContextDestroyed
from bridge.page.url_pattern import url_pattern

_REARM_PAUSE_S = 0.1
# The page's own promise ends first, and its answer is on the way a little longer.
_REPLY_S = 1.0
_KINDS = ("selector", "role", "text", "url", "gone", "function")
# In the page's own world; the page may have replaced what it finds there, and then the deadline of this side holds. The
# operator's source may end with a comment, which ends with its line.
_FUNCTION = """new Promise(done=>{let lastSeen;const start=Date.now(),get=()=>(%s
),ms=%d,step=async()=>{let seen,error='';lastSeen='its promise is pending';
try{seen=get();if(typeof seen=='function')seen=seen();seen=await seen}catch(e){seen=0;error=String(e)}
const waitedMs=Date.now()-start;lastSeen=error||'not yet';
if(seen)done(JSON.stringify({ok:true,waitedMs}));
else if(waitedMs>=ms)done(JSON.stringify({ok:false,waitedMs,lastSeen}));
else setTimeout(step,30)};
setTimeout(()=>done(JSON.stringify({ok:false,waitedMs:ms,lastSeen})),ms+20);step()})"""


@dataclass(frozen=True, slots=True)
class WaitCondition:
    """What is waited for; exactly one of selector, role, text, url, gone and function is given.

    Attributes:
        url: A glob over the whole address: `*` within a path segment, `**` across them.
        gone: A selector that must match nothing visible.
        function: JavaScript of the operator's, an expression or a function without arguments, run in the page's own
            context until it gives something truthy. Never a model's or a page's.
        redact: Applied to the page's words and addresses before `text`, `name` and `url` are compared with them.
    """

    selector: str | None = None
    role: str | None = None
    name: str | None = None
    text: str | None = None
    url: str | None = None
    gone: str | None = None
    function: str | None = None
    redact: Callable[[str], str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        given = [key for key in _KINDS if getattr(self, key)]
        if len(given) != 1:
            raise UsageError(
                f"wait_for was given {', '.join(given) or 'nothing'}",
                hint="Give exactly one of selector, role (with name), text, url, gone, function.",
            )
        if self.name is not None and self.role is None:
            raise UsageError("wait_for was given a name without a role")
        if self.role is not None:
            checked_role(self.role)

    def to_json(self) -> dict[str, str]:
        return {key: getattr(self, key) for key in ("name", *_KINDS) if getattr(self, key) is not None}

    def __str__(self) -> str:
        return ", ".join(f"{key} {value!r}" for key, value in self.to_json().items())


async def wait_for(attachment: Attachment, condition: WaitCondition, deadline: Deadline) -> float:
    """Milliseconds until the page met the condition, in any of its frames (`gone` and `function`: in the top frame).

    DeadlineExceeded: It was not met; says what was there instead.
    PolicyRefused, NavigationFailed: The page went to the address that is waited for, and it does not load.
    UsageError: The page does not understand the selector.
    """
    if condition.url:
        return await _url_reached(attachment, condition, condition.url, deadline)
    if condition.redact is not None and (condition.text or condition.name):
        from bridge.page.navigation.wait_for_redacted import met_when_redacted

        return await met_when_redacted(attachment, condition, condition.redact, deadline)
    armed = _Armed(attachment, condition, deadline)
    try:
        return await armed.met()
    finally:
        await armed.give_up()


async def _url_reached(attachment: Attachment, condition: WaitCondition, glob: str, deadline: Deadline) -> float:
    """The browser tells every address that the top frame takes: nothing has to be asked."""
    pattern, state, redact = url_pattern(glob), attachment.state, condition.redact or str
    began = time.monotonic()
    if not await attachment.condition.wait(
        lambda: state.main is not None and pattern.matches(redact(state.main.address)), timeout_s=deadline.remaining_s
    ):
        raise deadline.exceeded(f"waiting for url {glob!r}", f"at {state.main.address if state.main else 'no page'}")
    check_arrived(attachment)
    return (time.monotonic() - began) * 1000


# A frame, and the loader of the document that it shows.
_Document: TypeAlias = tuple[str, str]


class _Armed:
    """One promise in each document that is shown, and in each that comes while the wait lasts.

    A promise ends with its document (ExecutionContextDestroyed), except where the window is reused: one that navigates
    from its initial empty document to another of the same origin keeps its execution contexts, and a promise in them
    stays pending (Blink, LocalDOMWindow::ClearForReuse). So the wait in a document that is not shown any more ends.
    """

    def __init__(self, attachment: Attachment, condition: WaitCondition, deadline: Deadline) -> None:
        self._attachment = attachment
        self._condition = condition
        self._deadline = deadline
        self._began = time.monotonic()
        self._asked: dict[_Document, asyncio.Future[float | None]] = {}

    async def met(self) -> float:
        while True:
            shown = self._shown()
            await self.give_up(shown)
            for document in shown:
                if document not in self._asked:
                    self._asked[document] = asyncio.ensure_future(self._ask(document, is_top=document == shown[0]))
            await self._something_happens(shown)
            for document in shown:
                asked = self._asked[document]
                if not asked.done() or (asked.exception() and document != shown[0]):
                    continue
                if (waited_ms := asked.result()) is not None:
                    return waited_ms

    async def give_up(self, shown: Sequence[_Document] = ()) -> None:
        """Wait no more in documents that are not among these."""
        gone = [self._asked.pop(document) for document in list(self._asked) if document not in shown]
        for asked in gone:
            asked.cancel()
        await asyncio.gather(*gone, return_exceptions=True)

    def _shown(self) -> list[_Document]:
        frames = self._attachment.state.ordered_frames()
        if self._condition.gone or self._condition.function:
            del frames[1:]
        return [(frame.frame_id, frame.loader_id) for frame in frames]

    async def _something_happens(self, shown: Sequence[_Document]) -> None:
        """An answer comes, or other documents are shown."""
        condition = self._attachment.condition
        waiting: list[asyncio.Future[Any]] = [asked for asked in self._asked.values() if not asked.done()]
        left_s = self._deadline.remaining_s + (_REPLY_S if waiting else 0.0)
        other = asyncio.ensure_future(condition.wait(lambda: self._shown() != shown, timeout_s=left_s))
        try:
            done, _ = await asyncio.wait([*waiting, other], return_when=asyncio.FIRST_COMPLETED)
            if done == {other} and not other.result():
                raise self._exceeded("no document is there")
        finally:
            other.cancel()
            await asyncio.gather(other, return_exceptions=True)

    async def _ask(self, document: _Document, *, is_top: bool) -> float | None:
        """Milliseconds until it was met in this document; None where a frame's document has not met it.

        Raises:
            DeadlineExceeded, UsageError, ScriptFailed: Of the top document, whose word is the last.
        """
        while True:
            asked_at = time.monotonic()
            try:
                answer = await self._answer(document[0])
                break
            except ScriptFailed as thrown:
                if "is not a valid selector" not in thrown.message:
                    raise
                selector = self._condition.selector or self._condition.gone
                raise UsageError(f"{selector!r} is no CSS selector that the page understands") from thrown
            except DeadlineExceeded as late:
                raise self._exceeded("the page did not answer") from late
            except ExecutionContextDestroyed:
                # Its script worlds are not there yet, or not any more.
                if self._deadline.passed:
                    raise self._exceeded("the page kept navigating") from None
                left_s = self._deadline.remaining_s
                await self._attachment.condition.wait(
                    lambda: document not in self._shown() or self._has_context(document[0]),
                    timeout_s=min(_REARM_PAUSE_S, left_s) if is_top else left_s,
                )
        if isinstance(answer, Mapping) and answer.get("ok"):
            waited_ms = answer.get("waitedMs")
            return (asked_at - self._began) * 1000 + (waited_ms if isinstance(waited_ms, int | float) else 0.0)
        if not is_top:
            return None
        if not isinstance(answer, Mapping):
            raise ScriptFailed("waiting gave no object")
        if isinstance(error := answer.get("error"), Mapping):
            raise UsageError(str(error.get("message", "the page does not understand the condition")))
        raise self._exceeded(str(answer.get("lastSeen", ""))[:300])

    def _has_context(self, frame_id: str) -> bool:
        return self._attachment.state.context_of(frame_id, CONTEXT_NAME) is not None

    async def _answer(self, frame_id: str) -> Any:
        left_s = self._deadline.remaining_s
        if self._condition.function:
            return await _ask_function(self._attachment, frame_id, self._condition.function, timeout_s=left_s)
        call = f"__agentBrowser.waitFor({json.dumps(self._condition.to_json())},{round(left_s * 1000)})"
        return await self._attachment.evaluate(frame_id, call, timeout_s=left_s)

    def _exceeded(self, seen: str) -> DeadlineExceeded:
        what = "the function" if self._condition.function else self._condition
        return self._deadline.exceeded(f"waiting for {what}", seen)


async def _ask_function(attachment: Attachment, frame_id: str, source: str, *, timeout_s: float) -> Any:
    context = attachment.state.main_context(frame_id)
    if context is None:
        raise ExecutionContextDestroyed("the document is not there yet")
    params = {
        "expression": _FUNCTION % (source, round(timeout_s * 1000)),
        "contextId": context.context_id,
        "awaitPromise": True,
        "returnByValue": True,
    }
    reply = await attachment.evaluate_raw(params, timeout_s=timeout_s)
    if thrown := reply.get("exceptionDetails"):
        words = (thrown.get("exception") or {}).get("description") or thrown.get("text", "")
        raise UsageError(f"the function cannot be run: {str(words).splitlines()[0][:300]}")
    try:
        return json.loads(str(reply.get("result", {}).get("value")))
    except (ValueError, RecursionError):
        return {}

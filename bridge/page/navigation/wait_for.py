"""`wait_for`: waits until the page meets a condition, across navigations; one round trip if it meets it already."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, ExecutionContextDestroyed, PolicyRefused, ScriptFailed, UsageError
from bridge.page.navigation.document_waits import DocumentWaits
from bridge.page.navigation.errors import check_arrived
from bridge.page.snapshots.aria_roles import checked_role
from bridge.page.target.attachment import Attachment
from bridge.page.url_pattern import url_pattern
from bridge.snapshot.injected import packaged_script, script_call

# How long one call waits in the page for other text to compare; a page that does not answer is asked again later.
_OTHER_TEXT_S = 2.0
_REPLY_S = 5.0
_RETRY_PAUSE_S = 0.2
_KINDS = ("selector", "role", "text", "url", "gone", "function")


@dataclass(frozen=True, slots=True)
class WaitCondition:
    """A condition of `wait_for`: exactly one of selector, role, text, url, gone and function.

    Attributes:
        url: A glob over the whole address: `*` within a path segment, `**` across them.
        gone: A selector that must not match anything visible.
        function: The operator's JavaScript, an expression or a function without arguments, run in the page's main
            world until it is truthy. Never a model's or a page's.
        redact: Applied to the page's text and addresses before `text`, `name` and `url` are compared with them.
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
                f"wait_for got {', '.join(given) or 'no condition'}",
                hint="Give exactly one of selector, role (with name), text, url, gone, function.",
            )
        if self.name is not None and self.role is None:
            raise UsageError("wait_for got a name without a role")
        if self.role is not None:
            checked_role(self.role)

    def to_json(self) -> dict[str, str]:
        return {key: getattr(self, key) for key in ("name", *_KINDS) if getattr(self, key) is not None}

    def __str__(self) -> str:
        return ", ".join(f"{key} {value!r}" for key, value in self.to_json().items())


async def wait_for(attachment: Attachment, condition: WaitCondition, deadline: Deadline) -> float:
    """Milliseconds until the page met the condition, in any of its frames (`gone` and `function`: in the main frame).

    Raises:
        DeadlineExceeded: The condition was not met; reports what was last seen.
        PolicyRefused, NavigationFailed: The page navigated to the address that is waited for, and it does not load.
        UsageError: The page does not understand the selector.
    """
    if condition.url:
        return await _wait_for_url(attachment, condition, condition.url, deadline)
    wait = _ConditionWait(attachment, condition, deadline)
    is_redacted = condition.redact is not None and (condition.text or condition.name)
    waits = DocumentWaits(
        attachment,
        deadline,
        wait.compare_redacted if is_redacted else wait.evaluate,
        awaited=wait.awaited,
        main_frame_only=bool(condition.gone or condition.function),
        in_main_world=bool(condition.function),
    )
    return await waits.first()


async def _wait_for_url(attachment: Attachment, condition: WaitCondition, glob: str, deadline: Deadline) -> float:
    """Wait for events alone: the browser reports every address of the main frame."""
    pattern, state, redact = url_pattern(glob), attachment.state, condition.redact or str
    began = time.monotonic()

    def refused() -> PolicyRefused | None:
        return next(
            (
                error
                for error in attachment.refused_navigations
                if pattern.matches(redact(str(error.details.get("url", ""))))
            ),
            None,
        )

    if not await attachment.condition.wait(
        lambda: (state.main is not None and pattern.matches(redact(state.main.address))) or refused() is not None,
        timeout_s=deadline.remaining_s,
    ):
        raise deadline.exceeded(f"waiting for url {glob!r}", f"at {state.main.address if state.main else 'no page'}")
    if (error := refused()) is not None:
        attachment.take_refused_navigations()
        raise error
    check_arrived(attachment)
    return (time.monotonic() - began) * 1000


class _ConditionWait:
    """Waits for one condition in a document; `DocumentWaits` runs it in each."""

    def __init__(self, attachment: Attachment, condition: WaitCondition, deadline: Deadline) -> None:
        self.awaited = f"waiting for {'the function' if condition.function else condition}"
        self._attachment = attachment
        self._condition = condition
        self._deadline = deadline
        self._began = time.monotonic()

    async def evaluate(self, frame_id: str, is_main: bool) -> float | None:
        """Have the document's script wait: one round trip, however long it takes.

        Raises:
            DeadlineExceeded, UsageError, ScriptFailed: In the main frame.
        """
        asked_at = time.monotonic()
        try:
            reply = await self._script_reply(frame_id)
        except ScriptFailed as thrown:
            if "is not a valid selector" not in thrown.message:
                raise
            selector = self._condition.selector or self._condition.gone
            raise UsageError(f"{selector!r} is not a valid CSS selector") from thrown
        except DeadlineExceeded as late:
            raise self._deadline.exceeded(self.awaited, "the page did not respond") from late
        if isinstance(reply, Mapping) and reply.get("ok"):
            waited_ms = reply.get("waitedMs")
            return (asked_at - self._began) * 1000 + (waited_ms if isinstance(waited_ms, int | float) else 0.0)
        if not is_main:
            return None
        if not isinstance(reply, Mapping):
            raise ScriptFailed("the wait returned no object")
        if isinstance(error := reply.get("error"), Mapping):
            raise UsageError(str(error.get("message", "the condition is not valid")))
        raise self._deadline.exceeded(self.awaited, str(reply.get("lastSeen", ""))[:300])

    async def compare_redacted(self, frame_id: str, is_main: bool) -> float | None:
        """Compare here, with the document's redacted text, each time it has changed.

        A comparison in the page would find the letters of secrets as well, and a wait for `text="hunt"` that ends at
        once would reveal them. For the same reason no error reports what was there.
        """
        seen = None
        while True:
            texts, seen = await self._texts(frame_id, seen)
            if self._matches(texts):
                return (time.monotonic() - self._began) * 1000
            if self._deadline.passed:
                if is_main:
                    raise self._deadline.exceeded(self.awaited, "not there")
                return None

    async def _script_reply(self, frame_id: str) -> Any:
        left_s = self._deadline.remaining_s
        if self._condition.function:
            return await _evaluate_function(self._attachment, frame_id, self._condition.function, timeout_s=left_s)
        call = script_call("waitFor", self._condition.to_json(), round(left_s * 1000))
        return await self._attachment.evaluate(frame_id, call, timeout_s=left_s)

    async def _texts(self, frame_id: str, seen: int | None) -> tuple[list[str], int | None]:
        """The text of the document, or the names of its elements with the role; and a hash, to wait for other ones."""
        wait_s = self._deadline.at_most(_OTHER_TEXT_S).remaining_s
        reply_s = self._deadline.at_most(wait_s + _REPLY_S).remaining_s
        call = script_call("textsFor", self._condition.to_json(), seen, round(wait_s * 1000))
        try:
            found = await self._attachment.evaluate(frame_id, call, timeout_s=reply_s)
            return [text for text in found["texts"] if isinstance(text, str)], found["hash"]
        except (ScriptFailed, DeadlineExceeded, KeyError, TypeError):
            await asyncio.sleep(min(_RETRY_PAUSE_S, self._deadline.remaining_s))
            return [], None

    def _matches(self, texts: list[str]) -> bool:
        redact = self._condition.redact or str
        if self._condition.text:
            wanted = _collapsed(self._condition.text)
            return any(wanted in _collapsed(redact(text)) for text in texts)
        wanted = _collapsed(self._condition.name or "").lower()
        return any(wanted in _collapsed(redact(name)).lower() for name in texts)


@cache
def _wait_script() -> str:
    return packaged_script("bridge.page.navigation", "wait_for_function.min.js")


def _collapsed(text: str) -> str:
    return " ".join(text.split())


async def _evaluate_function(attachment: Attachment, frame_id: str, source: str, *, timeout_s: float) -> Any:
    context = attachment.state.main_context(frame_id)
    if context is None:
        raise ExecutionContextDestroyed("the document has no execution context yet")
    params = {
        # A line break, because the source may end with a comment.
        "expression": f"{_wait_script()}(()=>({source}\n),{round(timeout_s * 1000)})",
        "contextId": context.context_id,
        "awaitPromise": True,
        "returnByValue": True,
    }
    reply = await attachment.evaluate_raw(params, timeout_s=timeout_s)
    if thrown := reply.get("exceptionDetails"):
        description = (thrown.get("exception") or {}).get("description") or thrown.get("text", "")
        raise UsageError(f"the function cannot be run: {str(description).splitlines()[0][:300]}")
    try:
        return json.loads(str(reply.get("result", {}).get("value")))
    except (ValueError, RecursionError):
        return {}

"""`wait_for`: one promise in the page, one round trip, armed again after a navigation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import ScriptFailed, UsageError
from bridge.page.attachment import WORLD_NAME, Attachment, WorldGone

_REARM_PAUSE_S = 0.1


@dataclass(frozen=True, slots=True)
class Condition:
    """What is waited for; exactly one of selector, role, text, url and gone is given.

    Attributes:
        url: A glob over the whole address: `*` within a path segment, `**` across them.
        gone: A selector that must match nothing visible.
    """

    selector: str | None = None
    role: str | None = None
    name: str | None = None
    text: str | None = None
    url: str | None = None
    gone: str | None = None

    def __post_init__(self) -> None:
        given = [key for key in ("selector", "role", "text", "url", "gone") if getattr(self, key)]
        if len(given) != 1:
            raise UsageError(
                f"wait_for was given {', '.join(given) or 'nothing'}",
                hint="Give exactly one of selector, role (with name), text, url, gone.",
            )
        if self.name is not None and self.role is None:
            raise UsageError("wait_for was given a name without a role")

    def to_json(self) -> dict[str, str]:
        fields = ("selector", "role", "name", "text", "url", "gone")
        return {key: getattr(self, key) for key in fields if getattr(self, key) is not None}

    def __str__(self) -> str:
        return ", ".join(f"{key} {value!r}" for key, value in self.to_json().items())


async def wait_for(attachment: Attachment, condition: Condition, *, timeout_s: float) -> float:
    """Milliseconds until the page met the condition, in any of its frames (`url` and `gone`: in the top frame).

    Raises:
        DeadlineExceeded: It was not met; says what was there instead.
        UsageError: The page does not understand the selector.
    """
    deadline = Deadline.after(timeout_s)
    state = attachment.state
    while True:
        frames = state.ordered_frames()
        wanted = frames[:1] if condition.url or condition.gone else frames
        try:
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
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
    answer = answers.get(top) if top else None
    if isinstance(answer, Mapping) and isinstance(answer.get("error"), Mapping):
        raise UsageError(str(answer["error"].get("message", "the page does not understand the condition")))
    if answer is not None and not isinstance(answer, Mapping):
        raise ScriptFailed("waiting gave no object")
    raise deadline.exceeded(f"waiting for {condition}", str((answer or {}).get("lastSeen", "")))

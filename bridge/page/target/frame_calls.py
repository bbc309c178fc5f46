"""All frames of a page asked at once, where none of them may keep the others waiting.

A browser that isolates sites runs frames in renderers of their own, and one whose script hangs answers nothing,
whatever the rest of the page does. So the answer of one frame, the one that matters, is waited for as long as the
operation has; frames of other renderers have a while more, and what has not come by then is left out.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias

from bridge.page.target.attachment import Attachment, WorldGone
from bridge.page.target.frames import Frame

_Task: TypeAlias = asyncio.Future[Any]

# What a renderer may take longer than that of the frame that matters.
_PATIENCE_S = 1.0
# The same for one that did not answer the last time.
_SILENT_PATIENCE_S = 0.1


async def ask_frames(
    attachment: Attachment,
    frames: Sequence[Frame],
    ask: Callable[[Frame], Coroutine[Any, Any, Any]],
    *,
    lead: str,
    busy_until_s: float = 0.0,
    and_then: Sequence[Coroutine[Any, Any, Any]] = (),
) -> list[Any]:
    """What each frame answered, in their order, or the exception: WorldGone for one whose renderer does not answer.

    Args:
        lead: The id of the frame that matters; those in its renderer answer when it does.
        busy_until_s: What was asked takes so long by itself.
        and_then: Begun when every frame has been asked, and waited for; their outcomes follow those of the frames.
    """
    if len(frames) == 1 and not and_then:
        return [await _outcome(ask(frames[0]))]
    began = time.monotonic()
    asked: list[_Task] = [asyncio.ensure_future(ask(frame)) for frame in frames]
    session_ids = [frame.session_id for frame in frames]
    after: list[_Task] = [asyncio.ensure_future(other) for other in and_then]
    lead_session_id = next((frame.session_id for frame in frames if frame.frame_id == lead), None)
    silent = attachment.silent_sessions
    together, others, doubtful = set(after), set[_Task](), set[_Task]()
    for task, session_id in zip(asked, session_ids, strict=True):
        (together if session_id == lead_session_id else doubtful if session_id in silent else others).add(task)
    try:
        await _wait(together)
        took_s = time.monotonic() - began
        await _wait(others, max(0.0, busy_until_s - took_s) + _PATIENCE_S)
        await _wait(doubtful, max(0.0, busy_until_s - took_s) + took_s + _SILENT_PATIENCE_S)
    finally:
        unanswered = {task for task in (*asked, *after) if not task.done()}
        for task in unanswered:
            task.cancel()
        outcomes = await asyncio.gather(*asked, *after, return_exceptions=True)
    for place, (task, session_id) in enumerate(zip(asked, session_ids, strict=True)):
        if session_id is None:
            continue
        if task in unanswered:
            silent.add(session_id)
            outcomes[place] = WorldGone("the renderer of the frame does not answer")
        elif not isinstance(outcomes[place], BaseException):
            silent.discard(session_id)
    return outcomes


async def _outcome(asked: Coroutine[Any, Any, Any]) -> Any:
    """As of a task, without the turns of the loop that one takes: most pages have one frame."""
    try:
        return await asked
    except Exception as error:
        return error


async def _wait(tasks: set[_Task], timeout_s: float | None = None) -> None:
    if tasks:
        await asyncio.wait(tasks, timeout=timeout_s)

"""Calls in several frames at once, where no frame may keep the others waiting.

A browser that isolates sites runs frames in several renderers, and one whose script hangs does not answer, whatever the
others do. The main frame of a call is waited for as long as the call may take, and with it the frames in its renderer;
frames of other renderers get a little more time, and are left out if they do not answer then.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bridge.errors import ExecutionContextDestroyed
from bridge.page.target.frames import Frame

_Task: TypeAlias = asyncio.Future[Any]

# How much longer another renderer may take than that of the main frame.
_PATIENCE_S = 1.0
# The same for a renderer that did not respond the last call.
_SILENT_PATIENCE_S = 0.1


@dataclass(frozen=True, slots=True)
class FrameCall:
    """A call that runs in a frame."""

    frame: Frame
    task: _Task


async def outcomes_of_frames(
    calls: Sequence[FrameCall],
    others: Sequence[_Task],
    main_frame_id: str,
    silent_sessions: set[str],
    busy_s: float,
) -> list[Any]:
    """Results or exceptions of the calls, then of the others; ExecutionContextDestroyed for a frame that is late.

    Args:
        main_frame_id: The frame that is waited for without a limit.
        silent_sessions: Sessions that did not respond the last call; updated.
        busy_s: How long the calls take by themselves.
    """
    began = time.monotonic()
    main_session = next((call.frame.session_id for call in calls if call.frame.frame_id == main_frame_id), None)
    with_main, elsewhere, silent = set(others), set[_Task](), set[_Task]()
    for call in calls:
        session_id = call.frame.session_id
        if session_id == main_session:
            with_main.add(call.task)
        else:
            (silent if session_id in silent_sessions else elsewhere).add(call.task)
    try:
        await _wait(with_main)
        took_s = time.monotonic() - began
        await _wait(elsewhere, max(0.0, busy_s - took_s) + _PATIENCE_S)
        await _wait(silent, max(0.0, busy_s - took_s) + took_s + _SILENT_PATIENCE_S)
    finally:
        tasks = (*(call.task for call in calls), *others)
        unanswered = {task for task in tasks if not task.done()}
        for task in unanswered:
            task.cancel()
        outcomes: list[Any] = await asyncio.gather(*tasks, return_exceptions=True)
    for place, call in enumerate(calls):
        session_id = call.frame.session_id
        if session_id is None:
            continue
        if call.task in unanswered:
            silent_sessions.add(session_id)
            outcomes[place] = ExecutionContextDestroyed("the renderer of the frame does not respond")
        elif not isinstance(outcomes[place], BaseException):
            silent_sessions.discard(session_id)
    return outcomes


async def _wait(tasks: set[_Task], timeout_s: float | None = None) -> None:
    if tasks:
        await asyncio.wait(tasks, timeout=timeout_s)

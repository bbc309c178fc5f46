"""Waiting for words in what is left of a page's when its secrets have been taken out.

What the page's own script finds is found in the secrets too, and a wait that ends a moment after `text="hunt"` was
asked for has told their letters. So the words are brought here, again and again, and compared here.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, ScriptFailed
from bridge.page.target.attachment import Attachment
from bridge.page.target.execution_contexts import ExecutionContextDestroyed

if TYPE_CHECKING:
    from bridge.page.navigation.wait_for import WaitCondition

_PAUSE_S = 0.2
_FRAME_S = 5.0
_MAX_FRAMES = 40


async def met_when_redacted(
    attachment: Attachment, condition: WaitCondition, redact: Callable[[str], str], deadline: Deadline
) -> float:
    """Milliseconds until a frame has the text, or an element of that role and name.

    Raises:
        DeadlineExceeded: None has; nothing of what was there is told.
    """
    began = time.monotonic()
    while True:
        frames = attachment.state.ordered_frames()[:_MAX_FRAMES]
        looked = [_words(attachment, frame.frame_id, condition, deadline) for frame in frames]
        if any(_is_among(condition, words, redact) for words in await asyncio.gather(*looked)):
            return (time.monotonic() - began) * 1000
        if deadline.remaining_s <= _PAUSE_S:
            await asyncio.sleep(deadline.remaining_s)
            raise deadline.exceeded(f"waiting for {condition}", "not there")
        await asyncio.sleep(_PAUSE_S)


def _is_among(condition: WaitCondition, words: Iterable[str], redact: Callable[[str], str]) -> bool:
    if condition.text:
        wanted = _folded(condition.text)
        return any(wanted in _folded(redact(text)) for text in words)
    wanted = _folded(condition.name or "").lower()
    return any(wanted in _folded(redact(name)).lower() for name in words)


async def _words(attachment: Attachment, frame_id: str, condition: WaitCondition, deadline: Deadline) -> list[str]:
    asked = f"__agentBrowser.wordsFor({json.dumps(condition.to_json())})"
    try:
        found = await attachment.evaluate(frame_id, asked, timeout_s=min(deadline.remaining_s, _FRAME_S))
    except (ExecutionContextDestroyed, ScriptFailed, DeadlineExceeded):
        return []
    return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []


def _folded(text: str) -> str:
    return " ".join(text.split())

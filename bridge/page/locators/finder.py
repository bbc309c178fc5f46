"""Finds the elements that a locator describes, in all frames at once, now or when the page has changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from bridge.deadline import Deadline
from bridge.errors import ScriptFailed, UsageError
from bridge.page.locators.matches import LocatorMatches, Match, match_of
from bridge.page.target.attachment import CONTEXT_NAME
from bridge.page.target.execution_contexts import ExecutionContextDestroyed

if TYPE_CHECKING:
    from bridge.page.operation import Operation, Operations
    from bridge.page.snapshots.refs import RefTable
    from bridge.page.target.page_state import PageState

Step: TypeAlias = dict[str, Any]
Steps: TypeAlias = tuple[Step, ...]

_LISTED = 10
# How long one search waits in the page for a change. Frames are waited for together, so with several of them a change
# in one must not wait long for the others.
_CHANGE_S = 0.5
_CHANGE_IN_FRAMES_S = 0.1
_REPLY_S = 5.0
_NAVIGATING_PAUSE_S = 0.05
_TITLE = """(async (seen, ms) => {
  const end = performance.now() + ms
  while (document.title === seen && performance.now() < end) await new Promise((done) => setTimeout(done, 30))
  return document.title
})"""
# A search at the deadline is still a search.
_LAST_REPLY_S = 1.0
# A search without a deadline of its own.
_SEARCH_S = 15.0


class Finder:
    """Searches one page. Each search is an operation of its own, so others can run between two of them."""

    def __init__(self, operations: Operations, refs: RefTable) -> None:
        self._operations = operations
        self._refs = refs

    async def find(
        self, steps: Steps, seen: LocatorMatches | None = None, deadline: Deadline | None = None
    ) -> LocatorMatches:
        """The matches now; with `seen`, when something else matches, or after a moment.

        Raises:
            UsageError: The page does not understand a selector.
        """
        async with self._operations.begin(deadline or Deadline.after(_SEARCH_S)) as op:
            return await self._search(op, steps, seen, deadline)

    async def url(self, seen: str | None, deadline: Deadline) -> str:
        """The address of the main document, from events; with `seen`, when it is another one, or after a moment."""
        async with self._operations.begin(deadline) as op:
            state = op.attachment.state
            if seen is not None:
                timeout_s = min(_CHANGE_S, deadline.remaining_s)
                await op.attachment.condition.wait(lambda: _url_of(state) != seen, timeout_s=timeout_s)
            return _url_of(state)

    async def title(self, seen: str | None, deadline: Deadline) -> str | None:
        """The title of the main document; with `seen`, when it is another one, or after a moment. None while the page
        navigates."""
        async with self._operations.begin(deadline) as op:
            wait_s = min(_CHANGE_S, deadline.remaining_s) if seen is not None else 0.0
            expression = f"{_TITLE}({json.dumps(seen)},{round(wait_s * 1000)})"
            main = op.attachment.state.main
            try:
                found = await op.attachment.evaluate(
                    main.frame_id if main else "", expression, timeout_s=wait_s + _REPLY_S
                )
            except ExecutionContextDestroyed:
                await asyncio.sleep(_NAVIGATING_PAUSE_S)
                return None
        return str(found)

    async def _search(
        self, op: Operation, steps: Steps, seen: LocatorMatches | None, deadline: Deadline | None
    ) -> LocatorMatches:
        attachment = op.attachment
        frames = attachment.state.ordered_frames()
        wait_s = 0.0
        reply_s = _REPLY_S if deadline is None else min(_REPLY_S, max(_LAST_REPLY_S, deadline.remaining_s))
        if seen is not None:
            wait_s = min(
                _CHANGE_S if len(frames) == 1 else _CHANGE_IN_FRAMES_S, deadline.remaining_s if deadline else 1
            )
        # A final nth counts over all frames; an earlier one counts in each frame.
        nth = steps[-1]["nth"] if steps and "nth" in steps[-1] else None
        states = seen.states if seen is not None and len(seen.states) == len(frames) else (None,) * len(frames)
        asked = steps if nth is None else steps[:-1]
        known = {frame.frame_id: state for frame, state in zip(frames, states, strict=True)}
        replies = await attachment.evaluate_in_frames(
            frames,
            lambda frame: _call(asked, known[frame.frame_id], wait_s, -1),
            main_frame_id=frames[0].frame_id if frames else "",
            timeout_s=wait_s + reply_s,
            busy_s=wait_s,
        )
        counts: list[int] = []
        found: list[Match | None] = []
        for frame, reply in zip(frames, replies, strict=True):
            if isinstance(reply, ExecutionContextDestroyed | ScriptFailed):
                counts.append(0)
                continue
            if isinstance(reply, BaseException):
                raise reply
            if "error" in reply:
                raise UsageError(f"the page does not understand {steps}: {reply['error']}")
            counts.append(int(reply["n"]))
            index = reply["frame"]
            op.snapshots.frame_indexes[frame.frame_id] = index if isinstance(index, int) else -1
            found += self._matches(op, frame.frame_id, reply["items"])
            found += [None] * (counts[-1] - len(reply["items"]))
        silent = [
            place
            for place, (frame, reply) in enumerate(zip(frames, replies, strict=True))
            if isinstance(reply, ExecutionContextDestroyed) and frame.session_id in attachment.silent_sessions
        ]
        unread = tuple(frames[place].url for place in silent)
        states_now = tuple(reply.get("state") if isinstance(reply, Mapping) else None for reply in replies)
        if isinstance(replies[0], ExecutionContextDestroyed) and wait_s:
            await asyncio.sleep(min(wait_s, 0.05))
        if nth is None:
            return LocatorMatches(sum(counts), tuple(match for match in found if match)[:_LISTED], states_now, unread)
        place = nth if nth >= 0 else len(found) + nth
        # Beyond a frame that does not answer, the numbers are not known.
        known_below = sum(counts[: silent[0]]) if silent and nth >= 0 else len(found)
        known_from = sum(counts[: silent[-1]]) if silent and nth < 0 else 0
        if not known_from <= place < known_below:
            return LocatorMatches(0, (), states_now, unread)
        match = found[place]
        if match is None:
            for frame, count in zip(frames, counts, strict=True):
                if place < count:
                    reply = await attachment.evaluate(frame.frame_id, _call(asked, None, 0, place), timeout_s=reply_s)
                    match = next(iter(self._matches(op, frame.frame_id, reply["items"])), None)
                    break
                place -= count
        return LocatorMatches(1, (match,), states_now) if match else LocatorMatches(0, (), states_now)

    def _matches(self, op: Operation, frame_id: str, items: Iterable[Mapping[str, Any]]) -> list[Match]:
        """The elements that the script described, with the session's refs."""
        context = op.attachment.state.context_of(frame_id, CONTEXT_NAME)
        if context is None:
            return []
        url = op.snapshots.page_url
        return [
            match_of(
                self._refs.assign(context.key, frame_id, str(item["ref"]), str(item["role"]), str(item["name"]), url),
                item,
            )
            for item in items
        ]


def _url_of(state: PageState) -> str:
    return state.main.url if state.main else ""


def _call(steps: Steps, seen: str | None, wait_s: float, at: int) -> str:
    options = {"limit": _LISTED, "at": at, "seen": seen, "ms": round(wait_s * 1000)}
    return f"__agentBrowser.locate({json.dumps(steps)},{json.dumps(options)})"

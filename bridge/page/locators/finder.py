"""Finds the elements that a locator describes, in all frames at once, now or when the page has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from bridge.deadline import Deadline
from bridge.errors import ExecutionContextDestroyed, ScriptFailed, SeveralMatches, UsageError
from bridge.page.locators.matches import LocatorMatches, Match, match_of
from bridge.page.locators.steps import Step, Steps
from bridge.page.target.attachment import CONTEXT_NAME
from bridge.snapshot.injected import script_call

if TYPE_CHECKING:
    from bridge.page.operation import Operation, Operations
    from bridge.page.snapshots.refs import RefTable
    from bridge.page.target.frames import Frame
    from bridge.page.target.page_state import PageState

# What the script reads of each element (injected_js/src/locate/reads.js), and the argument of it.
Read: TypeAlias = tuple[str, Any]

_LISTED = 10
# How long one search waits in the page for a change. Frames are waited for together, so with several of them a change
# in one must not wait long for the others.
_CHANGE_S = 0.5
_CHANGE_IN_FRAMES_S = 0.1
_REPLY_S = 5.0
_NAVIGATING_PAUSE_S = 0.05
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
        self,
        steps: Steps,
        seen: LocatorMatches | None = None,
        deadline: Deadline | None = None,
        *,
        read: Read | None = None,
        limit: int | None = None,
    ) -> LocatorMatches:
        """The matches now; with `seen`, when something else matches, or after a moment.

        Args:
            steps: A step `{"frame": True}` goes from the one frame element that the steps before it match into its
                document; `{"in_frame": id}` at the beginning searches one frame only.
            limit: How many matches are described; the others are counted.

        Raises:
            UsageError: The page does not understand a selector.
        """
        async with self._operations.begin(deadline or Deadline.after(_SEARCH_S)) as op:
            frames = op.attachment.state.ordered_frames()
            if steps and "in_frame" in steps[0]:
                frames = [frame for frame in frames if frame.frame_id == steps[0]["in_frame"]]
                steps = steps[1:]
            while (entered := next((at for at, step in enumerate(steps) if "frame" in step), None)) is not None:
                owners = await self._search(op, frames, steps[:entered], None, deadline, read=("frame_index", None))
                if owners.count > 1:
                    raise _several_frames(owners)
                if not all(
                    frame.frame_id in op.snapshots.frame_indexes for frame in op.attachment.state.ordered_frames()
                ):
                    every = op.attachment.state.ordered_frames()
                    await self._search(op, every, ({"ref": None},), None, deadline)  # each reports its place
                child = _child_of(op, owners.matches[0]) if owners.matches else None
                if child is None:
                    if seen is not None:
                        await asyncio.sleep(_NAVIGATING_PAUSE_S)
                    return LocatorMatches(0, (), unread=owners.unread)
                frames, steps = [child], steps[entered + 1 :]
            return await self._search(op, frames, steps, seen, deadline, read=read, limit=limit or _LISTED)

    async def handle_interruptions(self, deadline: Deadline) -> None:
        """Call the page's locator handlers whose element is visible."""
        await self._operations.handlers.run(deadline, inside_operation=False)

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
            expression = script_call("titleAfter", seen, round(wait_s * 1000))
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
        self,
        op: Operation,
        frames: list[Frame],
        steps: Steps,
        seen: LocatorMatches | None,
        deadline: Deadline | None,
        *,
        read: Read | None = None,
        limit: int = _LISTED,
    ) -> LocatorMatches:
        if not frames:
            return LocatorMatches(0, ())
        # A final nth counts over all frames; an earlier one counts in each frame.
        nth = steps[-1]["nth"] if steps and "nth" in steps[-1] else None
        asked = steps if nth is None else steps[:-1]
        reply_s = _REPLY_S if deadline is None else min(_REPLY_S, max(_LAST_REPLY_S, deadline.remaining_s))
        replies = await self._ask_frames(op, frames, asked, seen, reply_s, deadline, read, limit)
        found = [self._found_in(op, steps, frame, reply) for frame, reply in replies]
        states = tuple(reply.get("state") if isinstance(reply, Mapping) else None for _, reply in replies)
        silent = [
            place
            for place, (frame, reply) in enumerate(replies)
            if isinstance(reply, ExecutionContextDestroyed) and frame.session_id in op.attachment.silent_sessions
        ]
        unread = tuple(replies[place][0].url for place in silent)
        counts = [count for count, _ in found]
        if nth is None:
            listed = [match for _, matches in found for match in matches]
            return LocatorMatches(sum(counts), tuple(listed[:limit]), states, unread)
        place = nth if nth >= 0 else sum(counts) + nth
        # Beyond a frame that does not answer, the numbers are not known.
        known_below = sum(counts[: silent[0]]) if silent and nth >= 0 else sum(counts)
        known_from = sum(counts[: silent[-1]]) if silent and nth < 0 else 0
        if not known_from <= place < known_below:
            return LocatorMatches(0, (), states, unread)
        for (frame, _), (count, matches) in zip(replies, found, strict=True):
            if place < count:
                match = matches[place] if place < len(matches) else None
                match = match or await self._at(op, asked, frame, place, reply_s, read)
                return LocatorMatches(1, (match,), states) if match else LocatorMatches(0, (), states)
            place -= count
        return LocatorMatches(0, (), states)

    async def _ask_frames(
        self,
        op: Operation,
        frames: list[Frame],
        asked: Steps,
        seen: LocatorMatches | None,
        reply_s: float,
        deadline: Deadline | None,
        read: Read | None,
        limit: int,
    ) -> list[tuple[Frame, Any]]:
        """The reply or error of each frame; with `seen`, when something has changed there, or after a moment."""
        wait_s = 0.0
        if seen is not None:
            change_s = _CHANGE_S if len(frames) == 1 else _CHANGE_IN_FRAMES_S
            wait_s = min(change_s, deadline.remaining_s if deadline else 1)
        states = seen.states if seen is not None and len(seen.states) == len(frames) else (None,) * len(frames)
        known = {frame.frame_id: state for frame, state in zip(frames, states, strict=True)}
        replies = await op.attachment.evaluate_in_frames(
            frames,
            lambda frame: _call(self._in_document(op, frame, asked), known[frame.frame_id], wait_s, -1, read, limit),
            main_frame_id=frames[0].frame_id if frames else "",
            timeout_s=wait_s + reply_s,
            busy_s=wait_s,
        )
        if wait_s and isinstance(replies[0], ExecutionContextDestroyed):
            await asyncio.sleep(min(wait_s, _NAVIGATING_PAUSE_S))
        return list(zip(frames, replies, strict=True))

    def _found_in(self, op: Operation, steps: Steps, frame: Frame, reply: Any) -> tuple[int, list[Match]]:
        """The number of matching elements in a frame, and the first of them."""
        if isinstance(reply, ExecutionContextDestroyed | ScriptFailed):
            return 0, []
        if isinstance(reply, BaseException):
            raise reply
        if "error" in reply:
            raise UsageError(f"invalid locator {steps}: {reply['error']}")
        index = reply["frame"]
        op.snapshots.frame_indexes[frame.frame_id] = index if isinstance(index, int) else -1
        return int(reply["n"]), self._matches(op, frame.frame_id, reply["items"])

    async def _at(
        self, op: Operation, asked: Steps, frame: Frame, place: int, reply_s: float, read: Read | None
    ) -> Match | None:
        """The element at a place of its frame that the script did not list."""
        call = _call(self._in_document(op, frame, asked), None, 0, place, read, 1)
        reply = await op.attachment.evaluate(frame.frame_id, call, timeout_s=reply_s)
        return next(iter(self._matches(op, frame.frame_id, reply["items"])), None)

    def _in_document(self, op: Operation, frame: Frame, steps: Steps) -> Steps:
        """The steps with each ref as the number that this document's script knows it by; null in other documents."""
        if not any(key in step for step in steps for key in ("ref", "has", "hasNot", "and", "or")):
            return steps
        context = op.attachment.state.context_of(frame.frame_id, CONTEXT_NAME)
        made: list[Step] = []
        for step in steps:
            step = dict(step)
            if "ref" in step:
                entry = self._refs.get(step["ref"])
                step["ref"] = entry.local if entry and context and entry.context_key == context.key else None
            for key in ("has", "hasNot", "and", "or"):
                if key in step:
                    step[key] = self._in_document(op, frame, step[key])
            made.append(step)
        return tuple(made)

    def _matches(self, op: Operation, frame_id: str, items: Iterable[Mapping[str, Any]]) -> list[Match]:
        """The elements that the script described, with the session's refs."""
        context = op.attachment.state.context_of(frame_id, CONTEXT_NAME)
        if context is None:
            return []
        url = op.snapshots.page_url
        return [
            match_of(
                self._refs.assign(context.key, frame_id, str(item["ref"]), str(item["role"]), str(item["name"]), url),
                frame_id,
                item,
            )
            for item in items
        ]


def _url_of(state: PageState) -> str:
    return state.main.url if state.main else ""


def _call(steps: Steps, seen: str | None, wait_s: float, at: int, read: Read | None, limit: int) -> str:
    options: dict[str, Any] = {"limit": limit, "at": at, "seen": seen, "ms": round(wait_s * 1000)}
    if read is not None:
        options["read"] = read
    return script_call("locate", steps, options)


def _child_of(op: Operation, owner: Match) -> Frame | None:
    """The frame that the frame element shows."""
    indexes = op.snapshots.frame_indexes
    return next(
        (
            frame
            for frame in op.attachment.state.ordered_frames()
            if frame.parent_id == owner.frame_id and indexes.get(frame.frame_id) == owner.read
        ),
        None,
    )


def _several_frames(owners: LocatorMatches) -> SeveralMatches:
    return SeveralMatches(
        f"the frame locator matches {owners.count} elements: {owners.described()}.",
        hint="Choose one with first, last or nth.",
        count=owners.count,
        matches=[match.described() for match in owners.matches],
    )

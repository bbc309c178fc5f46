"""After an action: wait for what it began, then tell what changed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded
from bridge.page.results import Changes
from bridge.page.snapshots.take import Snapshots
from bridge.page.target.attachment import Attachment
from bridge.page.target.execution_contexts import ExecutionContextDestroyed
from bridge.page.target.frames import Frame
from bridge.snapshot import Delta, SnapshotResult, snapshot_delta
from bridge.snapshot.escape import url_token

# Without changes a page is called quiet after this long; two animation frames are part of it.
QUIET_MS = 34
# Frames that input is not meant for look at themselves no earlier: by then it has mostly come, and done what it does.
OTHERS_LEAST_MS = 80
# About an animation frame: the acting frame waits for two, and what it says to others is with them in one.
_ANIMATION_FRAME_MS = 16
# What a look at the page afterwards may take when the action has used up its time.
_LEAST_SNAPSHOT_S = 0.5
_TEXTS_KEPT = 8
# A new page is told whole, as far as this goes; a snapshot gives the rest.
_NEW_PAGE_CHARS = 4_000
_URL_CHARS = 120


@dataclass(frozen=True, slots=True)
class Before:
    """What was known when the action began."""

    last: SnapshotResult | None
    url: str
    navigations: int
    request_order: int

    @classmethod
    def now(cls, attachment: Attachment, snapshots: Snapshots) -> Before:
        state = attachment.state
        return cls(snapshots.last, snapshots.page_url, state.navigations, state.request_order)


@dataclass(frozen=True, slots=True)
class Settled:
    """What came back from settling in all frames.

    Attributes:
        acted: What the frame answered that was acted in.
        is_taken: The action has reached the page: it has answered, or taken the input.
        settling: Until when the page may still settle.
        deadline: The action's own.
    """

    acted: Mapping[str, Any]
    frames: list[Frame]
    replies: list[Any]
    settling: Deadline
    deadline: Deadline
    is_taken: bool = True


def changes_of_closed(attachment: Attachment, how: str) -> Changes:
    """Of an action after which the window was closed: nobody can look any more."""
    return Changes(text=f"not known: {how}", settled="closed", dialogs=attachment.dialogs.take_unreported())


async def changes_since(before: Before, settled: Settled, attachment: Attachment, snapshots: Snapshots) -> Changes:
    """The delta since the last snapshot, taken from the settling replies when nothing else had to be waited for."""
    state, acted, frames = attachment.state, settled.acted, settled.frames
    reason = str(acted.get("reason") or "quiet")
    fresh = False
    leaving = state.navigations != before.navigations or state.navigating_to or reason == "navigation"
    if not leaving and state.requests_since(before.request_order):
        fresh = True
        reason = await _requests_answered(attachment, before.request_order, settled.settling)
    if leaving or reason == "navigation":
        reason, fresh = "navigation", True
        there = await attachment.condition.wait(
            lambda: not state.navigating_to and state.main and "DOMContentLoaded" in state.main.lifecycle,
            timeout_s=settled.settling.remaining_s,
        )
        if not there:
            reason = f"deadline: still navigating to {_told(state.navigating_to or snapshots.page_url)}"
    elif len(frames) > 1 and (_is_ahead(settled) or state.request_order != before.request_order):
        # Frames answer one by one: since the first did, an answer of the network's may have been drawn there.
        fresh = True
    after = None
    if not fresh:
        after = _from_replies(frames, settled.replies, snapshots)
    if after is None:
        try:
            request = snapshots.last_request
            if reason.startswith("navigation"):
                request = replace(request, max_chars=min(request.max_chars, _NEW_PAGE_CHARS))
            deadline = settled.deadline.at_least(_LEAST_SNAPSHOT_S)
            after = await snapshots.take(request, deadline, remember_request=False)
        except (DeadlineExceeded, ExecutionContextDestroyed):
            reason = f"{reason}; the page cannot be read yet"
    alive = None
    if after is not None and before.last is not None and state.navigations == before.navigations:
        alive = await snapshots.alive(before.last, settled.deadline.at_least(_LEAST_SNAPSHOT_S))
    return _changes(before, after, reason, acted, attachment, snapshots, alive)


async def _requests_answered(attachment: Attachment, order: int, deadline: Deadline) -> str:
    """Wait until what the action asked the network for has come and is on the page; what is still missing, in words.

    An answer is drawn a few turns after it has come, and may ask for more.
    """
    state = attachment.state
    while not state.navigating_to and (pending := state.requests_since(order)):
        done = await attachment.condition.wait(
            lambda: state.navigating_to or not state.requests_since(order), timeout_s=deadline.remaining_s
        )
        if not done:
            return f"deadline: {len(pending)} requests pending, such as {_told(pending[0].url)}"
        main = state.main
        settle_ms = round(deadline.remaining_s * 1000)
        if main is None or settle_ms <= 0:
            break
        quiet = f"__agentBrowser.settle({{settleMs:{settle_ms},quietMs:{QUIET_MS}}})"
        # Once in each renderer.
        outcomes = await asyncio.gather(
            *(
                attachment.evaluate(frame_id, quiet, timeout_s=deadline.remaining_s)
                for frame_id in (main.frame_id, *attachment.oopif_sessions.sessions.values())
            ),
            return_exceptions=True,
        )
        failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if isinstance(outcomes[0], ExecutionContextDestroyed | DeadlineExceeded):
            break
        for error in failed:
            if not isinstance(error, ExecutionContextDestroyed | DeadlineExceeded):
                raise error
    return "navigation" if state.navigating_to else "requests"


def _from_replies(frames: list[Frame], replies: list[Any], snapshots: Snapshots) -> SnapshotResult | None:
    raws = [reply.get("snapshot") if isinstance(reply, Mapping) else reply for reply in replies]
    if not raws or not isinstance(raws[0], Mapping):
        return None
    try:
        return snapshots.render(snapshots.assemble(frames, raws), snapshots.last_request)
    except ExecutionContextDestroyed:
        return None


def _changes(
    before: Before,
    after: SnapshotResult | None,
    reason: str,
    acted: Mapping[str, Any],
    attachment: Attachment,
    snapshots: Snapshots,
    alive: frozenset[str] | None,
) -> Changes:
    state = attachment.state
    found = acted.get("texts")
    texts = tuple(str(text) for text in found[:_TEXTS_KEPT]) if isinstance(found, list) else ()
    dialogs = attachment.dialogs.take_unreported()
    if after is None:
        return Changes(text=f"not known: {reason}", settled=reason, texts=texts, dialogs=dialogs)
    notes = [f"! {dialog}" for dialog in dialogs]
    if before.last is None or state.navigations != before.navigations:
        # Every ref of a new document is new: the page itself says more than a list of differences.
        delta = Delta(after.text, added=tuple(after.refs), full=True)
    else:
        delta = snapshot_delta(before.last, after, texts=texts, full=True, alive=alive)
    return Changes(
        text="\n".join([*notes, delta.text]),
        settled=reason,
        added=delta.added,
        removed=delta.removed,
        changed=delta.changed,
        texts=texts,
        url=snapshots.page_url if snapshots.page_url != before.url else None,
        title=after.title if before.last is None or after.title != before.last.title else None,
        dialogs=dialogs,
    )


def _told(url: str) -> str:
    return url_token(url)[:_URL_CHARS]


def _is_ahead(settled: Settled) -> bool:
    """Whether a frame has looked at itself before it can have heard of the action, which was done in another one."""
    ended = [reply.get("endedAt") if isinstance(reply, Mapping) else None for reply in settled.replies]
    times = [float(at) for at in ended if isinstance(at, int | float)]
    acted = settled.acted.get("endedAt")
    return isinstance(acted, int | float) and any(at + _ANIMATION_FRAME_MS < acted for at in times)

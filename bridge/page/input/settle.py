"""After an action: wait for what it started, then report what changed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, ExecutionContextDestroyed
from bridge.page.input.script_replies import SettleReply
from bridge.page.results import Changes
from bridge.page.snapshots.take import Snapshots
from bridge.page.target.attachment import Attachment
from bridge.page.target.frames import Frame
from bridge.snapshot import Delta, SnapshotResult, snapshot_delta
from bridge.snapshot.escape import url_token
from bridge.snapshot.injected import script_call

# A page without changes for this long is quiet; two animation frames are part of it.
QUIET_MS = 34
# Frames that the input does not go to wait at least this long: its effects on them have mostly arrived by then.
OTHER_FRAMES_LEAST_MS = 80
# The acting frame waits for two animation frames; what it posts to other frames arrives within about one.
_ANIMATION_FRAME_MS = 16
# Time for the snapshot after an action that used up its own.
_LEAST_SNAPSHOT_S = 0.5
_MAX_TEXTS = 8
# A new page is shown whole up to here; a snapshot shows the rest.
_NEW_PAGE_CHARS = 4_000
_URL_CHARS = 120
_APPEARING = "still appearing: "


@dataclass(frozen=True, slots=True)
class Before:
    """The state of the page when the action began."""

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
    """The outcome of settling in all frames.

    Attributes:
        reply: What the acting frame reported.
        frames: All frames that were asked.
        replies: What each frame reported, or the error; parallel to `frames`.
        settling: Until when the page may still settle.
        deadline: The action's own.
        was_received: The action reached the page: a frame answered, or the engine acknowledged the input.
        is_answered: The acting frame reported `reply`; otherwise its document was left first.
    """

    reply: SettleReply
    frames: Sequence[Frame]
    replies: Sequence[SettleReply | BaseException]
    settling: Deadline
    deadline: Deadline
    was_received: bool = True
    is_answered: bool = True


def changes_of_closed(attachment: Attachment, how: str) -> Changes:
    """The changes of an action that closed the window, which cannot be observed."""
    return Changes(text=f"not known: {how}", settled="closed", dialogs=attachment.dialogs.take_unreported())


async def changes_since(before: Before, settled: Settled, attachment: Attachment, snapshots: Snapshots) -> Changes:
    """The changes since the last snapshot.

    The snapshots in the settling replies are used unless something else had to be waited for: a navigation, or requests
    that the action started.
    """
    state, frames = attachment.state, settled.frames
    reason: str = settled.reply.reason
    if reason == "deadline" and settled.reply.appearing:
        reason = f"deadline: {_APPEARING}{settled.reply.appearing}"
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
            reason = f"deadline: still navigating to {_short(state.navigating_to or snapshots.page_url)}"
    elif len(frames) > 1 and (_is_ahead(settled) or state.request_order != before.request_order):
        # Frames answer one after the other. Since the first one did, a response may have been rendered there.
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
            reason = f"{reason}; the page is not readable yet"
    alive = None
    if after is not None and before.last is not None and state.navigations == before.navigations:
        alive = await snapshots.alive(before.last, settled.deadline.at_least(_LEAST_SNAPSHOT_S))
    return _changes(before, after, reason, settled.reply.texts[:_MAX_TEXTS], attachment, snapshots, alive)


async def _requests_answered(attachment: Attachment, order: int, deadline: Deadline) -> str:
    """Wait until the requests that the action started have their responses on the page; returns the new reason.

    A response is rendered some time after it arrived, and may start more requests.
    """
    state = attachment.state
    while not state.navigating_to and (pending := state.requests_since(order)):
        done = await attachment.condition.wait(
            lambda: state.navigating_to or not state.requests_since(order), timeout_s=deadline.remaining_s
        )
        if not done:
            return f"deadline: {len(pending)} requests pending, such as {_short(pending[0].url)}"
        main = state.main
        settle_ms = round(deadline.remaining_s * 1000)
        if main is None or settle_ms <= 0:
            break
        quiet = script_call("settle", {"settleMs": settle_ms, "quietMs": QUIET_MS})
        # One call per renderer.
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
        if (appearing := SettleReply.parse(outcomes[0]).appearing) and deadline.passed:
            return f"deadline: {_APPEARING}{appearing}"
    return "navigation" if state.navigating_to else "requests"


def _from_replies(
    frames: Sequence[Frame], replies: Sequence[SettleReply | BaseException], snapshots: Snapshots
) -> SnapshotResult | None:
    """The snapshot that the settling replies make together; None if the top frame sent none."""
    raws: list[Any] = [reply.snapshot if isinstance(reply, SettleReply) else reply for reply in replies]
    if not raws or raws[0] is None or isinstance(raws[0], BaseException):
        return None
    try:
        return snapshots.render(snapshots.assemble(frames, raws), snapshots.last_request)
    except ExecutionContextDestroyed:
        return None


def _changes(
    before: Before,
    after: SnapshotResult | None,
    reason: str,
    texts: tuple[str, ...],
    attachment: Attachment,
    snapshots: Snapshots,
    alive: frozenset[str] | None,
) -> Changes:
    state = attachment.state
    dialogs = attachment.dialogs.take_unreported()
    if after is None:
        return Changes(text=f"not known: {reason}", settled=reason, texts=texts, dialogs=dialogs)
    notes = [f"! {dialog}" for dialog in dialogs]
    if _APPEARING in reason:
        notes.append(f"! {reason[reason.index(_APPEARING) :]}")
    if before.last is None or state.navigations != before.navigations:
        # Every ref of a new document is new, so the page itself says more than a list of differences.
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


def _short(url: str) -> str:
    return url_token(url)[:_URL_CHARS]


def _is_ahead(settled: Settled) -> bool:
    """True if another frame stopped watching before the action, done in the acting frame, could have reached it."""
    acted_at = settled.reply.ended_at
    times = [reply.ended_at for reply in settled.replies if isinstance(reply, SettleReply)]
    return acted_at is not None and any(at is not None and at + _ANIMATION_FRAME_MS < acted_at for at in times)

"""After an action: wait for what it began, then tell what changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded
from bridge.page.attachment import Attachment, WorldGone
from bridge.page.results import Changes
from bridge.page.snapshots import Snapshots
from bridge.page.state import Frame
from bridge.snapshot import Delta, SnapshotResult, snapshot_delta

_SNAPSHOT_S = 5.0
_TEXTS_KEPT = 8
# A new page is told whole, as far as this goes; a snapshot gives the rest.
_NEW_PAGE_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Before:
    """What was known when the action began."""

    last: SnapshotResult | None
    url: str
    navigations: int
    request_order: int
    dialog_count: int


async def changes_since(
    before: Before,
    acted: Mapping[str, Any],
    frames: list[Frame],
    replies: list[Any],
    attachment: Attachment,
    snapshots: Snapshots,
    *,
    settle_s: float,
    long_settle_ms: float,
) -> Changes:
    """The delta since the last snapshot, taken from the settling replies when nothing else had to be waited for."""
    state = attachment.state
    deadline = Deadline.after(settle_s)
    reason = str(acted.get("reason") or "quiet")
    fresh = False
    if state.navigations != before.navigations or state.navigating_to or reason == "navigation":
        reason, fresh = "navigation", True
        there = await attachment.watch.wait(
            lambda: not state.navigating_to and state.main and "DOMContentLoaded" in state.main.lifecycle,
            timeout_s=deadline.remaining_s,
        )
        if not there:
            reason = f"deadline: still navigating to {state.navigating_to or (state.main and state.main.url)}"
    elif state.requests_since(before.request_order):
        fresh = True
        reason = "requests"
        done = await attachment.watch.wait(
            lambda: state.navigating_to or not state.requests_since(before.request_order),
            timeout_s=deadline.remaining_s,
        )
        if not done:
            pending = state.requests_since(before.request_order)
            reason = f"deadline: {len(pending)} requests pending, such as {pending[0].url[:120]}"
    elif len(frames) > 1 and _waited_ms(acted) > long_settle_ms:
        fresh = True
    after = None
    if not fresh:
        after = _from_replies(frames, replies, snapshots)
    if after is None:
        try:
            request = snapshots.last_request
            if reason.startswith("navigation"):
                request = replace(request, max_chars=min(request.max_chars, _NEW_PAGE_CHARS))
            after = await snapshots.take(request, timeout_s=_SNAPSHOT_S, remember_request=False)
        except (DeadlineExceeded, WorldGone):
            reason = f"{reason}; the page cannot be read yet"
    return _changes(before, after, reason, acted, attachment, snapshots)


def _from_replies(frames: list[Frame], replies: list[Any], snapshots: Snapshots) -> SnapshotResult | None:
    raws = [reply.get("snapshot") if isinstance(reply, Mapping) else reply for reply in replies]
    if not raws or not isinstance(raws[0], Mapping):
        return None
    try:
        return snapshots.render(snapshots.assemble(frames, raws), snapshots.last_request)
    except WorldGone:
        return None


def _changes(
    before: Before,
    after: SnapshotResult | None,
    reason: str,
    acted: Mapping[str, Any],
    attachment: Attachment,
    snapshots: Snapshots,
) -> Changes:
    state = attachment.state
    found = acted.get("texts")
    texts = tuple(str(text) for text in found[:_TEXTS_KEPT]) if isinstance(found, list) else ()
    dialogs = attachment.dialogs.take_untold()
    if after is None:
        return Changes(text=f"not known: {reason}", settled=reason, texts=texts, dialogs=dialogs)
    notes = [f"! {dialog}" for dialog in dialogs]
    if before.last is None or state.navigations != before.navigations:
        # Every ref of a new document is new: the page itself says more than a list of differences.
        delta = Delta(after.text, added=tuple(after.refs), full=True)
    else:
        delta = snapshot_delta(before.last, after, texts=texts, full=True)
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


def _waited_ms(acted: Mapping[str, Any]) -> float:
    waited = acted.get("waitedMs")
    return float(waited) if isinstance(waited, int | float) else 0.0

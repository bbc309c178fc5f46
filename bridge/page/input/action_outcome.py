"""Turns what the page reports about input into nothing, a notice, or an error that names the element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bridge.deadline import Deadline
from bridge.errors import ActionFailed, Covered, Unsupported
from bridge.page.input.script_replies import ScriptError, SettleReply
from bridge.page.input.settle import Settled
from bridge.page.results import Changes
from bridge.page.snapshots.refs import RefEntry, RefTable, document_gone
from bridge.page.snapshots.take import Snapshots
from bridge.page.target.attachment import CONTEXT_NAME, Attachment
from bridge.snapshot.wording import instead, opened_by


class OutcomeChecks:
    """The checks of one attachment's actions."""

    def __init__(self, attachment: Attachment, refs: RefTable, snapshots: Snapshots) -> None:
        self._attachment = attachment
        self._refs = refs
        self._snapshots = snapshots

    def raise_for(self, entry: RefEntry, action: str, error: ScriptError | None, deadline: Deadline) -> None:
        """Raise the error that the script reported, if it reported one."""
        if error is None:
            return
        if error.get("code") == "timeout":
            raise deadline.exceeded(f"{action} {entry.label}", str(error.get("lastSeen") or ""))
        if error.get("code") == "unsupported":
            control = self._refs.entry_at(entry.context_key, str(error.get("ref")))
            raise Unsupported(
                f"{action} {entry.label}: {opened_by(error)}.",
                hint=instead(error, control.ref if control else None),
                ref=entry.ref,
            )
        raise self._refs.failure(entry, error, self._snapshots.is_live)

    def check_hit(self, entry: RefEntry, settled: Settled) -> None:
        """Raise unless the input reached the element.

        Raises:
            StaleRef, RefNotFound: The element changed before the first event; the guard stopped the input.
            Covered: Something else was at the point; the guard stopped the input.
            DeadlineExceeded: The page is busy and has not handled the input yet.
            ActionFailed: The page handled the input, and none of its events reached the element.
        """
        reply = settled.reply
        self.raise_for(entry, "the input on", reply.error, settled.deadline)
        if reply.blocked_by is not None:
            raise Covered(f"{entry.label}: the tap was stopped because it would have hit {reply.blocked_by}.")
        if not reply.is_hit and reply.reason == "deadline":
            raise settled.deadline.exceeded(entry.label, "the input was sent, and the page has not handled it yet")
        if not reply.is_hit:
            raise ActionFailed(f"{entry.label}: the tap was sent, but none of its events reached the element.")

    def check_delivered(self, entry: RefEntry, acknowledged: Sequence[bool]) -> None:
        """Raise if the document was gone before it handled a finger's way down and up.

        A frame may be removed by its click.

        Args:
            acknowledged: For each acknowledged touch event, in order, whether the document was still there.

        Raises:
            RefNotFound: The document got none of the events, so the caller may repeat the tap on the new page.
            ActionFailed: It got the first one only.
        """
        if not any(acknowledged):
            raise document_gone(entry)
        if not all(acknowledged[:2]) and entry.frame_id in self._attachment.state.frames:
            raise ActionFailed(f"{entry.label}: the page navigated away during the tap.", hint="Take a new snapshot.")

    def check_click(self, entry: RefEntry, settled: Settled, changes: Changes) -> tuple[str, ...]:
        """Raise unless the tap clicked the element; a notice if the page's own touch handlers prevented the click.

        The error's `changes` are those that the first part of the tap caused.

        Raises:
            Covered: The page put something over the element during the tap.
            ActionFailed: There was no click event, or the document was gone before it.
        """
        reply = settled.reply
        if reply.clicks or reply.reason == "closed":
            return ()
        if not settled.is_answered:
            if entry.frame_id not in self._attachment.state.frames:
                return (f"the frame of {entry.ref} was removed from the page when it was tapped",)
            why = "the page navigated away during the tap, and it is unknown whether it was clicked"
            raise ActionFailed(f"{entry.label}: {why}.", hint="Take a new snapshot.", ref=entry.ref)
        if reply.interrupted_by is not None:
            raise Covered(
                f"{entry.label}: {reply.interrupted_by} appeared over it during the tap; the tap was cancelled.",
                ref=entry.ref,
                changes=changes.to_json(),
            )
        if reply.reason == "navigation":
            raise ActionFailed(
                f"{entry.label}: the page navigated away before the tap produced a click event.",
                hint="Take a new snapshot.",
                ref=entry.ref,
                changes=changes.to_json(),
            )
        if reply.is_taken:
            return (f"the page handles touch on {entry.ref} itself; the tap produced no click event",)
        raise ActionFailed(
            f"{entry.label}: the tap produced no click event.",
            hint="Take a new snapshot to see what the page did.",
            ref=entry.ref,
            changes=changes.to_json(),
        )

    def opened_at_press(self, entry: RefEntry, settled: Settled) -> tuple[str, ...]:
        """A notice if the press itself opened what the element is for: some menus open at `pointerdown`."""
        reply = settled.reply
        if reply.interrupted_by is None or not reply.is_opened or reply.clicks or reply.error is not None:
            return ()
        return (f"{entry.ref} opened when it was pressed, before the click",)

    def check_second_tap(self, entry: RefEntry, settled: Settled) -> None:
        """Raise if the first of two taps clicked the element and the guard stopped the second.

        The error's `taps_done` is 1, because repeating the action would tap three times.
        """
        reply = settled.reply
        if reply.clicks != 1:
            return
        try:
            self.raise_for(entry, "the input on", reply.error, settled.deadline)
            if reply.interrupted_by is not None:
                raise Covered(f"{entry.label}: {reply.interrupted_by} appeared over it.")
        except ActionFailed as error:
            error.message += " The first of the two taps was done; the second was cancelled."
            error.details["taps_done"] = 1
            raise

    def check_keys(self, entry: RefEntry, settled: Settled) -> None:
        """Raise unless the keys reached the element.

        Raises:
            ActionFailed: Something else took the focus, or the element got no key.
            DeadlineExceeded: The page is busy and has not handled the keys yet.
        """
        reply = settled.reply
        self.raise_for(entry, "the keys for", reply.error, settled.deadline)
        if (other := reply.interrupted_by) is not None:
            raise ActionFailed(f"{entry.label}: {other} took the focus; it received no key.", ref=entry.ref)
        for frame_reply in settled.replies:
            if isinstance(frame_reply, SettleReply) and (other := frame_reply.interrupted_by) is not None:
                raise ActionFailed(
                    f"{entry.label}: {other} in another frame took the focus; it received no key.", ref=entry.ref
                )
        if not reply.is_hit:
            if reply.reason == "deadline":
                raise settled.deadline.exceeded(
                    entry.label, "the keys were sent, and the page has not handled them yet"
                )
            raise ActionFailed(f"{entry.label}: the keys were sent, but none reached the element.", ref=entry.ref)

    def check_no_picker(self, action: str, settled: Settled) -> None:
        """Raise if keys without a ref would have opened the system dialog of a focused control, in any frame."""
        for frame, reply in zip(settled.frames, settled.replies, strict=True):
            if isinstance(reply, SettleReply):
                self.raise_for_picker(action, frame.frame_id, reply.error)

    def raise_for_picker(self, action: str, frame_id: str, error: ScriptError | None) -> None:
        """Raise Unsupported if that is what a frame reported about its focused control."""
        if error is not None and error.get("code") == "unsupported":
            ref = self._ref_in(frame_id, error)
            raise Unsupported(f"{action}: {opened_by(error)}.", hint=instead(error, ref), ref=ref)

    def requested_pickers(self, settled: Settled) -> Iterator[tuple[ScriptError, str | None]]:
        """The controls whose system dialogs the page itself asked for, each with its ref if it has one."""
        for frame, reply in zip(settled.frames, settled.replies, strict=True):
            if isinstance(reply, SettleReply) and reply.picker is not None:
                yield reply.picker, self._ref_in(frame.frame_id, reply.picker)

    def _ref_in(self, frame_id: str, error: ScriptError) -> str | None:
        context = self._attachment.state.context_of(frame_id, CONTEXT_NAME)
        control = self._refs.entry_at(context.key, str(error.get("ref"))) if context else None
        return control.ref if control else None

"""What became of input, from what the page answered: nothing, or the error of the tree that says what was hit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bridge.deadline import Deadline
from bridge.errors import ActionFailed, Covered, DeadlineExceeded, Unsupported
from bridge.page.input.settle import Settled
from bridge.page.snapshots.refs import RefEntry, RefTable
from bridge.page.snapshots.take import Snapshots
from bridge.page.target.attachment import CONTEXT_NAME, Attachment
from bridge.snapshot.wording import instead, opened_by


class Verdicts:
    """On the actions of one attachment."""

    def __init__(self, attachment: Attachment, refs: RefTable, snapshots: Snapshots) -> None:
        self._attachment = attachment
        self._refs = refs
        self._snapshots = snapshots

    def raise_for(self, entry: RefEntry, action: str, problem: object, deadline: Deadline) -> None:
        """Raise the error of the tree for what the script reported, if it did."""
        if not isinstance(problem, Mapping):
            return
        if problem.get("code") == "timeout":
            raise DeadlineExceeded(
                f"{action} {entry.ref} ({entry.described()})", deadline.timeout_s, str(problem.get("lastSeen") or "")
            )
        if problem.get("code") == "unsupported":
            control = self._refs.at_place(entry.context_key, str(problem.get("ref")))
            raise Unsupported(
                f"{action} {entry.ref} ({entry.described()}): {opened_by(problem)}.",
                hint=instead(problem, control.ref if control else None),
                ref=entry.ref,
            )
        raise self._refs.failure(entry, problem, self._snapshots.is_live)

    def check_hit(self, entry: RefEntry, settled: Settled) -> None:
        """Raise what became of input that the guard stopped, or that nothing came of."""
        self.raise_for(entry, "the input", settled.acted.get("error"), settled.deadline)
        if isinstance(landed_on := settled.acted.get("landedOn"), str):
            raise Covered(f"{entry.ref} ({entry.described()}): the tap was stopped, it would have hit {landed_on}.")
        is_hit = settled.acted.get("hit") is not False
        if not is_hit and settled.acted.get("reason") == "deadline":
            raise DeadlineExceeded(
                f"{entry.ref} ({entry.described()})",
                settled.deadline.timeout_s,
                "the input was sent, and the page had not taken it yet",
            )
        if not is_hit:
            raise ActionFailed(
                f"{entry.ref} ({entry.described()}): the tap was sent, but no event of it reached the element."
            )

    def check_keys(self, entry: RefEntry, settled: Settled) -> None:
        """Raise where keys were kept from what they were not meant for, or did not arrive."""
        self.raise_for(entry, "the keys", settled.acted.get("error"), settled.deadline)
        if isinstance(over := settled.acted.get("over"), str):
            raise ActionFailed(
                f"{entry.ref} ({entry.described()}): the focus went to {over} meanwhile, which was given no key.",
                ref=entry.ref,
            )
        for reply in settled.replies:
            if reply is not settled.acted and isinstance(reply, Mapping) and isinstance(reply.get("over"), str):
                raise ActionFailed(
                    f"{entry.ref} ({entry.described()}): the focus went to {reply['over']} of another frame meanwhile, "
                    "which was given no key.",
                    ref=entry.ref,
                )
        if settled.acted.get("hit") is False:
            if settled.acted.get("reason") == "deadline":
                raise settled.deadline.exceeded(
                    f"{entry.ref} ({entry.described()})", "the keys were sent, and the page had not taken them yet"
                )
            raise ActionFailed(
                f"{entry.ref} ({entry.described()}): the keys were sent, but none of them reached the element.",
                ref=entry.ref,
            )

    def check_pickers(self, what: str, settled: Settled) -> None:
        """Raise where keys without a ref would have opened the dialog of what has the focus, in any frame."""
        for frame, reply in zip(settled.frames, settled.replies, strict=True):
            if isinstance(reply, Mapping):
                self.raise_for_picker(what, frame.frame_id, reply.get("error"))

    def raise_for_picker(self, what: str, frame_id: str, problem: object) -> None:
        if isinstance(problem, Mapping) and problem.get("code") == "unsupported":
            ref = self._ref_in(frame_id, problem)
            raise Unsupported(f"{what}: {opened_by(problem)}.", hint=instead(problem, ref), ref=ref)

    def pickers_asked_for(self, settled: Settled) -> Iterator[tuple[Mapping[str, object], str | None]]:
        """The controls whose dialogs the page has asked for by itself, with their refs where they have one."""
        for frame, reply in zip(settled.frames, settled.replies, strict=True):
            asked = reply.get("picker") if isinstance(reply, Mapping) else None
            if isinstance(asked, Mapping):
                yield asked, self._ref_in(frame.frame_id, asked)

    def _ref_in(self, frame_id: str, problem: Mapping[str, object]) -> str | None:
        context = self._attachment.state.context_of(frame_id, CONTEXT_NAME)
        control = self._refs.at_place(context.key, str(problem.get("ref"))) if context else None
        return control.ref if control else None

    def check_second_tap(self, entry: RefEntry, settled: Settled) -> None:
        """Raise where the first of two taps clicked the element and the second was kept from what is there now.

        `taps_done` is 1 in the error's details: doing all of it again is not the same.
        """
        if settled.acted.get("clicks") != 1:
            return
        try:
            self.raise_for(entry, "the input", settled.acted.get("error"), settled.deadline)
            if isinstance(over := settled.acted.get("over"), str):
                raise Covered(f"{entry.ref} ({entry.described()}): {over} came over it.")
        except ActionFailed as error:
            error.message += " The first of two taps was done, the second was stopped."
            error.details["taps_done"] = 1
            raise


def kept_from(entry: RefEntry, settled: Settled) -> tuple[str, ...]:
    """What is to be said of a tap that began on the element and brought no click while it was looked at."""
    acted, over = settled.acted, settled.acted.get("over")
    if acted.get("clicks") or acted.get("reason") in ("navigation", "closed"):
        return ()
    if isinstance(over, str):
        return (f"{over} came over {entry.ref} during the tap, and was not given the rest of it: there was no click",)
    return (f"no click has come of the tap on {entry.ref}: the page takes touch itself, or its click is late",)

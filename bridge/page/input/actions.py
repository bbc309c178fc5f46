"""Actions by ref: check the element, send input under a guard, settle, and report what changed.

A click on a ready element takes two round trips. The first call checks the element, scrolls to it and arms a guard that
stops every event that would land elsewhere. Then settling, finger down and finger up are sent together. The settling
reply carries the new snapshot, so the delta costs no further round trip. Anything else that has to be waited for (a
navigation, requests that the action started) adds one, and the result names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from bridge.cost import Cost
from bridge.deadline import Deadline
from bridge.errors import (
    Covered,
    DeadlineExceeded,
    ElementDisabled,
    ExecutionContextDestroyed,
    NotVisible,
    ScriptFailed,
    TabLost,
    TransportError,
    UsageError,
)
from bridge.page.input.action_outcome import OutcomeChecks
from bridge.page.input.script_replies import PrepareReply, SettleReply
from bridge.page.input.settle import (
    OTHER_FRAMES_LEAST_MS,
    QUIET_MS,
    Before,
    Settled,
    changes_of_closed,
    changes_since,
)
from bridge.page.input.side_effects import SideEffects
from bridge.page.input.touch import tap_commands
from bridge.page.locator_handlers import LocatorHandlers
from bridge.page.results import ActionResult, Changes
from bridge.page.snapshots.refs import RefEntry, RefTable, document_gone
from bridge.page.snapshots.take import Snapshots
from bridge.page.target.attachment import Attachment
from bridge.page.target.frame_geometry import to_top_viewport
from bridge.snapshot.injected import script_call

InputKind = Literal["touch", "script"]
# Time for settling after the checks used up the action's own.
_LEAST_SETTLE_S = 0.1
# The page acknowledges input; the acknowledgement has to travel.
_ACKNOWLEDGED_S = 0.5
_STAND_DOWN_S = 1.0
# How long an element is waited for before the page's locator handlers are asked again.
_HANDLERS_AGAIN_S = 0.5
# Actions that end in a click, or in whatever a phone does for a finger that stays.
_TAPS = frozenset({"click", "double_click", "check", "uncheck", "long_press"})
# The events that end a tap or two.
_CLICKS = frozenset({"click", "dblclick"})
#: Disarms the guard of an action that is not carried out.
DISARM = script_call("settle", {"settleMs": 0})


class Actions:
    """The actions of one attachment."""

    def __init__(
        self,
        attachment: Attachment,
        refs: RefTable,
        snapshots: Snapshots,
        side_effects: SideEffects,
        handlers: LocatorHandlers,
    ) -> None:
        self.attachment = attachment
        self.refs = refs
        self.snapshots = snapshots
        self.checks = OutcomeChecks(attachment, refs, snapshots)
        self.side_effects = side_effects
        self._handlers = handlers

    async def click(
        self, ref: str, deadline: Deadline, *, settle_s: float = 1.0, input: InputKind = "touch"
    ) -> ActionResult:
        """Tap the element once it is visible, enabled, not moving, and on top at the point of the tap."""
        if input == "script":
            return await self.scripted(ref, "click", {}, deadline, settle_s=settle_s)
        entry = self.look_up(ref)
        with self.attachment.connection.measure() as meter:
            before = self.before()
            ready = await self.prepare(entry, "click", deadline)
            settled = await self.tap(entry, ready, "click", settle_s, deadline)
            changes = await self.changes(before, settled)
        notices = self.checks.opened_at_press(entry, settled) or self.checks.check_click(entry, settled, changes)
        return ActionResult(action="click", ref=entry.ref, changes=changes, cost=meter.cost(), notices=notices)

    async def tap(
        self,
        entry: RefEntry,
        ready: PrepareReply,
        action: Literal["click", "double_click", "check", "uncheck"],
        settle_s: float,
        deadline: Deadline,
        *,
        after: str = "",
    ) -> Settled:
        """Tap where `prepare` found the element. Repeats a tap that the guard stopped: the page got none of its events.

        Raises:
            Covered: Something else was at the point each time, until the deadline.
            ActionFailed: See `OutcomeChecks.check_second_tap`.
        """
        is_double = action == "double_click"
        while True:
            x, y = await self.in_top_viewport(entry, ready, deadline)
            commands = tap_commands(x, y) * (2 if is_double else 1)
            event = "dblclick" if is_double else "click"
            settled = await self.send_and_settle(entry, commands, settle_s, deadline, expect=event, after=after)
            if is_double:
                self.checks.check_second_tap(entry, settled)
            try:
                self.checks.check_hit(entry, settled)
            except Covered as stopped:
                try:
                    ready = await self.prepare(entry, action, deadline)
                except DeadlineExceeded:
                    raise stopped from None
            else:
                return settled

    async def scripted(
        self, ref: str, action: str, params: Mapping[str, Any], deadline: Deadline, *, settle_s: float = 1.0
    ) -> ActionResult:
        """An action that the script itself performs: checks, action and settling in one round trip."""
        entry = self.look_up(ref)
        with self.attachment.connection.measure() as meter:
            before = self.before()
            preparing = prepare_options(action, deadline, hit=False)
            settling = self.settle_options(settle_time(settle_s, deadline))
            expression = script_call("actAndSettle", entry.local, action, dict(params), preparing, settling)
            awaited = f"{action} {entry.ref}"
            settled = await self.send_and_settle(entry, [], settle_s, deadline, expression=expression, awaited=awaited)
            self.checks.raise_for(entry, action, settled.reply.error, deadline)
            changes = await self.changes(before, settled)
        return _scripted_result(entry.ref, action, settled.reply.done, changes, meter.cost())

    def look_up(self, ref: str) -> RefEntry:
        return self.refs.look_up(ref, self.snapshots.is_live)

    async def point(
        self, entry: RefEntry, action: str, deadline: Deadline, *, also: str = ""
    ) -> tuple[float, float, PrepareReply]:
        """The point to touch, in the top frame's viewport, and the reply of the checks.

        Raises:
            NotVisible, ElementDisabled, Covered, DeadlineExceeded: It could not be touched until the deadline.
        """
        ready = await self.prepare(entry, action, deadline, also=also)
        x, y = await self.in_top_viewport(entry, ready, deadline)
        return x, y, ready

    async def in_top_viewport(self, entry: RefEntry, ready: PrepareReply, deadline: Deadline) -> tuple[float, float]:
        """The point that `prepare` found, in the top frame's viewport.

        One round trip for each ancestor that the script could not read: of another origin, or shown at another size.
        """
        frames, frame_id = self.attachment.state.frames, entry.frame_id
        for _ in range(ready.frames_up):
            frame = frames.get(frame_id)
            frame_id = (frame.parent_id if frame else None) or frame_id
        indexes, left_s = self.snapshots.frame_indexes, deadline.remaining_s
        return await to_top_viewport(
            self.attachment, indexes, frame_id, ready.x, ready.y, of=entry.label, timeout_s=left_s
        )

    async def prepare(
        self,
        entry: RefEntry,
        action: str,
        deadline: Deadline,
        *,
        hit: bool = True,
        also: str = "",
        first: Sequence[object] | None = None,
    ) -> PrepareReply:
        """Wait in the page until the element can take the action, and arm the guard over the input that follows.

        Args:
            also: The script's function that is called with the element when it is ready. Its value is `also` of the
                reply.
            first: The script's function that is called with the element before the checks, and its arguments. Unless
                its value is undefined, the checks are skipped and the value is `first` of the reply.
        """
        while True:
            until = deadline.at_most(_HANDLERS_AGAIN_S) if self._handlers.are_waiting else deadline
            options = {**prepare_options(action, until, hit=hit), "first": first, "also": also or None}
            expression = script_call("prepare", entry.local, action, options)
            ready = PrepareReply.parse(await self.evaluate(entry, expression, f"{action} {entry.ref}", deadline))
            try:
                self.checks.raise_for(entry, action, ready.error, deadline)
            except (Covered, DeadlineExceeded, ElementDisabled, NotVisible):
                if until is deadline or deadline.passed:
                    raise
                await self._handlers.run(deadline, inside_operation=True)
            else:
                return ready

    async def evaluate(self, entry: RefEntry, expression: str, awaited: str, deadline: Deadline) -> Any:
        """The value of an expression in the element's document; errors name the ref, or `awaited` if it times out."""
        try:
            return await self.attachment.evaluate(entry.frame_id, expression, timeout_s=deadline.remaining_s)
        except ExecutionContextDestroyed as error:
            raise document_gone(entry) from error
        except DeadlineExceeded as error:
            raise deadline.exceeded(awaited, "the page did not respond") from error

    async def stand_down(self, entry: RefEntry) -> None:
        """Disarm the guard of an action that was prepared and not carried out."""
        with suppress(ExecutionContextDestroyed, ScriptFailed, DeadlineExceeded):
            await self.attachment.evaluate(entry.frame_id, DISARM, timeout_s=_STAND_DOWN_S)

    async def send(self, commands: Iterable[tuple[str, dict[str, Any]]], awaited: str, deadline: Deadline) -> None:
        """Send input events at once and in order, and wait until the page acknowledged them."""
        calls = [self.attachment.connection.send(method, params) for method, params in commands]
        try:
            for call in calls:
                await call.result(timeout_s=deadline.remaining_s)
        except DeadlineExceeded as error:
            raise deadline.exceeded(awaited, "the page did not accept the input") from error
        finally:
            for call in calls:
                call.abandon()

    async def send_and_settle(
        self,
        entry: RefEntry | None,
        commands: Iterable[tuple[str, dict[str, Any]]],
        settle_s: float,
        deadline: Deadline,
        *,
        expect: str | None = None,
        after: str = "",
        expression: str = "",
        awaited: str = "",
        frame_id: str | None = None,
    ) -> Settled:
        """Send input events and wait until the page is quiet. Each frame gets the wait before the input is sent.

        An event handler may keep the page busy until the action's deadline; a page that is busy then counts as hung.

        Args:
            entry: The element that the input is for. Its frame is the acting one.
            expect: The event that the input ends with.
            after: The script's function that is called with the element when the page is quiet. Its value is `after` of
                the reply.
            expression: A call of the script that settles in the acting frame, in place of the usual one.
            awaited: What the error of a page that does not respond names.
            frame_id: The acting frame of input that is for no element; the top frame by default.
        """
        settle_s = settle_time(settle_s, deadline)
        settling, timeout_s = Deadline.after(settle_s), max(deadline.remaining_s, settle_s)
        frames, main = self.attachment.state.ordered_frames(), self.attachment.state.main
        acting_id = entry.frame_id if entry else frame_id or (main.frame_id if main else "")
        commands = list(commands)
        if not expression:
            options = self.settle_options(settle_s, expect, timeout_s)
            if entry is not None and after:
                options["after"] = (entry.local, after)
            expression = script_call("settle", options)
        key = entry.context_key if entry else ""
        acknowledged: list[bool] = []

        def is_acting_document() -> bool:
            return not key or self.snapshots.is_live(key)

        least_ms = OTHER_FRAMES_LEAST_MS if commands else 0
        other = script_call("settle", self.settle_options(settle_s, least_ms=least_ms))
        outcomes = await self.attachment.evaluate_in_frames(
            frames,
            lambda frame: expression if frame.frame_id == acting_id else other,
            main_frame_id=acting_id,
            timeout_s=timeout_s,
            busy_s=settle_s,
            and_then=[
                self._send_input(method, params, is_acting_document, acknowledged, timeout_s + _ACKNOWLEDGED_S)
                for method, params in commands
            ],
        )
        replies, sent = [_parsed(outcome) for outcome in outcomes[: len(frames)]], outcomes[len(frames) :]
        acted = next((reply for frame, reply in zip(frames, replies, strict=True) if frame.frame_id == acting_id), None)
        was_received = any(not isinstance(outcome, BaseException) for outcome in sent)
        if isinstance(acted, ExecutionContextDestroyed) or acted is None:
            if expect in _CLICKS and entry is not None:
                self.checks.check_delivered(entry, acknowledged)
            return Settled(
                SettleReply("navigation"), frames, replies, settling, deadline, was_received, is_answered=False
            )
        if was_received and isinstance(acted, TransportError) and await self.side_effects.closes():
            return Settled(SettleReply("closed"), frames, replies, settling, deadline)
        awaited = awaited or f"settling after the input on {entry.label if entry else 'the page'}"
        for outcome in (acted, *sent):
            if isinstance(outcome, DeadlineExceeded):
                raise deadline.exceeded(awaited, outcome.last_seen) from outcome
            if isinstance(outcome, BaseException):
                raise outcome
        assert isinstance(acted, SettleReply)
        return Settled(acted, frames, replies, settling, deadline)

    async def _send_input(
        self,
        method: str,
        params: dict[str, Any],
        is_acting_document: Callable[[], bool],
        acknowledged: list[bool],
        timeout_s: float,
    ) -> None:
        """Send an input event; on its acknowledgement, note whether the acting document was still there."""
        call = self.attachment.connection.send(method, params)
        call.reduce(lambda _reply: acknowledged.append(is_acting_document()))
        await call.result(timeout_s=timeout_s)

    async def changes(self, before: Before, settled: Settled) -> Changes:
        """The changes since `before`; side effects outside the DOM are noted for the result."""
        for control, ref in self.checks.requested_pickers(settled):
            self.side_effects.picker(control, ref)
        if settled.reply.reason == "closed":
            await self.side_effects.closes()  # notes it
            return changes_of_closed(self.attachment, self.side_effects.how_closed)
        try:
            return await changes_since(before, settled, self.attachment, self.snapshots)
        except (TabLost, TransportError):
            if settled.was_received and await self.side_effects.closes():
                return changes_of_closed(self.attachment, self.side_effects.how_closed)
            raise

    def before(self) -> Before:
        return Before.now(self.attachment, self.snapshots)

    def settle_options(
        self, settle_s: float, expect: str | None = None, expect_s: float = 0.0, *, least_ms: int = 0
    ) -> dict[str, Any]:
        """The options of the script's `settle`; `expect_s` is how long the expected event may take."""
        return {
            "settleMs": round(settle_s * 1000),
            "quietMs": QUIET_MS,
            "expect": expect,
            "expectMs": round(max(expect_s, settle_s) * 1000),
            "leastMs": least_ms,
            "snapshot": self.snapshots.last_request.script_options(None),
        }


def settle_time(settle_s: float, deadline: Deadline) -> float:
    """The part of the action's time that settling may use."""
    return min(settle_s, max(deadline.remaining_s, _LEAST_SETTLE_S))


def prepare_options(
    action: str, deadline: Deadline, *, hit: bool = True, keys: bool = False, opens: bool = False
) -> dict[str, Any]:
    """The options of the script's `prepare`.

    Args:
        hit: A finger will touch the element, so it also has to be in view, not moving and on top.
        keys: Keys will be pressed, and may reach nothing else.
        opens: One of those keys opens pickers.
    """
    timeout_ms = round(deadline.remaining_s * 1000)
    return {"timeoutMs": timeout_ms, "hit": hit, "keys": keys, "noPicker": opens or action in _TAPS}


def password_notices(value: object) -> tuple[str, ...]:
    """The notice that replaces the value of a password field."""
    if not isinstance(value, Mapping) or not isinstance(value.get("filled"), bool):
        return ()
    return (f"the password field is now {'filled' if value['filled'] else 'empty'}; its value is not shown",)


def checked_input_kind(kind: str) -> InputKind:
    if kind == "touch":
        return "touch"
    if kind == "script":
        return "script"
    raise UsageError(f"input={kind!r}", hint='Use "touch" or "script".')


def option_values(values: Sequence[str | Sequence[str]]) -> list[str]:
    """The options that a caller passed to `select_option`, as one list.

    Raises:
        UsageError: An option is not a string.
    """
    wanted: list[str] = []
    for value in values:
        wanted.extend(value if isinstance(value, Sequence) and not isinstance(value, str) else [value])
    if not all(isinstance(value, str) for value in wanted):
        raise UsageError(f"values are {wanted!r}; options are chosen by their value or text.")
    return wanted


def _parsed(outcome: Any) -> SettleReply | BaseException:
    if isinstance(outcome, BaseException):
        return outcome
    try:
        return SettleReply.parse(outcome)
    except ScriptFailed as error:
        return error


def _scripted_result(ref: str, action: str, done: Mapping[str, Any], changes: Changes, cost: Cost) -> ActionResult:
    value, values, checked = done.get("value"), done.get("values"), done.get("checked")
    return ActionResult(
        action=action,
        ref=ref,
        changes=changes,
        cost=cost,
        value=value if isinstance(value, str) else None,
        values=tuple(map(str, values)) if isinstance(values, list) else None,
        checked=checked if isinstance(checked, bool | str) else None,
        notices=password_notices(done.get("unshown")),
    )

"""Acting by ref: check, act, settle, and say what changed, in as few waits as the page allows.

A click is two round trips on a ready element: one call checks the element, scrolls to it and arms a guard that stops
any event which would land elsewhere; then settling, finger down and finger up are sent together. Settling answers
with the new snapshot, so the delta costs nothing more. Whatever has to be waited for (a navigation, requests that the
action began) adds a round trip, and the result says what it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from bridge.cost import Cost
from bridge.deadline import Deadline
from bridge.errors import Covered, DeadlineExceeded, RefNotFound, ScriptFailed, TabLost, TransportError, UsageError
from bridge.page.input.action_outcome import Verdicts, kept_from
from bridge.page.input.settle import OTHERS_LEAST_MS, QUIET_MS, Before, Settled, changes_of_closed, changes_since
from bridge.page.input.side_effects import SideEffects
from bridge.page.input.touch import tap_commands
from bridge.page.results import ActionResult, Changes
from bridge.page.snapshots.element_handles import on_element
from bridge.page.snapshots.refs import RefEntry, RefTable
from bridge.page.snapshots.take import SnapshotRequest, Snapshots
from bridge.page.target.attachment import Attachment
from bridge.page.target.execution_contexts import ExecutionContextDestroyed
from bridge.page.target.frame_geometry import to_top_viewport

InputKind = Literal["touch", "script"]
# What is left for settling when getting ready has taken all the time there was.
_LEAST_SETTLE_S = 0.1
# Input is acknowledged by the page that it was sent to; that reply has to travel.
_ACKNOWLEDGED_S = 0.5
# What ends in a click, or in what a phone makes of a finger that stays.
_TAPS = frozenset({"click", "double_click", "check", "uncheck", "long_press"})
# Characters of a control's value that a result holds.
_MAX_VALUE = 100_000


class Actions:
    """The actions of one attachment."""

    def __init__(self, attachment: Attachment, refs: RefTable, snapshots: Snapshots, asides: SideEffects) -> None:
        self.attachment = attachment
        self.refs = refs
        self.snapshots = snapshots
        self.verdicts = Verdicts(attachment, refs, snapshots)
        self.asides = asides

    async def click(
        self, ref: str, deadline: Deadline, *, settle_s: float = 1.0, input: InputKind = "touch"
    ) -> ActionResult:
        """Tap the element, once it is visible, enabled, still and on top at the point of the tap."""
        if input == "script":
            return await self.scripted(ref, "click", {}, deadline, settle_s=settle_s)
        entry = self.look_up(ref)
        with self.attachment.connection.measure() as meter:
            before = self.before()
            settled = await self.tap(entry, await self.prepare(entry, "click", deadline), "click", settle_s, deadline)
            changes = await self.changes(before, settled)
        notices = kept_from(entry, settled)
        return ActionResult(action="click", ref=entry.ref, changes=changes, cost=meter.cost(), notices=notices)

    async def tap(
        self,
        entry: RefEntry,
        ready: Mapping[str, Any],
        action: Literal["click", "double_click", "check", "uncheck"],
        settle_s: float,
        deadline: Deadline,
        *,
        after: str = "",
    ) -> Settled:
        """Tap where `prepare` found the element, and once more where that has moved from under the finger.

        A tap that the guard has stopped gave the page no event, so it may be done again.

        Raises:
            Covered: Something else was at the point each time, until the deadline.
            ActionFailed: See `Verdicts.check_second_tap`.
        """
        double = action == "double_click"
        while True:
            x, y = await self.in_top_viewport(entry, ready, deadline)
            commands = tap_commands(x, y) * (2 if double else 1)
            event = "dblclick" if double else "click"
            settled = await self.act_and_settle(entry, event, commands, settle_s, deadline, after=after)
            if double:
                self.verdicts.check_second_tap(entry, settled)
            try:
                self.verdicts.check_hit(entry, settled)
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
        """An action that the script performs itself: check, act and settle in one round trip."""
        entry = self.look_up(ref)
        with self.attachment.connection.measure() as meter:
            before = self.before()
            settle_s = settle_time(settle_s, deadline)
            local, kind = json.dumps(entry.local), json.dumps(action)
            away = focus_away(entry) if action == "focus" else ""
            refuse = on_element(f"el=>el&&a.refuse(el,{kind},g)", entry.local)
            step = on_element("el=>el&&el.step", entry.local)
            expression = (
                f"(async(a,p)=>{{p=await a.prepare({local},{kind},{prepare_options(action, deadline, hit=False)});"
                f"if(p.error)return p;const g={json.dumps(dict(params))},f={refuse};if(f)return{{error:f}};"
                f"const r=await a.action({local},{kind},g);"
                f"if(!r.success){{if(r.error.type)r.error.step={step};return r}}{away}"
                # Nobody would hear of it later: the window goes as soon as the script has ended.
                "if(closed)return{reason:'closed',hit:true,done:r};"
                f"p=Object.assign(await a.settle({self.settle_options(settle_s)}),{{done:r}});"
                # A framework may have made something else of the value by now.
                f"const v=a.query({local},'value',{_MAX_VALUE}).value;if(r.value!=null&&v!=null)r.value=v;"
                f"const e=a.element({local});if(e.type=='password')r.unshown={{filled:!!e.value}};return p}})"
                "(__agentBrowser)"
            )
            settled = await self.settle_with(entry, f"{action} {entry.ref}", expression, [], settle_s, deadline)
            self.verdicts.raise_for(entry, action, settled.acted.get("error"), deadline)
            changes = await self.changes(before, settled)
        return scripted_result(entry.ref, action, settled.acted.get("done"), changes, meter.cost())

    def look_up(self, ref: str) -> RefEntry:
        return self.refs.look_up(ref, self.snapshots.is_live)

    async def point(
        self, entry: RefEntry, action: str, deadline: Deadline, *, also: str = ""
    ) -> tuple[float, float, Mapping[str, Any]]:
        """Where to touch the element, in the top frame's viewport, and all that the check answered.

        Raises:
            NotVisible, ElementDisabled, Covered, DeadlineExceeded: It could not be touched until the deadline.
        """
        ready = await self.prepare(entry, action, deadline, also=also)
        x, y = await self.in_top_viewport(entry, ready, deadline)
        return x, y, ready

    async def in_top_viewport(
        self, entry: RefEntry, ready: Mapping[str, Any], deadline: Deadline
    ) -> tuple[float, float]:
        """The point that `prepare` found; from a frame of another origin, or one that is shown in another size, its
        ancestors are asked where it lies."""
        x, y = float(ready["x"]), float(ready["y"])
        frames, frame_id = self.attachment.state.frames, entry.frame_id
        for _ in range(int(ready.get("up") or 0)):
            frame = frames.get(frame_id)
            frame_id = (frame.parent_id if frame else None) or frame_id
        of = f"{entry.ref} ({entry.described()})"
        indexes, left_s = self.snapshots.frame_indexes, deadline.remaining_s
        return await to_top_viewport(self.attachment, indexes, frame_id, x, y, of=of, timeout_s=left_s)

    async def prepare(
        self, entry: RefEntry, action: str, deadline: Deadline, *, hit: bool = True, also: str = "", first: str = ""
    ) -> Mapping[str, Any]:
        """Wait in the page until the element can take the action, and arm the guard over what comes next.

        Args:
            also: JavaScript of the element, run when it is ready; its value is `also` of what is returned.
            first: JavaScript of the element, run before; unless its value is undefined, that is `first` of what is
                returned, and nothing was waited for or armed.
        """
        local = json.dumps(entry.local)
        call = f"a.prepare({local},{json.dumps(action)},{prepare_options(action, deadline, hit=hit)})"
        early = f"const f={on_element(first, entry.local)};if(f!==undefined)return{{first:f}};" if first else ""
        late = f"if(!p.error)p.also={on_element(also, entry.local)};" if also else ""
        expression = f"(async a=>{{{early}const p=await {call};{late}return p}})(__agentBrowser)"
        ready = await self.evaluate(entry, expression, f"{action} {entry.ref}", deadline)
        if not isinstance(ready, Mapping):
            raise ScriptFailed("the check before the action gave no object")
        self.verdicts.raise_for(entry, action, ready.get("error"), deadline)
        return ready

    async def evaluate(self, entry: RefEntry, expression: str, awaited: str, deadline: Deadline) -> Any:
        """The value of an expression in the document of `entry`, with errors that name the ref."""
        try:
            return await self.attachment.evaluate(entry.frame_id, expression, timeout_s=deadline.remaining_s)
        except ExecutionContextDestroyed as error:
            raise self.left_behind(entry) from error
        except DeadlineExceeded as error:
            raise DeadlineExceeded(awaited, deadline.timeout_s, "the page did not answer") from error

    async def stand_down(self, entry: RefEntry) -> None:
        """Disarm the guard of an action that was prepared and not done."""
        with suppress(ExecutionContextDestroyed, ScriptFailed, DeadlineExceeded):
            await self.attachment.evaluate(entry.frame_id, "__agentBrowser.settle({settleMs:0})", timeout_s=1.0)

    async def send(self, commands: Iterable[tuple[str, dict[str, Any]]], awaited: str, deadline: Deadline) -> None:
        """Input events, all sent at once, in their order; `awaited` is what the error of a busy page names."""
        sent = [self.attachment.connection.send(method, params) for method, params in commands]
        try:
            for call in sent:
                await call.result(timeout_s=deadline.remaining_s)
        except DeadlineExceeded as error:
            raise DeadlineExceeded(awaited, deadline.timeout_s, "the page did not take the input") from error
        finally:
            for call in sent:
                call.abandon()

    def left_behind(self, entry: RefEntry) -> RefNotFound:
        return RefNotFound(
            f"{entry.ref} was {entry.described()} on {entry.page_url}, which was left meanwhile.",
            hint="Take a new snapshot.",
            ref=entry.ref,
            was=entry.described(),
        )

    async def act_and_settle(
        self,
        entry: RefEntry | None,
        expect: str | None,
        commands: list[tuple[str, dict[str, Any]]],
        settle_s: float,
        deadline: Deadline,
        *,
        after: str = "",
        frame_id: str | None = None,
    ) -> Settled:
        """Send the input and wait until what it began is over.

        Args:
            after: JavaScript of the element, run then.
            frame_id: Where the input arrives that is for no element; the top frame without one.
        """
        settle_s = settle_time(settle_s, deadline)
        expect_s = max(deadline.remaining_s, settle_s)
        expression = f"__agentBrowser.settle({self.settle_options(settle_s, expect, expect_s)})"
        if entry is not None and after:
            look = on_element(after, entry.local)
            expression = f"(async a=>{{const s=await {expression};s.after={look};return s}})(__agentBrowser)"
        what = f"{entry.ref} ({entry.described()})" if entry else "the page"
        awaited = f"settling of {what} after the input was sent"
        return await self.settle_with(entry, awaited, expression, commands, settle_s, deadline, frame_id=frame_id)

    async def settle_with(
        self,
        entry: RefEntry | None,
        awaited: str,
        expression: str,
        commands: list[tuple[str, dict[str, Any]]],
        settle_s: float,
        deadline: Deadline,
        *,
        frame_id: str | None = None,
    ) -> Settled:
        """Send settling to every frame and then the input, all in one go; the acting frame's answer decides.

        A handler may keep the page busy until the action's deadline; who is busy then counts as stuck.

        Args:
            entry: Whose frame `expression` runs in; without one, `frame_id` or the top frame.
            awaited: What the error of a page that does not answer names.
        """
        settling = Deadline.after(settle_s)
        timeout_s = max(deadline.remaining_s, settle_s)
        frames = self.attachment.state.ordered_frames()
        main = self.attachment.state.main
        frame_id = entry.frame_id if entry else frame_id or (main.frame_id if main else "")
        other = f"__agentBrowser.settle({self.settle_options(settle_s, least_ms=OTHERS_LEAST_MS if commands else 0)})"
        outcomes = await self.attachment.evaluate_in_frames(
            frames,
            lambda frame: expression if frame.frame_id == frame_id else other,
            main_frame_id=frame_id,
            timeout_s=timeout_s,
            busy_s=settle_s,
            and_then=[
                self.attachment.call(method, params, timeout_s=timeout_s + _ACKNOWLEDGED_S)
                for method, params in commands
            ],
        )
        replies, sent = outcomes[: len(frames)], outcomes[len(frames) :]
        acted = next((reply for frame, reply in zip(frames, replies, strict=True) if frame.frame_id == frame_id), None)
        is_taken = any(not isinstance(outcome, BaseException) for outcome in sent)
        if isinstance(acted, ExecutionContextDestroyed) or acted is None:
            return Settled({"reason": "navigation", "hit": True}, frames, replies, settling, deadline, is_taken)
        if is_taken and isinstance(acted, TransportError) and await self.asides.closes():
            return Settled({"reason": "closed", "hit": True}, frames, replies, settling, deadline)
        for outcome in (acted, *sent):
            if isinstance(outcome, DeadlineExceeded):
                raise DeadlineExceeded(awaited, deadline.timeout_s, outcome.last_seen) from outcome
            if isinstance(outcome, BaseException):
                raise outcome
        if not isinstance(acted, Mapping):
            raise ScriptFailed("settling gave no object")
        return Settled(acted, frames, replies, settling, deadline)

    async def changes(self, before: Before, settled: Settled) -> Changes:
        for problem, ref in self.verdicts.pickers_asked_for(settled):
            self.asides.picker(problem, ref)
        if settled.acted.get("reason") == "closed":
            await self.asides.closes()  # which notes it
            return changes_of_closed(self.attachment, self.asides.how_closed)
        try:
            return await changes_since(before, settled, self.attachment, self.snapshots)
        except (TabLost, TransportError):
            if settled.is_taken and await self.asides.closes():
                return changes_of_closed(self.attachment, self.asides.how_closed)
            raise

    def before(self) -> Before:
        return Before.now(self.attachment, self.snapshots)

    def settle_options(
        self, settle_s: float, expect: str | None = None, expect_s: float = 0.0, *, least_ms: int = 0
    ) -> str:
        """The script's options; `expect` is the event that the input ends with, and may take `expect_s` to come."""
        request: SnapshotRequest = self.snapshots.last_request
        options = {
            "settleMs": round(settle_s * 1000),
            "quietMs": QUIET_MS,
            "expect": expect,
            "expectMs": round(max(expect_s, settle_s) * 1000),
            "leastMs": least_ms,
            "snapshot": request.script_options(None),
        }
        return json.dumps(options)


def settle_time(settle_s: float, deadline: Deadline) -> float:
    """What settling may take of the action's own time."""
    return min(settle_s, max(deadline.remaining_s, _LEAST_SETTLE_S))


def prepare_options(
    action: str, deadline: Deadline, *, hit: bool = True, keys: bool = False, opens: bool = False
) -> str:
    """What the script's `prepare` is given.

    Args:
        hit: A finger is going to touch it; else only the element itself has to be ready.
        keys: Keys are going to be pressed, and may reach nothing else.
        opens: One of them is a key that opens a picker.
    """
    timeout_ms = round(deadline.remaining_s * 1000)
    return json.dumps({"timeoutMs": timeout_ms, "hit": hit, "keys": keys, "noPicker": opens or action in _TAPS})


def focus_away(entry: RefEntry) -> str:
    """JavaScript that returns the failure, where something else has got the focus."""
    return f"const w={on_element('el=>el&&a.focusAway(el)', entry.local)};if(w)return w;"


def scripted_result(ref: str, action: str, done: Any, changes: Changes, cost: Cost) -> ActionResult:
    facts = done if isinstance(done, Mapping) else {}
    values = facts.get("values")
    return ActionResult(
        action=action,
        ref=ref,
        changes=changes,
        cost=cost,
        value=facts["value"] if isinstance(facts.get("value"), str) else None,
        values=tuple(str(value) for value in values) if isinstance(values, list) else None,
        checked=facts.get("checked") if isinstance(facts.get("checked"), bool | str) else None,
        notices=unshown(facts.get("unshown")),
    )


def unshown(held: object) -> tuple[str, ...]:
    """What is said of a password field in place of its value."""
    if not isinstance(held, Mapping) or not isinstance(held.get("filled"), bool):
        return ()
    return (f"the password field is {'filled' if held['filled'] else 'empty'} now; what it holds is not shown",)


def checked_input_kind(kind: str) -> InputKind:
    if kind == "touch":
        return "touch"
    if kind == "script":
        return "script"
    raise UsageError(f"input={kind!r}", hint='It is "touch" or "script".')


def option_values(values: Sequence[str | Sequence[str]]) -> list[str]:
    """What `select` was asked for, as options to look for.

    Raises:
        UsageError: Something that is no text.
    """
    wanted: list[str] = []
    for value in values:
        wanted.extend(value if isinstance(value, Sequence) and not isinstance(value, str) else [value])
    if not all(isinstance(value, str) for value in wanted):
        raise UsageError(f"values are {wanted!r}; options are chosen by their value or text.")
    return wanted

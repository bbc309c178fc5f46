"""Acting by ref: check, act, settle, and say what changed, in as few waits as the page allows.

A click is two round trips on a ready element: one call checks the element, scrolls to it and arms a guard that stops
any event which would land elsewhere; then settling, finger down and finger up are sent together. Settling answers
with the new snapshot, so the delta costs nothing more. Whatever has to be waited for (a navigation, requests that the
action began) adds a round trip, and the result says what it was.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bridge.cdp import Cost
from bridge.deadline import Deadline
from bridge.errors import ActionFailed, Covered, DeadlineExceeded, RefNotFound, ScriptFailed, UsageError
from bridge.page.attachment import Attachment, WorldGone
from bridge.page.keys import key_events, parse_chord
from bridge.page.pointer import tap_commands, to_top_viewport
from bridge.page.refs import RefEntry, RefTable
from bridge.page.results import ActionResult, Changes
from bridge.page.settling import Before, changes_since
from bridge.page.snapshots import SnapshotRequest, Snapshots
from bridge.page.state import Frame

InputKind = Literal["touch", "script"]
# Without changes a page is called quiet after this long; two animation frames are part of it.
_QUIET_MS = 34
# Settling answers early when the page is quiet for so long that other frames had their chance too.
_LONG_SETTLE_MS = 150


@dataclass(frozen=True, slots=True)
class _Settled:
    """What came back from settling in all frames."""

    acted: Mapping[str, Any]
    frames: list[Frame]
    replies: list[Any]


class Actions:
    """The actions of one attachment."""

    def __init__(self, attachment: Attachment, refs: RefTable, snapshots: Snapshots) -> None:
        self._attachment = attachment
        self._refs = refs
        self._snapshots = snapshots

    async def click(
        self, ref: str, *, timeout_s: float, settle_s: float = 1.0, input: InputKind = "touch"
    ) -> ActionResult:
        """Tap the element, once it is visible, enabled, still and on top at the point of the tap."""
        if input == "script":
            return await self.scripted(ref, "click", {}, timeout_s=timeout_s, settle_s=settle_s)
        deadline = Deadline.after(timeout_s)
        entry = self._refs.look_up(ref, self._snapshots.is_live)
        with self._attachment.connection.measure() as meter:
            before = self._before()
            ready = await self._prepare(entry, "click", deadline)
            x, y = float(ready["x"]), float(ready["y"])
            if not ready.get("top"):
                x, y = await to_top_viewport(
                    self._attachment, self._snapshots.frame_indexes, entry, x, y, timeout_s=deadline.remaining_s
                )
            settled = await self._act_and_settle(entry, "click", tap_commands(x, y), settle_s)
            self._check_hit(entry, settled)
            changes = await self._changes(before, settled, settle_s)
        return ActionResult(action="click", ref=entry.ref, changes=changes, cost=meter.cost())

    async def scripted(
        self, ref: str, action: str, params: Mapping[str, Any], *, timeout_s: float, settle_s: float = 1.0
    ) -> ActionResult:
        """An action that the script performs itself: check, act and settle in one round trip."""
        deadline = Deadline.after(timeout_s)
        entry = self._refs.look_up(ref, self._snapshots.is_live)
        with self._attachment.connection.measure() as meter:
            before = self._before()
            local, kind = json.dumps(entry.local), json.dumps(action)
            expression = (
                f"(async(a,p)=>{{p=await a.prepare({local},{kind},{_prepare_options(deadline, hit=False)});"
                f"if(p.error)return p;const s=a.settle({self._settle_options(settle_s, None)});"
                f"const r=await a.action({local},{kind},{json.dumps(dict(params))});"
                "return r.success?Object.assign(await s,{done:r}):r})(__agentBrowser)"
            )
            settled = await self._settle_with(entry.frame_id, expression, [], settle_s, deadline.remaining_s)
            error = settled.acted.get("error")
            if isinstance(error, Mapping):
                raise self._refs.failure(entry, error, self._snapshots.is_live)
            changes = await self._changes(before, settled, settle_s)
        return _scripted_result(entry.ref, action, settled.acted.get("done"), changes, meter.cost())

    async def press(self, chord: str, *, ref: str | None, timeout_s: float, settle_s: float = 1.0) -> ActionResult:
        """Press a key or chord on what has the focus, or on `ref` after focusing it: two round trips."""
        deadline = Deadline.after(timeout_s)
        commands = [("Input.dispatchKeyEvent", event) for event in key_events(parse_chord(chord))]
        entry = self._refs.look_up(ref, self._snapshots.is_live) if ref is not None else None
        with self._attachment.connection.measure() as meter:
            before = self._before()
            if entry is not None:
                # Focusing has armed the watch for the key, so settling may travel with it.
                await self._focus(entry, deadline)
                settled = await self._act_and_settle(entry, "key", commands, settle_s)
            else:
                # Input overtakes scripts in the renderer: settling that is sent along may come after the key.
                await asyncio.gather(
                    *(
                        self._attachment.call(method, event, timeout_s=deadline.remaining_s)
                        for method, event in commands
                    )
                )
                settled = await self._act_and_settle(None, None, [], settle_s)
            changes = await self._changes(before, settled, settle_s)
        return ActionResult(action="press", ref=entry.ref if entry else None, changes=changes, cost=meter.cost())

    async def _prepare(self, entry: RefEntry, action: str, deadline: Deadline) -> Mapping[str, Any]:
        call = f"__agentBrowser.prepare({json.dumps(entry.local)},{json.dumps(action)},{_prepare_options(deadline)})"
        try:
            ready = await self._attachment.evaluate(entry.frame_id, call, timeout_s=deadline.remaining_s)
        except WorldGone as error:
            raise self._left_behind(entry) from error
        except DeadlineExceeded as error:
            raise DeadlineExceeded(f"{action} {entry.ref}", deadline.timeout_s, "the page did not answer") from error
        if not isinstance(ready, Mapping):
            raise ScriptFailed("the check before the action gave no object")
        problem = ready.get("error")
        if isinstance(problem, Mapping):
            if problem.get("code") == "timeout":
                raise DeadlineExceeded(
                    f"{action} {entry.ref} ({entry.described()})", deadline.timeout_s, str(problem.get("lastSeen", ""))
                )
            raise self._refs.failure(entry, problem, self._snapshots.is_live)
        return ready

    async def _focus(self, entry: RefEntry, deadline: Deadline) -> None:
        local = json.dumps(entry.local)
        call = (
            f"(async a=>{{const p=await a.prepare({local},'focus',{_prepare_options(deadline, hit=False)});"
            f"return p.error?p:a.action({local},'focus',{{}})}})(__agentBrowser)"
        )
        try:
            done = await self._attachment.evaluate(entry.frame_id, call, timeout_s=deadline.remaining_s)
        except WorldGone as error:
            raise self._left_behind(entry) from error
        if isinstance(done, Mapping) and isinstance(done.get("error"), Mapping):
            raise self._refs.failure(entry, done["error"], self._snapshots.is_live)

    def _left_behind(self, entry: RefEntry) -> RefNotFound:
        return RefNotFound(
            f"{entry.ref} was {entry.described()} on {entry.page_url}, which was left meanwhile.",
            hint="Take a new snapshot.",
            ref=entry.ref,
            was=entry.described(),
        )

    async def _act_and_settle(
        self, entry: RefEntry | None, expect: str | None, commands: list[tuple[str, dict[str, Any]]], settle_s: float
    ) -> _Settled:
        main = self._attachment.state.main
        frame_id = entry.frame_id if entry else (main.frame_id if main else "")
        expression = f"__agentBrowser.settle({self._settle_options(settle_s, expect)})"
        return await self._settle_with(frame_id, expression, commands, settle_s, settle_s)

    async def _settle_with(
        self,
        frame_id: str,
        expression: str,
        commands: list[tuple[str, dict[str, Any]]],
        settle_s: float,
        timeout_s: float,
    ) -> _Settled:
        """Send settling to every frame and then the input, all in one go; the acting frame's answer decides."""
        frames = self._attachment.state.ordered_frames()
        other = f"__agentBrowser.settle({self._settle_options(settle_s, None)})"
        waits = [
            self._attachment.evaluate(
                frame.frame_id,
                expression if frame.frame_id == frame_id else other,
                timeout_s=max(timeout_s, settle_s),
            )
            for frame in frames
        ]
        inputs = [self._attachment.call(method, params, timeout_s=timeout_s + 5) for method, params in commands]
        outcomes: list[Any] = await asyncio.gather(*waits, *inputs, return_exceptions=True)
        replies, sent = outcomes[: len(frames)], outcomes[len(frames) :]
        acted = next((reply for frame, reply in zip(frames, replies, strict=True) if frame.frame_id == frame_id), None)
        if isinstance(acted, WorldGone) or acted is None:
            return _Settled({"reason": "navigation", "hit": True}, frames, replies)
        for outcome in (acted, *sent):
            if isinstance(outcome, BaseException):
                raise outcome
        if not isinstance(acted, Mapping):
            raise ScriptFailed("settling gave no object")
        return _Settled(acted, frames, replies)

    def _check_hit(self, entry: RefEntry, settled: _Settled) -> None:
        hit = settled.acted.get("hit")
        if isinstance(hit, str):
            raise Covered(f"{entry.ref} ({entry.described()}): the tap was stopped, it would have hit {hit}.")
        if hit is False:
            raise ActionFailed(
                f"{entry.ref} ({entry.described()}): the tap was sent, but no event of it reached the element."
            )

    async def _changes(self, before: Before, settled: _Settled, settle_s: float) -> Changes:
        return await changes_since(
            before,
            settled.acted,
            settled.frames,
            settled.replies,
            self._attachment,
            self._snapshots,
            settle_s=settle_s,
            long_settle_ms=_LONG_SETTLE_MS,
        )

    def _before(self) -> Before:
        state = self._attachment.state
        return Before(
            last=self._snapshots.last,
            url=self._snapshots.page_url,
            navigations=state.navigations,
            request_order=state.request_order,
            dialog_count=state.dialog_count,
        )

    def _settle_options(self, settle_s: float, expect: str | None) -> str:
        request: SnapshotRequest = self._snapshots.last_request
        options = {
            "settleMs": round(settle_s * 1000),
            "quietMs": _QUIET_MS,
            "expect": expect,
            "snapshot": request.script_options(None),
        }
        return json.dumps(options)


def _prepare_options(deadline: Deadline, *, hit: bool = True) -> str:
    return json.dumps({"timeoutMs": round(deadline.remaining_s * 1000), "hit": hit, "touch": True})


def _scripted_result(ref: str, action: str, done: Any, changes: Changes, cost: Cost) -> ActionResult:
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
    )


def checked_input_kind(kind: str) -> InputKind:
    if kind == "touch":
        return "touch"
    if kind == "script":
        return "script"
    raise UsageError(f"input={kind!r}", hint='It is "touch" or "script".')

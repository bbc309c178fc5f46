"""Locators: an element by what a person calls it, found anew each time it is used.

    await page.get_by_role("button", name="Pay").click()
    await expect(page.get_by_text("Paid")).to_be_visible()

A locator is a description, not an element. An action on it waits until exactly one element matches; several are an
error that lists them. All frames are searched, the top one first.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bridge.deadline import Deadline
from bridge.errors import RefNotFound, ScriptFailed, SeveralMatches, StaleRef, UsageError
from bridge.page.instrumentation import observable
from bridge.page.results import ActionResult
from bridge.page.snapshots.aria_roles import checked_role
from bridge.page.target.attachment import WorldGone
from bridge.page.target.frame_calls import ask_frames

if TYPE_CHECKING:
    from bridge.page.input.gestures import Direction
    from bridge.page.input.query import QueryKind, QueryResult
    from bridge.page.locating import LocatingPage

Text = str | re.Pattern[str]
Step = dict[str, Any]
LOCATOR_TIMEOUT_S = 5.0
_LISTED = 10
# How long one look stays in the page for something to change. Frames are waited for together, so with several of them
# a change in one must not wait long for the others.
_LOOK_S = 0.5
_LOOK_AT_FRAMES_S = 0.1
_REPLY_S = 5.0
# The look at a deadline's end is a look, although nothing is left of it.
_LAST_REPLY_S = 1.0


@dataclass(frozen=True, slots=True)
class Match:
    """One element as it was when it was looked at; `value` of a password is None."""

    ref: str
    role: str
    name: str
    text: str
    attrs: Mapping[str, str]
    visible: bool
    enabled: bool
    editable: bool
    checked: bool
    focused: bool
    value: str | None
    values: tuple[str, ...] | None

    def described(self) -> str:
        name = self.name or self.text[:60]
        return f'{self.ref} {self.role} "{name}"' if name else f"{self.ref} {self.role}"


@dataclass(frozen=True, slots=True)
class Found:
    """What a look at the page saw: how many match, and the first of them.

    Attributes:
        unread: The addresses of frames whose renderer does not answer; what matches there is not counted.
    """

    count: int
    matches: tuple[Match, ...]
    states: tuple[str | None, ...] = ()
    unread: tuple[str, ...] = ()

    def described(self) -> str:
        if self.unread:
            seen = replace(self, unread=()).described()
            return f"{seen}, but for the frame at {self.unread[0][:200]}, which does not answer"
        if not self.count:
            return "nothing matches"
        more = f" and {self.count - len(self.matches)} more" if self.count > len(self.matches) else ""
        return f"{', '.join(match.described() for match in self.matches)}{more}"


@observable(lambda locator: locator._page, repr)
class Locator:
    """A description of elements on a page; every method that narrows it gives a new one."""

    def __init__(self, page: LocatingPage, steps: tuple[Step, ...], said: str) -> None:
        self._page = page
        self._steps = steps
        self._said = said

    def __repr__(self) -> str:
        return self._said

    def locator(self, css: str) -> Locator:
        return self._with({"css": css}, f"locator({css!r})")

    def get_by_role(self, role: str, *, name: Text | None = None, exact: bool = False) -> Locator:
        """Elements of that ARIA role that a person can perceive; `name` is part of their accessible name.

        Raises:
            UsageError: No element has such a role.
        """
        step: Step = {"role": checked_role(role)}
        if name is not None:
            step["name"] = _matcher(name, exact)
        said = f", name={_shown(name)}" if name is not None else ""
        return self._with(step, f"get_by_role({role!r}{said}{_exactly(exact)})")

    def get_by_text(self, text: Text, *, exact: bool = False) -> Locator:
        """The innermost elements with that text."""
        return self._with({"text": _matcher(text, exact)}, f"get_by_text({_shown(text)}{_exactly(exact)})")

    def get_by_label(self, text: Text, *, exact: bool = False) -> Locator:
        """Controls by their label, `aria-label` or `aria-labelledby`."""
        return self._with({"label": _matcher(text, exact)}, f"get_by_label({_shown(text)}{_exactly(exact)})")

    def get_by_placeholder(self, text: Text, *, exact: bool = False) -> Locator:
        return self._with(
            {"placeholder": _matcher(text, exact)}, f"get_by_placeholder({_shown(text)}{_exactly(exact)})"
        )

    def get_by_test_id(self, test_id: str) -> Locator:
        """By the attribute `data-testid`."""
        return self._with({"testid": test_id}, f"get_by_test_id({test_id!r})")

    def filter(self, *, has_text: Text | None = None, visible: bool | None = None) -> Locator:
        """Those of them that have this text in them, or that are visible or not."""
        if (has_text is None) == (visible is None):
            raise UsageError("filter needs has_text or visible", hint="Filter twice for both.")
        if has_text is not None:
            return self._with({"hasText": _matcher(has_text, False)}, f"filter(has_text={_shown(has_text)})")
        return self._with({"visible": bool(visible)}, f"filter(visible={visible})")

    def nth(self, index: int) -> Locator:
        """The one of that number, from 0; negative ones count from the end. Over all frames when it comes last."""
        if not isinstance(index, int) or isinstance(index, bool):
            raise UsageError(f"nth({index!r}) is no number")
        return self._with({"nth": index}, f"nth({index})")

    @property
    def first(self) -> Locator:
        return self.nth(0)

    @property
    def last(self) -> Locator:
        return self.nth(-1)

    async def count(self) -> int:
        """How many match now.

        Raises:
            DeadlineExceeded: A frame does not answer, so nobody knows; it is named.
        """
        return (await self._whole("counting")).count

    async def all(self) -> tuple[Match, ...]:
        """What matches now, the first ten.

        Raises:
            DeadlineExceeded: See `count`.
        """
        return (await self._whole("listing")).matches

    async def ref(self, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> str:
        """The ref of the one element that matches, as soon as there is one.

        Raises:
            SeveralMatches: Lists them.
            DeadlineExceeded: Nothing matched.
        """
        return (await self.one(Deadline.after(timeout_s))).ref

    async def click(self, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.click(ref, timeout_s=left), timeout_s)

    async def double_click(self, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.double_click(ref, timeout_s=left), timeout_s)

    async def long_press(self, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.long_press(ref, timeout_s=left), timeout_s)

    async def fill(self, value: str, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.fill(ref, value, timeout_s=left), timeout_s)

    async def type(self, text: str, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.type(text, ref=ref, timeout_s=left), timeout_s)

    async def clear(self, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.clear(ref, timeout_s=left), timeout_s)

    async def check(self, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.check(ref, timeout_s=left), timeout_s)

    async def uncheck(self, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.uncheck(ref, timeout_s=left), timeout_s)

    async def select(self, *values: str, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.select(ref, *values, timeout_s=left), timeout_s)

    async def press(self, key: str, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.press(key, ref=ref, timeout_s=left), timeout_s)

    async def focus(self, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.focus(ref, timeout_s=left), timeout_s)

    async def hover(self, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.hover(ref, timeout_s=left), timeout_s)

    async def scroll_into_view(self, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> ActionResult:
        return await self._act(lambda ref, left: self._page.scroll_into_view(ref, timeout_s=left), timeout_s)

    async def swipe(
        self, direction: Direction, *, distance_px: float = 300, timeout_s: float = LOCATOR_TIMEOUT_S
    ) -> ActionResult:
        return await self._act(
            lambda ref, left: self._page.swipe(direction, ref=ref, distance_px=distance_px, timeout_s=left), timeout_s
        )

    async def drag_to(self, goal: Locator, *, timeout_s: float = 2 * LOCATOR_TIMEOUT_S) -> ActionResult:
        deadline = Deadline.after(timeout_s)
        to = (await goal.one(deadline)).ref
        return await self._act(lambda ref, left: self._page.drag(ref, to, timeout_s=left), deadline.remaining_s)

    async def query(self, kind: QueryKind, limit: int = 2_000, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> QueryResult:
        deadline = Deadline.after(timeout_s)
        ref = await self.ref(timeout_s=timeout_s)
        return await self._page.query(ref, kind, limit, timeout_s=deadline.remaining_s)

    async def one(self, deadline: Deadline) -> Match:
        """The only match, waited for.

        Raises:
            SeveralMatches, DeadlineExceeded: As for `ref`.
        """
        found = await self.look(None, deadline)
        while not found.count:
            if deadline.remaining_s <= 0:
                raise deadline.exceeded(f"finding {self!r}", found.described())
            found = await self.look(found, deadline)
        self.raise_if_several(found)
        return found.matches[0]

    def raise_if_several(self, found: Found) -> None:
        if found.count > 1:
            raise SeveralMatches(
                f"{self!r} matches {found.count} elements: {found.described()}.",
                hint="Narrow it down by name, exact=True or filter, or choose one with nth.",
                count=found.count,
                matches=[match.described() for match in found.matches],
            )

    async def look(self, seen: Found | None = None, deadline: Deadline | None = None) -> Found:
        """What matches now; with `seen`, as soon as it is something else, or after a moment.

        Raises:
            UsageError: The page does not understand a selector.
        """
        return await self._page._look(self._steps, seen, deadline)

    async def _whole(self, what: str) -> Found:
        """A look that all frames have answered."""
        deadline = Deadline.after(LOCATOR_TIMEOUT_S)
        while (found := await self.look(None, deadline)).unread:
            if deadline.passed:
                raise deadline.exceeded(f"{what} {self!r}", found.described())
        return found

    async def _act(self, act: Callable[[str, float], Awaitable[ActionResult]], timeout_s: float) -> ActionResult:
        """Find, then act; a page that draws the element anew between the two is asked again."""
        deadline = Deadline.after(timeout_s)
        while True:
            ref = (await self.one(deadline)).ref
            try:
                return await act(ref, max(deadline.remaining_s, 0.05))
            except (RefNotFound, StaleRef) as error:
                if deadline.passed or error.details.get("taps_done"):
                    raise

    def _with(self, step: Step, said: str) -> Locator:
        return Locator(self._page, (*self._steps, step), f"{self._said}.{said}" if self._said else said)


async def look(page: LocatingPage, steps: tuple[Step, ...], seen: Found | None, deadline: Deadline | None) -> Found:
    """One look at all frames at once."""
    attachment = await page._here()
    frames = attachment.state.ordered_frames()
    wait_s = 0.0
    reply_s = _REPLY_S if deadline is None else min(_REPLY_S, max(_LAST_REPLY_S, deadline.remaining_s))
    if seen is not None:
        wait_s = min(_LOOK_S if len(frames) == 1 else _LOOK_AT_FRAMES_S, deadline.remaining_s if deadline else 1)
    # A number that comes last counts over all frames; further in, each frame counts for itself.
    nth = steps[-1]["nth"] if steps and "nth" in steps[-1] else None
    states = seen.states if seen is not None and len(seen.states) == len(frames) else (None,) * len(frames)
    asked = steps if nth is None else steps[:-1]
    known = {frame.frame_id: state for frame, state in zip(frames, states, strict=True)}
    replies = await ask_frames(
        attachment,
        frames,
        lambda frame: attachment.evaluate(
            frame.frame_id, _call(asked, known[frame.frame_id], wait_s, -1), timeout_s=wait_s + reply_s
        ),
        lead=frames[0].frame_id if frames else "",
        busy_until_s=wait_s,
    )
    counts: list[int] = []
    found: list[Match | None] = []
    for frame, reply in zip(frames, replies, strict=True):
        if isinstance(reply, WorldGone | ScriptFailed):
            counts.append(0)
            continue
        if isinstance(reply, BaseException):
            raise reply
        if "error" in reply:
            raise UsageError(f"the page does not understand {steps}: {reply['error']}")
        counts.append(int(reply["n"]))
        page._place_frame(frame.frame_id, reply["frame"])
        found += page._matches(frame.frame_id, reply["items"])
        found += [None] * (counts[-1] - len(reply["items"]))
    silent = [
        place
        for place, (frame, reply) in enumerate(zip(frames, replies, strict=True))
        if isinstance(reply, WorldGone) and frame.session_id in attachment.silent_sessions
    ]
    unread = tuple(frames[place].url for place in silent)
    told = tuple(reply.get("state") if isinstance(reply, Mapping) else None for reply in replies)
    if isinstance(replies[0], WorldGone) and wait_s:
        await asyncio.sleep(min(wait_s, 0.05))
    if nth is None:
        return Found(sum(counts), tuple(match for match in found if match)[:_LISTED], told, unread)
    place = nth if nth >= 0 else len(found) + nth
    # Beyond a frame that does not answer nobody knows the numbers.
    known_below = sum(counts[: silent[0]]) if silent and nth >= 0 else len(found)
    known_from = sum(counts[: silent[-1]]) if silent and nth < 0 else 0
    if not known_from <= place < known_below:
        return Found(0, (), told, unread)
    match = found[place]
    if match is None:
        for frame, count in zip(frames, counts, strict=True):
            if place < count:
                reply = await attachment.evaluate(frame.frame_id, _call(asked, None, 0, place), timeout_s=reply_s)
                match = next(iter(page._matches(frame.frame_id, reply["items"])), None)
                break
            place -= count
    return Found(1, (match,), told) if match else Found(0, (), told)


def match_of(ref: str, item: Mapping[str, Any]) -> Match:
    values = item.get("values")
    return Match(
        ref=ref,
        role=str(item["role"]),
        name=str(item["name"]),
        text=str(item["text"]),
        attrs=item["attrs"],
        visible=bool(item["visible"]),
        enabled=bool(item["enabled"]),
        editable=bool(item["editable"]),
        checked=bool(item["checked"]),
        focused=bool(item["focused"]),
        value=item["value"] if isinstance(item.get("value"), str) else None,
        values=tuple(str(value) for value in values) if isinstance(values, list) else None,
    )


def _call(steps: tuple[Step, ...], seen: str | None, wait_s: float, at: int) -> str:
    options = {"limit": _LISTED, "at": at, "seen": seen, "ms": round(wait_s * 1000)}
    return f"__agentBrowser.locate({json.dumps(steps)},{json.dumps(options)})"


def _matcher(text: Text, exact: bool) -> dict[str, Any]:
    if isinstance(text, str):
        return {"text": text, "exact": exact}
    if not isinstance(text, re.Pattern):
        raise UsageError(f"{text!r} is neither text nor a regular expression")
    return {"source": text.pattern, "flags": "i" if text.flags & re.IGNORECASE else ""}


def _shown(text: Text) -> str:
    """As it is written in Python: a trace becomes a test."""
    if isinstance(text, str):
        return repr(text)
    return f"re.compile({text.pattern!r}{', re.IGNORECASE' if text.flags & re.IGNORECASE else ''})"


def _exactly(exact: bool) -> str:
    return ", exact=True" if exact else ""

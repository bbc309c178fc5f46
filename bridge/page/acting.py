"""The methods of a page that act on it by ref, and that read one element."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from bridge.cost import est_tokens
from bridge.deadline import checked_seconds
from bridge.errors import BridgeError, RefNotFound, StaleRef, UsageError
from bridge.page.input import gestures
from bridge.page.input.actions import Actions, checked_input_kind
from bridge.page.input.drag_and_drop import drag
from bridge.page.input.keyboard import checked_text, press_key, type_text
from bridge.page.input.query import QueryKind, QueryResult, query
from bridge.page.input.scroll import scroll
from bridge.page.input.set_checked import set_checked
from bridge.page.input.touch import Direction
from bridge.page.results import ActionResult
from bridge.page.snapshots.take import Snapshots
from bridge.page.target.attachment import Attachment
from bridge.page.turn import Turn

ACTION_TIMEOUT_S = 5.0
_FRESH_SNAPSHOT_S = 5.0
_Outcome = TypeVar("_Outcome")


class ActingPage(ABC):
    """Every action waits until its element can take it, and its result tells what changed on the page.

    All raise:
        RefNotFound, StaleRef: The element is gone or has become something else; says what it was and what resembles it.
        NotVisible, ElementDisabled, Covered: It could not be acted on until the deadline.
        DeadlineExceeded: With what was in the way.

    Attributes:
        snapshot_on_dead_ref: When a ref turns out to be dead, take a snapshot and put its text into
            `error.details["snapshot"]`: a model can go on without asking.
    """

    snapshot_on_dead_ref: bool = False
    _turn: Turn
    _actions: Actions | None
    _snapshots: Snapshots | None

    @abstractmethod
    async def _ready(self) -> tuple[Attachment, tuple[str, ...]]: ...

    @abstractmethod
    async def _here(self) -> Attachment: ...

    @abstractmethod
    def _take_side_effects(self) -> tuple[str, ...]:
        """What has happened beside the page, and has not been told."""

    async def click(
        self,
        ref: str,
        *,
        timeout_s: float = ACTION_TIMEOUT_S,
        settle_s: float = 1.0,
        input: Literal["touch", "script"] = "touch",
    ) -> ActionResult:
        """Tap the element of `ref` and tell what changed.

        Args:
            input: "touch" taps as a finger does; "script" sends the synthetic event sequence instead.

        Raises:
            RefNotFound, StaleRef: The element is gone or has become something else; says what it was.
            NotVisible, ElementDisabled, Covered: It could not be tapped until the deadline.
            DeadlineExceeded: With what was in the way.
        """
        kind = checked_input_kind(input)
        return await self._act(
            lambda actions, left: actions.click(ref, timeout_s=left, settle_s=settle_s, input=kind), timeout_s, settle_s
        )

    async def fill(
        self, ref: str, value: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Replace what the control holds by `value`, as frameworks notice it: one round trip.

        Raises:
            NotEditable: The element takes no text.
            InvalidValue: It takes another form, which the message names (dates: 2026-02-28).
        """
        return await self._scripted(ref, "fill", {"value": checked_text("value", value)}, timeout_s, settle_s)

    async def type(
        self, text: str, *, ref: str | None = None, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Type key by key after what `ref` holds, or where the focus is; `fill` replaces and is quicker."""
        return await self._act(
            lambda actions, left: type_text(actions, ref, text, timeout_s=left, settle_s=settle_s), timeout_s, settle_s
        )

    async def clear(self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0) -> ActionResult:
        """Empty the control, as frameworks notice it: one round trip."""
        return await self._scripted(ref, "clear", {}, timeout_s, settle_s)

    async def check(self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0) -> ActionResult:
        """Tap a checkbox, radio button or switch unless it is checked, and see that it is then.

        Raises:
            NotCheckable: It is no such control, or stays unchecked.
        """
        return await self._act(
            lambda acts, left: set_checked(acts, ref, True, timeout_s=left, settle_s=settle_s), timeout_s, settle_s
        )

    async def uncheck(self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0) -> ActionResult:
        """Tap a checkbox or switch if it is checked, and see that it is not then.

        Raises:
            NotUncheckable: It is no such control, or stays checked; radio buttons are unchecked by checking another.
        """
        return await self._act(
            lambda acts, left: set_checked(acts, ref, False, timeout_s=left, settle_s=settle_s), timeout_s, settle_s
        )

    async def select(
        self, ref: str, *values: str | Sequence[str], timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Choose the options of a `<select>` by value or by visible text, and no others: one round trip, by script.

        Raises:
            NotASelectElement: Custom list boxes are clicked like anything else.
            NoSuchOption: Names the options there are.
        """
        return await self._scripted(ref, "select", {"values": option_values(values)}, timeout_s, settle_s)

    async def focus(self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0) -> ActionResult:
        """Put the focus on the element: one round trip."""
        return await self._scripted(ref, "focus", {}, timeout_s, settle_s)

    async def scroll_into_view(
        self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Scroll until the element is in the middle of what shows it: one round trip."""
        return await self._scripted(ref, "scroll_into_view", {}, timeout_s, settle_s)

    async def double_click(
        self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Tap the element twice in a row."""
        return await self._act(
            lambda acts, left: gestures.double_click(acts, ref, timeout_s=left, settle_s=settle_s), timeout_s, settle_s
        )

    async def long_press(self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0) -> ActionResult:
        """Hold a finger on the element for 0.7 s."""
        return await self._act(
            lambda acts, left: gestures.long_press(acts, ref, timeout_s=left, settle_s=settle_s), timeout_s, settle_s
        )

    async def hover(self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0) -> ActionResult:
        """Rest a mouse pointer on the element."""
        return await self._act(
            lambda acts, left: gestures.hover(acts, ref, timeout_s=left, settle_s=settle_s), timeout_s, settle_s
        )

    async def drag(
        self,
        ref: str,
        to: str | None = None,
        *,
        by: tuple[float, float] | None = None,
        hold_s: float = 0.0,
        timeout_s: float = 2 * ACTION_TIMEOUT_S,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Drag the element onto another ref, or by (dx, dy) CSS pixels.

        A finger does it; `draggable=true` elements, which touch does not move, get the events of HTML by script.

        Args:
            hold_s: Hold still so long first, for lists that drag after a long press.
        """
        return await self._act(
            lambda acts, left: drag(acts, ref, to, by, hold_s, timeout_s=left, settle_s=settle_s),
            timeout_s,
            settle_s,
        )

    async def swipe(
        self,
        direction: Direction,
        *,
        ref: str | None = None,
        distance_px: float = 300,
        timeout_s: float = ACTION_TIMEOUT_S,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Move a finger in `direction`, over the element or over the middle of the page."""
        return await self._act(
            lambda acts, left: gestures.swipe(acts, direction, ref, distance_px, timeout_s=left, settle_s=settle_s),
            timeout_s,
            settle_s,
        )

    async def pinch(
        self,
        scale: float,
        *,
        ref: str | None = None,
        timeout_s: float = ACTION_TIMEOUT_S,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Move two fingers apart (`scale` over 1) or together, around the element or the middle of the page."""
        return await self._act(
            lambda acts, left: gestures.pinch(acts, scale, ref, timeout_s=left, settle_s=settle_s), timeout_s, settle_s
        )

    async def scroll(
        self,
        direction: Direction,
        amount: float = 300,
        *,
        ref: str | None = None,
        timeout_s: float = ACTION_TIMEOUT_S,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Scroll by CSS pixels what scrolls around `ref`, or in the middle of the page; says when nothing moved."""
        return await self._act(
            lambda acts, left: scroll(acts, direction, amount, ref, timeout_s=left, settle_s=settle_s),
            timeout_s,
            settle_s,
        )

    async def query(
        self, ref: str, kind: QueryKind, limit: int = 2_000, *, timeout_s: float = ACTION_TIMEOUT_S
    ) -> QueryResult:
        """The text, html, value, attrs, computed_styles or box of the element: one round trip.

        Raises:
            RefNotFound, StaleRef: The element is gone or has become something else.
        """
        found, _ = await self._run(lambda actions, left: query(actions, ref, kind, limit, timeout_s=left), timeout_s)
        return found

    async def press(
        self, key: str, *, ref: str | None = None, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Press a key (`Enter`, `a`) or chord (`Control+A`) on the focused element, or on `ref` after focusing it."""
        return await self._act(
            lambda actions, left: press_key(actions, key, ref, timeout_s=left, settle_s=settle_s), timeout_s, settle_s
        )

    async def _scripted(
        self, ref: str, action: str, params: Mapping[str, Any], timeout_s: float, settle_s: float
    ) -> ActionResult:
        return await self._act(
            lambda actions, left: actions.scripted(ref, action, params, timeout_s=left, settle_s=settle_s),
            timeout_s,
            settle_s,
        )

    async def _act(
        self, run: Callable[[Actions, float], Awaitable[ActionResult]], timeout_s: float, settle_s: float
    ) -> ActionResult:
        checked_seconds("settle_s", settle_s)
        result, notices = await self._run(run, timeout_s)
        cost = replace(result.cost, est_tokens=est_tokens(result.changes.text))
        return replace(result, notices=(*notices, *result.notices, *self._take_side_effects()), cost=cost)

    async def _run(
        self, run: Callable[[Actions, float], Awaitable[_Outcome]], timeout_s: float
    ) -> tuple[_Outcome, tuple[str, ...]]:
        """Carry `run` out when the page's turn has come, with the seconds that are left then."""
        async with self._turn.within(timeout_s) as left:
            _, notices = await self._ready()
            assert self._actions is not None
            try:
                return await run(self._actions, self._turn.left(left)), notices
            except (RefNotFound, StaleRef) as error:
                if self.snapshot_on_dead_ref:
                    await self._add_snapshot(error)
                raise

    async def _add_snapshot(self, error: BridgeError) -> None:
        assert self._snapshots is not None
        try:
            fresh = await self._snapshots.take(self._snapshots.last_request, timeout_s=_FRESH_SNAPSHOT_S)
        except BridgeError as failed:
            error.details["snapshot_failed"] = str(failed)
            return
        error.details["snapshot"] = fresh.text
        error.hint = "The page has changed; go on with the refs of the snapshot in this answer."


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

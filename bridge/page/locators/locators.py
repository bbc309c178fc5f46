"""Locators: elements by role, text, label or selector, found again each time they are used.

    await page.get_by_role("button", name="Pay").click()
    await expect(page.get_by_text("Paid")).to_be_visible()

A locator is a description, not an element. An action on it waits until exactly one element matches; several are an
error that lists them. All frames are searched, the main frame first.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from bridge.deadline import Deadline
from bridge.errors import RefNotFound, SeveralMatches, StaleRef, UsageError
from bridge.page.instrumentation import instrumented
from bridge.page.locators.finder import Step, Steps
from bridge.page.locators.matches import LocatorMatches, Match
from bridge.page.results import ActionResult
from bridge.page.snapshots.aria_roles import checked_role

if TYPE_CHECKING:
    from bridge.page.input.query import QueryKind, QueryResult
    from bridge.page.input.touch import Direction
    from bridge.page.page import Page

Text = str | re.Pattern[str]
LOCATOR_TIMEOUT_S = 5.0


@instrumented(lambda locator: locator._page, repr)
class Locator:
    """A description of elements on a page. Methods that narrow it return a new one.

    Actions raise what `page` raises for them, and:

        SeveralMatches: Lists the elements.
        DeadlineExceeded: Nothing matched.
    """

    def __init__(self, page: Page, steps: Steps, text: str) -> None:
        self._page = page
        self._steps = steps
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def locator(self, css: str) -> Locator:
        """Descendants by a CSS selector, in open shadow roots as well."""
        return self._with({"css": css}, f"locator({css!r})")

    def get_by_role(self, role: str, *, name: Text | None = None, exact: bool = False) -> Locator:
        """Perceivable elements with an ARIA role; `name` is part of their accessible name.

        Raises:
            UsageError: Not an ARIA role.
        """
        step: Step = {"role": checked_role(role)}
        if name is not None:
            step["name"] = _matcher(name, exact)
        named = f", name={_as_source(name)}" if name is not None else ""
        return self._with(step, f"get_by_role({role!r}{named}{_exactly(exact)})")

    def get_by_text(self, text: Text, *, exact: bool = False) -> Locator:
        """The innermost elements with this text."""
        return self._with({"text": _matcher(text, exact)}, f"get_by_text({_as_source(text)}{_exactly(exact)})")

    def get_by_label(self, text: Text, *, exact: bool = False) -> Locator:
        """Controls by their label, `aria-label` or `aria-labelledby`."""
        return self._with({"label": _matcher(text, exact)}, f"get_by_label({_as_source(text)}{_exactly(exact)})")

    def get_by_placeholder(self, text: Text, *, exact: bool = False) -> Locator:
        return self._with(
            {"placeholder": _matcher(text, exact)}, f"get_by_placeholder({_as_source(text)}{_exactly(exact)})"
        )

    def get_by_test_id(self, test_id: str) -> Locator:
        """By the attribute `data-testid`."""
        return self._with({"testid": test_id}, f"get_by_test_id({test_id!r})")

    def filter(self, *, has_text: Text | None = None, visible: bool | None = None) -> Locator:
        """The matches that contain this text, or that are visible or hidden."""
        if (has_text is None) == (visible is None):
            raise UsageError("filter takes has_text or visible", hint="Call filter twice for both.")
        if has_text is not None:
            return self._with({"hasText": _matcher(has_text, False)}, f"filter(has_text={_as_source(has_text)})")
        return self._with({"visible": bool(visible)}, f"filter(visible={visible})")

    def nth(self, index: int) -> Locator:
        """The match with this index, from 0; negative ones count from the end. As the last step it counts over all
        frames."""
        if not isinstance(index, int) or isinstance(index, bool):
            raise UsageError(f"nth({index!r}) is not a whole number")
        return self._with({"nth": index}, f"nth({index})")

    @property
    def first(self) -> Locator:
        return self.nth(0)

    @property
    def last(self) -> Locator:
        return self.nth(-1)

    async def count(self) -> int:
        """The number of elements that match now.

        Raises:
            DeadlineExceeded: A frame does not answer; names it.
        """
        return (await self._find_in_all_frames("counting")).count

    async def all(self) -> tuple[Match, ...]:
        """The first ten elements that match now.

        Raises:
            DeadlineExceeded: See `count`.
        """
        return (await self._find_in_all_frames("listing")).matches

    async def ref(self, *, timeout_s: float = LOCATOR_TIMEOUT_S) -> str:
        """The ref of the one element that matches, as soon as one does.

        Raises:
            SeveralMatches: Lists the elements.
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
        """The only match, as soon as there is one. Raises as `ref`."""
        found = await self.find(None, deadline)
        while not found.count:
            if deadline.passed:
                raise deadline.exceeded(f"finding {self!r}", found.described())
            found = await self.find(found, deadline)
        self.raise_if_several(found)
        return found.matches[0]

    def raise_if_several(self, found: LocatorMatches) -> None:
        if found.count > 1:
            raise SeveralMatches(
                f"{self!r} matches {found.count} elements: {found.described()}.",
                hint="Narrow it down with name, exact=True or filter, or choose one with nth.",
                count=found.count,
                matches=[match.described() for match in found.matches],
            )

    async def find(self, seen: LocatorMatches | None, deadline: Deadline | None = None) -> LocatorMatches:
        """See `Finder.find`."""
        return await self._page.finder.find(self._steps, seen, deadline)

    async def _find_in_all_frames(self, what: str) -> LocatorMatches:
        """A search that every frame has answered."""
        deadline = Deadline.after(LOCATOR_TIMEOUT_S)
        while (found := await self.find(None, deadline)).unread:
            if deadline.passed:
                raise deadline.exceeded(f"{what} {self!r}", found.described())
        return found

    async def _act(self, act: Callable[[str, float], Awaitable[ActionResult]], timeout_s: float) -> ActionResult:
        """Find, then act. If the page replaces the element between the two, find it again."""
        deadline = Deadline.after(timeout_s)
        while True:
            ref = (await self.one(deadline)).ref
            try:
                return await act(ref, max(deadline.remaining_s, 0.05))
            except (RefNotFound, StaleRef) as error:
                if deadline.passed or error.details.get("taps_done"):
                    raise

    def _with(self, step: Step, text: str) -> Locator:
        return Locator(self._page, (*self._steps, step), f"{self._text}.{text}" if self._text else text)


def _matcher(text: Text, exact: bool) -> dict[str, Any]:
    if isinstance(text, str):
        return {"text": text, "exact": exact}
    if not isinstance(text, re.Pattern):
        raise UsageError(f"{text!r} is not a string or a regular expression")
    return {"source": text.pattern, "flags": "i" if text.flags & re.IGNORECASE else ""}


def _as_source(text: Text) -> str:
    """Python source for `text`: traces are exported as tests."""
    if isinstance(text, str):
        return repr(text)
    return f"re.compile({text.pattern!r}{', re.IGNORECASE' if text.flags & re.IGNORECASE else ''})"


def _exactly(exact: bool) -> str:
    return ", exact=True" if exact else ""

"""Locators: elements by role, text, label or selector, found again each time they are used.

    await page.get_by_role("button", name="Pay").click()
    await expect(page.get_by_text("Paid")).to_be_visible()

A locator is a description, not an element. An action on it waits until exactly one element matches; several are an
error that lists them. All frames are searched, the main frame first.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from bridge.deadline import Deadline
from bridge.errors import ActionFailed, NotCheckable, RefNotFound, StaleRef, UsageError
from bridge.page.instrumentation import instrumented
from bridge.page.locators.options import option_values_of
from bridge.page.locators.search import Search
from bridge.page.locators.steps import Step, Steps, Text, as_source, selector_steps, text_matcher
from bridge.page.misuse import helpful
from bridge.page.results import ActionResult, BoundingBox, Screenshot
from bridge.page.snapshots.aria_roles import Role, checked_role
from bridge.snapshot.injected import packaged_script

if TYPE_CHECKING:
    from bridge.page.capture.image import ImageFormat
    from bridge.page.input.query import QueryKind, QueryResult
    from bridge.page.input.touch import Direction
    from bridge.page.locators.finder import Read
    from bridge.page.locators.matches import Match
    from bridge.page.page import Page

LOCATOR_TIMEOUT_S = 5.0
WaitState = Literal["attached", "detached", "visible", "hidden"]
# The most elements that `all`, `all_inner_texts` and `all_text_contents` return.
MOST_LISTED = 1_000


@helpful
@instrumented(lambda locator: locator.page, repr)
class Locator:
    """A description of elements on a page. Methods that narrow it return a new one.

    Actions raise what `page` raises for them, and:

        SeveralMatches: Lists the elements.
        DeadlineExceeded: Nothing matched.

    Attributes:
        page: The page that it searches.
    """

    def __init__(self, page: Page, steps: Steps, text: str) -> None:
        self.page = page
        self._search = Search(page.finder, steps, text)

    def __repr__(self) -> str:
        return self._search.text

    # Narrowing

    def locator(self, selector: str | Locator, *, has_text: Text | None = None, has: Locator | None = None) -> Locator:
        """Descendants by a selector or another locator, in open shadow roots as well.

        Args:
            selector: CSS, or `ref=e7`, `text=`, `role=`, `xpath=` (also `//…`), `id=`, `data-testid=`, `nth=`,
                `visible=`; `>>` goes on inside what was found.
        """
        if isinstance(selector, Locator):
            found = self._with(*steps_of(selector), text=f"locator({selector!r})")
        else:
            found = self._with(*selector_steps(selector), text=f"locator({selector!r})")
        return found if has_text is None and has is None else found.filter(has_text=has_text, has=has)

    def get_by_role(self, role: Role, *, name: Text | None = None, exact: bool = False) -> Locator:
        """Perceivable elements with an ARIA role; `name` is part of their accessible name.

        Raises:
            UsageError: Not an ARIA role.
        """
        step: Step = {"role": checked_role(role)}
        if name is not None:
            step["name"] = text_matcher(name, exact)
        named = f", name={as_source(name)}" if name is not None else ""
        return self._with(step, text=f"get_by_role({role!r}{named}{_exactly(exact)})")

    def get_by_text(self, text: Text, *, exact: bool = False) -> Locator:
        """The innermost elements with this text."""
        return self._by("text", "get_by_text", text, exact)

    def get_by_label(self, text: Text, *, exact: bool = False) -> Locator:
        """Controls by their label, `aria-label` or `aria-labelledby`."""
        return self._by("label", "get_by_label", text, exact)

    def get_by_placeholder(self, text: Text, *, exact: bool = False) -> Locator:
        """Inputs by their placeholder."""
        return self._by("placeholder", "get_by_placeholder", text, exact)

    def get_by_alt_text(self, text: Text, *, exact: bool = False) -> Locator:
        """Images and areas by their alternative text."""
        return self._by("alt", "get_by_alt_text", text, exact)

    def get_by_title(self, text: Text, *, exact: bool = False) -> Locator:
        """Elements by their attribute `title`."""
        return self._by("title", "get_by_title", text, exact)

    def get_by_test_id(self, test_id: str) -> Locator:
        """Elements by the attribute `data-testid`."""
        return self._with({"testid": test_id}, text=f"get_by_test_id({test_id!r})")

    def frame_locator(self, selector: str) -> FrameLocator:
        """The document of an iframe, by a selector of the iframe."""
        return FrameLocator(self.locator(selector))

    @property
    def content_frame(self) -> FrameLocator:
        """The document of the iframe that this locator matches."""
        return FrameLocator(self)

    def filter(
        self,
        *,
        has_text: Text | None = None,
        has_not_text: Text | None = None,
        has: Locator | None = None,
        has_not: Locator | None = None,
        visible: bool | None = None,
    ) -> Locator:
        """The matches that fit all that is given.

        Args:
            has: Something below the element matches this locator.
            visible: Only visible or only hidden elements.
        """
        steps: list[Step] = []
        source: list[str] = []
        for key, name, text in (("hasText", "has_text", has_text), ("hasNotText", "has_not_text", has_not_text)):
            if text is not None:
                steps.append({key: text_matcher(text, False)})
                source.append(f"{name}={as_source(text)}")
        for key, name, inner in (("has", "has", has), ("hasNot", "has_not", has_not)):
            if inner is not None:
                steps.append({key: list(steps_of(inner))})
                source.append(f"{name}={inner!r}")
        if visible is not None:
            steps.append({"visible": bool(visible)})
            source.append(f"visible={visible}")
        if not steps:
            raise UsageError("filter takes has_text, has_not_text, has, has_not or visible")
        return self._with(*steps, text=f"filter({', '.join(source)})")

    def and_(self, locator: Locator) -> Locator:
        """Elements that match both locators."""
        return self._with({"and": list(steps_of(locator))}, text=f"and_({locator!r})")

    def or_(self, locator: Locator) -> Locator:
        """Elements that match one of the two locators, in the order of the document."""
        return self._with({"or": list(steps_of(locator))}, text=f"or_({locator!r})")

    def nth(self, index: int) -> Locator:
        """The match with this index, from 0; negative ones count from the end. As the last step it counts over all
        frames."""
        if not isinstance(index, int) or isinstance(index, bool):
            raise UsageError(f"nth({index!r}) is not a whole number")
        return self._with({"nth": index}, text=f"nth({index})")

    @property
    def first(self) -> Locator:
        return self.nth(0)

    @property
    def last(self) -> Locator:
        return self.nth(-1)

    # State and content

    async def count(self) -> int:
        """The number of elements that match now.

        Raises:
            DeadlineExceeded: A frame does not answer; names it.
        """
        return (await self._search.in_all_frames("counting", Deadline.after(LOCATOR_TIMEOUT_S))).count

    async def all(self) -> list[Locator]:
        """One locator for each element that matches now, up to 1000.

        Raises:
            DeadlineExceeded: See `count`.
        """
        return [self.nth(index) for index in range(min(await self.count(), MOST_LISTED))]

    async def matches(self) -> tuple[Match, ...]:
        """The first ten elements that match now, each with its ref, role, name, text and state.

        Raises:
            DeadlineExceeded: See `count`.
        """
        return (await self._search.in_all_frames("listing", Deadline.after(LOCATOR_TIMEOUT_S))).matches

    async def ref(self, *, timeout_s: float | None = None) -> str:
        """The ref of the one element that matches, as soon as one does.

        Raises:
            SeveralMatches: Lists the elements.
            DeadlineExceeded: Nothing matched.
        """
        return (await self._search.one(self._deadline(timeout_s))).ref

    async def wait_for(self, *, state: WaitState = "visible", timeout_s: float | None = None) -> None:
        """Wait until the one element is attached or visible, or until none is attached or visible.

        Raises:
            SeveralMatches: Lists the elements.
            DeadlineExceeded: Reports what was last seen.
        """
        if state not in ("attached", "detached", "visible", "hidden"):
            raise UsageError(f"state={state!r}", hint="Use attached, detached, visible or hidden.")
        deadline, found = self._deadline(timeout_s), None
        while True:
            found = await self._search.find(found, deadline)
            self._search.raise_if_several(found)
            there = bool(found.matches) and (state in ("attached", "detached") or found.matches[0].visible)
            if not found.unread and there == (state in ("attached", "visible")):
                return
            if deadline.passed:
                raise deadline.exceeded(f"waiting for {self!r} to be {state}", found.described())

    async def inner_text(self, *, timeout_s: float | None = None) -> str:
        """The text as it is shown."""
        return str(await self._read("inner_text", timeout_s) or "")

    async def text_content(self, *, timeout_s: float | None = None) -> str | None:
        """The text of the element's nodes, hidden ones included."""
        found = await self._read("text_content", timeout_s)
        return None if found is None else str(found)

    async def inner_html(self, *, timeout_s: float | None = None) -> str:
        """The markup inside the element."""
        return str(await self._read("inner_html", timeout_s))

    async def get_attribute(self, name: str, *, timeout_s: float | None = None) -> str | None:
        """An attribute as it is written; None if the element has none of that name."""
        found = await self._read("attribute", timeout_s, name)
        return None if found is None else str(found)

    async def input_value(self, *, timeout_s: float | None = None) -> str:
        """The value of an input, textarea or select, also through its label.

        Raises:
            ActionFailed: Another kind of element, or a password field, whose value is not shown.
        """
        found: Mapping[str, Any] = await self._read("input_value", timeout_s)
        if found.get("error") == "password":
            raise ActionFailed(f"{self!r} is a password field; its value is not shown", hint="evaluate can read it.")
        if "error" in found:
            raise ActionFailed(f"{self!r} is not an input, textarea or select")
        return str(found["value"])

    async def all_inner_texts(self) -> list[str]:
        """The shown text of each element that matches now, up to 1000."""
        return [str(text or "") for text in await self._read_all("inner_text")]

    async def all_text_contents(self) -> list[str]:
        """The text of the nodes of each element that matches now, up to 1000."""
        return [str(text or "") for text in await self._read_all("text_content")]

    async def is_visible(self) -> bool:
        """True if the element is visible now; False if nothing matches."""
        return await self._is_visible()

    async def is_hidden(self) -> bool:
        """True if the element is hidden now, or nothing matches."""
        return not await self._is_visible()

    async def is_enabled(self, *, timeout_s: float | None = None) -> bool:
        return (await self._search.one(self._deadline(timeout_s))).enabled

    async def is_disabled(self, *, timeout_s: float | None = None) -> bool:
        return not (await self._search.one(self._deadline(timeout_s))).enabled

    async def is_editable(self, *, timeout_s: float | None = None) -> bool:
        return (await self._search.one(self._deadline(timeout_s))).editable

    async def is_checked(self, *, timeout_s: float | None = None) -> bool:
        """True if a checkbox, radio button or switch is checked.

        Raises:
            NotCheckable: Another kind of element.
        """
        found: Mapping[str, Any] = await self._read("checked", timeout_s)
        if "error" in found:
            raise NotCheckable(f"{self!r} is not a checkbox, radio button or switch")
        return bool(found["checked"])

    async def bounding_box(self, *, timeout_s: float | None = None) -> BoundingBox | None:
        """The element's border box in CSS pixels of its frame's viewport; None if it has none."""
        found = await self._read("bounding_box", timeout_s)
        return None if found is None else cast(BoundingBox, found)

    async def aria_snapshot(self, *, timeout_s: float | None = None) -> str:
        """The element and what is below it, as `page.snapshot` shows it."""
        deadline = self._deadline(timeout_s)
        ref = (await self._search.one(deadline)).ref
        return (await self.page.snapshot(scope=ref, interactive_only=False, timeout_s=deadline.remaining_s)).text

    async def screenshot(
        self,
        *,
        path: str | os.PathLike[str] | None = None,
        type: ImageFormat = "png",
        quality: int | None = None,
        timeout_s: float = 30.0,
    ) -> Screenshot:
        """A screenshot of the element; see `page.screenshot`."""
        deadline = Deadline.after(timeout_s)
        ref = (await self._search.one(deadline)).ref
        return await self.page.screenshot(
            ref=ref, path=path, type=type, quality=quality, timeout_s=deadline.remaining_s
        )

    async def evaluate(self, expression: str, arg: Any = None, *, timeout_s: float | None = None) -> Any:
        """The value of a JavaScript function of the element and `arg`, run in the page's own world; see
        `page.evaluate`."""
        deadline = self._deadline(timeout_s)
        ref = (await self._search.one(deadline)).ref
        return await self.page.evaluate_on(ref, expression, arg, timeout_s=deadline.remaining_s)

    async def evaluate_all(self, expression: str, arg: Any = None, *, timeout_s: float | None = None) -> Any:
        """The value of a JavaScript function of the list of elements that match now, and `arg`."""
        deadline = self._deadline(timeout_s)
        found = await self._search.in_all_frames("listing", deadline, limit=MOST_LISTED)
        refs = [match.ref for match in found.matches]
        return await self.page.evaluate_on(refs, expression, arg, timeout_s=deadline.remaining_s)

    async def query(self, kind: QueryKind, limit: int = 2_000, *, timeout_s: float | None = None) -> QueryResult:
        deadline = self._deadline(timeout_s)
        ref = (await self._search.one(deadline)).ref
        return await self.page.query(ref, kind, limit, timeout_s=deadline.remaining_s)

    # Actions

    async def click(
        self,
        *,
        timeout_s: float | None = None,
        settle_s: float = 1.0,
        input: Literal["touch", "script"] = "touch",
    ) -> ActionResult:
        """Tap the element and report what changed; see `page.click`."""
        return await self._act(
            lambda ref, left: self.page.click(ref, timeout_s=left, settle_s=settle_s, input=input), timeout_s
        )

    async def tap(self, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """The same as `click`: a finger taps."""
        return await self.click(timeout_s=timeout_s, settle_s=settle_s)

    async def dblclick(self, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """Tap the element twice in a row."""
        return await self._act(lambda ref, left: self.page.dblclick(ref, timeout_s=left, settle_s=settle_s), timeout_s)

    async def long_press(self, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """Hold a finger on the element for 0.7 s."""
        return await self._act(
            lambda ref, left: self.page.long_press(ref, timeout_s=left, settle_s=settle_s), timeout_s
        )

    async def hover(self, *, timeout_s: float | None = None) -> ActionResult:
        """Rest a mouse pointer on the element."""
        return await self._act(lambda ref, left: self.page.hover(ref, timeout_s=left), timeout_s)

    async def fill(self, value: str, *, as_keys: bool = False, timeout_s: float | None = None) -> ActionResult:
        """Replace the content of the control; see `page.fill`."""
        return await self._act(lambda ref, left: self.page.fill(ref, value, as_keys=as_keys, timeout_s=left), timeout_s)

    async def clear(self, *, timeout_s: float | None = None) -> ActionResult:
        """Empty the control."""
        return await self._act(lambda ref, left: self.page.clear(ref, timeout_s=left), timeout_s)

    async def press_sequentially(self, text: str, *, timeout_s: float | None = None) -> ActionResult:
        """Type key by key at the end of the element's text. `fill` replaces the content and is faster."""
        return await self._act(lambda ref, left: self.page.type(ref, text, timeout_s=left), timeout_s)

    async def press(self, key: str, *, timeout_s: float | None = None) -> ActionResult:
        """Focus the element and press a key (`Enter`, `a`) or chord (`Control+A`)."""
        return await self._act(lambda ref, left: self.page.press(ref, key, timeout_s=left), timeout_s)

    async def check(self, *, timeout_s: float | None = None) -> ActionResult:
        """Check a checkbox, radio button or switch unless it is checked."""
        return await self._act(lambda ref, left: self.page.check(ref, timeout_s=left), timeout_s)

    async def uncheck(self, *, timeout_s: float | None = None) -> ActionResult:
        """Uncheck a checkbox or switch if it is checked."""
        return await self._act(lambda ref, left: self.page.uncheck(ref, timeout_s=left), timeout_s)

    async def set_checked(self, checked: bool, *, timeout_s: float | None = None) -> ActionResult:
        """`check` or `uncheck`."""
        return await (self.check if checked else self.uncheck)(timeout_s=timeout_s)

    async def select_option(
        self,
        *values: str | Sequence[str],
        value: str | Sequence[str] | None = None,
        label: str | Sequence[str] | None = None,
        index: int | Sequence[int] | None = None,
        timeout_s: float | None = None,
    ) -> ActionResult:
        """Select exactly these options of a `<select>`; see `page.select_option`."""
        wanted = list(values)
        if value is not None or label is not None or index is not None:
            chosen = {"value": value, "label": label, "index": index}
            wanted += option_values_of(repr(self), await self._read("options", timeout_s), chosen)
        return await self._act(lambda ref, left: self.page.select_option(ref, *wanted, timeout_s=left), timeout_s)

    async def set_input_files(
        self, files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, timeout_s: float = 30.0
    ) -> ActionResult:
        """Give files from the session's `uploads_root` to a file input; see `page.set_input_files`."""
        return await self._act(lambda ref, left: self.page.set_input_files(ref, files, timeout_s=left), timeout_s)

    async def focus(self, *, timeout_s: float | None = None) -> ActionResult:
        return await self._act(lambda ref, left: self.page.focus(ref, timeout_s=left), timeout_s)

    async def blur(self, *, timeout_s: float | None = None) -> None:
        """Take the focus from the element."""
        await self.evaluate("el => el.blur()", timeout_s=timeout_s)

    async def select_text(self, *, timeout_s: float | None = None) -> None:
        """Focus the element and select its text."""
        await self.evaluate(packaged_script("bridge.page.locators", "select_text.min.js"), timeout_s=timeout_s)

    async def dispatch_event(
        self, type: str, event_init: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> None:
        """Dispatch an event by script: the page sees `isTrusted` false."""
        script = packaged_script("bridge.page.locators", "dispatch_event.min.js")
        await self.evaluate(script, {"type": type, "init": dict(event_init or {})}, timeout_s=timeout_s)

    async def scroll_into_view_if_needed(self, *, timeout_s: float | None = None) -> ActionResult:
        """Scroll the element to the middle of its scroll containers."""
        return await self._act(lambda ref, left: self.page.scroll_into_view_if_needed(ref, timeout_s=left), timeout_s)

    async def swipe(
        self, direction: Direction, *, distance_px: float = 300, timeout_s: float | None = None
    ) -> ActionResult:
        """Move a finger in `direction` over the element."""
        return await self._act(
            lambda ref, left: self.page.swipe(direction, ref=ref, distance_px=distance_px, timeout_s=left), timeout_s
        )

    async def drag_to(self, target: Locator, *, timeout_s: float = 2 * LOCATOR_TIMEOUT_S) -> ActionResult:
        """Drag the element onto another one; see `page.drag_and_drop`."""
        deadline = Deadline.after(timeout_s)
        to = await target.ref(timeout_s=timeout_s)
        return await self._act(lambda ref, left: self.page.drag_and_drop(ref, to, timeout_s=left), deadline.remaining_s)

    # Internal

    def _deadline(self, timeout_s: float | None) -> Deadline:
        return Deadline.after(self.page.timeouts.seconds(timeout_s, LOCATOR_TIMEOUT_S))

    async def _read(self, kind: str, timeout_s: float | None, argument: Any = None) -> Any:
        return (await self._search.one(self._deadline(timeout_s), read=(kind, argument))).read

    async def _read_all(self, kind: str) -> list[Any]:
        read: Read = (kind, None)
        deadline = Deadline.after(LOCATOR_TIMEOUT_S)
        found = await self._search.in_all_frames("reading", deadline, read=read, limit=MOST_LISTED)
        return [match.read for match in found.matches]

    async def _is_visible(self) -> bool:
        found = await self._search.find(None, Deadline.after(LOCATOR_TIMEOUT_S))
        self._search.raise_if_several(found)
        return bool(found.matches) and found.matches[0].visible

    async def _act(self, act: Callable[[str, float], Awaitable[ActionResult]], timeout_s: float | None) -> ActionResult:
        """Find, then act. If the page replaces the element between the two, find it again."""
        deadline = self._deadline(timeout_s)
        if (ref := self._search.ref) is not None:
            return await act(ref, deadline.remaining_s)
        while True:
            ref = (await self._search.one(deadline)).ref
            try:
                return await act(ref, max(deadline.remaining_s, 0.05))
            except (RefNotFound, StaleRef) as error:
                if deadline.passed or error.details.get("taps_done"):
                    raise

    def _by(self, key: str, method: str, text: Text, exact: bool) -> Locator:
        return self._with({key: text_matcher(text, exact)}, text=f"{method}({as_source(text)}{_exactly(exact)})")

    def _with(self, *steps: Step, text: str) -> Locator:
        before = self._search
        return Locator(self.page, (*before.steps, *steps), f"{before.text}.{text}" if before.text else text)


class FrameLocator:
    """The document of an iframe. Its methods narrow down inside of it; `owner` is the iframe element."""

    def __init__(self, owner: Locator) -> None:
        self.owner = owner

    def __repr__(self) -> str:
        return f"{self.owner!r}.content_frame"

    def _inside(self) -> Locator:
        return Locator(self.owner.page, (*steps_of(self.owner), {"frame": True}), repr(self))

    def locator(self, selector: str | Locator, *, has_text: Text | None = None, has: Locator | None = None) -> Locator:
        """Elements of the document by a selector; see `Locator.locator`."""
        return self._inside().locator(selector, has_text=has_text, has=has)

    def get_by_role(self, role: Role, *, name: Text | None = None, exact: bool = False) -> Locator:
        return self._inside().get_by_role(role, name=name, exact=exact)

    def get_by_text(self, text: Text, *, exact: bool = False) -> Locator:
        return self._inside().get_by_text(text, exact=exact)

    def get_by_label(self, text: Text, *, exact: bool = False) -> Locator:
        return self._inside().get_by_label(text, exact=exact)

    def get_by_placeholder(self, text: Text, *, exact: bool = False) -> Locator:
        return self._inside().get_by_placeholder(text, exact=exact)

    def get_by_alt_text(self, text: Text, *, exact: bool = False) -> Locator:
        return self._inside().get_by_alt_text(text, exact=exact)

    def get_by_title(self, text: Text, *, exact: bool = False) -> Locator:
        return self._inside().get_by_title(text, exact=exact)

    def get_by_test_id(self, test_id: str) -> Locator:
        return self._inside().get_by_test_id(test_id)

    def frame_locator(self, selector: str) -> FrameLocator:
        """The document of an iframe inside of this one."""
        return FrameLocator(self.locator(selector))

    async def evaluate(self, expression: str, arg: Any = None, *, timeout_s: float | None = None) -> Any:
        """The value of JavaScript in the frame's own world: an expression, or a function that gets `arg`; see
        `page.evaluate`."""
        called = "typeof value == 'function' ? value(arg) : value"
        call = f"(_root, arg) => {{ const value = ({expression}\n); return {called} }}"
        return await self.locator(":root").evaluate(call, arg, timeout_s=timeout_s)

    @property
    def first(self) -> FrameLocator:
        return FrameLocator(self.owner.first)

    @property
    def last(self) -> FrameLocator:
        return FrameLocator(self.owner.last)

    def nth(self, index: int) -> FrameLocator:
        return FrameLocator(self.owner.nth(index))


def search_of(locator: Locator) -> Search:
    """The search of a locator, for expectations."""
    return locator._search


def steps_of(locator: Locator) -> Steps:
    """The steps of a locator.

    Raises:
        UsageError: Not a locator.
    """
    if not isinstance(locator, Locator):
        raise UsageError(f"{locator!r} is not a locator")
    return locator._search.steps


def _exactly(exact: bool) -> str:
    return ", exact=True" if exact else ""

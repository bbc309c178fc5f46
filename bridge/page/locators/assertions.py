"""`expect(locator).to_have_text(…)`: waits until the page is as expected, or reports what was last seen.

await expect(page.get_by_role("alert")).to_contain_text("Saved")
await expect(page.get_by_role("dialog")).not_to_be_visible()
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypedDict, TypeVar, overload

from bridge.deadline import Deadline, checked_seconds
from bridge.errors import DeadlineExceeded, ExpectationFailed, UsageError
from bridge.page.instrumentation import instrumented
from bridge.page.locators.locators import MOST_LISTED, Locator, search_of
from bridge.page.locators.matches import LocatorMatches, Match
from bridge.page.locators.steps import Text
from bridge.page.misuse import helpful
from bridge.page.navigation.wait_for_url import UrlMatch, url_matcher
from bridge.page.snapshots.aria_roles import Role, checked_role

if TYPE_CHECKING:
    from bridge.page.locators.finder import Read
    from bridge.page.page import Page

A = TypeVar("A", "LocatorAssertions", "PageAssertions")
P = ParamSpec("P")
EXPECT_TIMEOUT_S = 5.0
_CHECKED = {True: "checked", False: "not checked"}


def _negated(
    expectation: Callable[Concatenate[A, P], Coroutine[Any, Any, None]],
) -> Callable[Concatenate[A, P], Coroutine[Any, Any, None]]:
    """The method that waits until an expectation does not hold."""

    async def negated(self: A, /, *args: P.args, **kwargs: P.kwargs) -> None:
        await expectation(self._not(), *args, **kwargs)

    negated.__name__ = f"not_{expectation.__name__}"
    negated.__qualname__ = f"{expectation.__qualname__.rpartition('.')[0]}.{negated.__name__}"
    negated.__doc__ = f"The opposite of `{expectation.__name__}`."
    negated.__signature__ = inspect.signature(expectation)  # type: ignore[attr-defined]
    return negated


@helpful
@instrumented(lambda expected: expected._locator.page, repr)
class LocatorAssertions:
    """Expectations of the one element that a locator matches. Each method waits until its expectation holds, or, with
    `not_`, until it does not.

    All raise:
        ExpectationFailed: An AssertionError; reports what was last seen.
        SeveralMatches: The locator matches more than one element.
    """

    def __init__(self, locator: Locator, wanted: bool = True) -> None:
        self._locator = locator
        self._search = search_of(locator)
        self._wanted = wanted

    def __repr__(self) -> str:
        return f"expect({self._locator!r})"

    async def to_have_text(
        self,
        expected: Text | Sequence[Text],
        *,
        use_inner_text: bool = True,
        ignore_case: bool = False,
        timeout_s: float | None = None,
    ) -> None:
        """The whole text, with white space collapsed; a list for the texts of all matches, in their order."""
        test = partial(_is, ignore_case=ignore_case)
        await self._texts("have text", expected, test, timeout_s, **_text_source(use_inner_text))

    not_to_have_text = _negated(to_have_text)

    async def to_contain_text(
        self,
        expected: Text | Sequence[Text],
        *,
        use_inner_text: bool = True,
        ignore_case: bool = False,
        timeout_s: float | None = None,
    ) -> None:
        """A part of the text, with white space collapsed; a list for parts of the texts of matches, in their order."""
        test = partial(_has, ignore_case=ignore_case)
        source = _text_source(use_inner_text)
        await self._texts("contain text", expected, test, timeout_s, may_skip=True, **source)

    not_to_contain_text = _negated(to_contain_text)

    async def to_be_visible(self, *, timeout_s: float | None = None) -> None:
        await self._one(lambda it: it.visible, "be visible", lambda it: "hidden", timeout_s, when_absent=False)

    not_to_be_visible = _negated(to_be_visible)

    async def to_be_hidden(self, *, timeout_s: float | None = None) -> None:
        """Not visible, or not on the page."""
        await self._one(lambda it: not it.visible, "be hidden", lambda it: "visible", timeout_s, when_absent=True)

    not_to_be_hidden = _negated(to_be_hidden)

    async def to_be_attached(self, *, attached: bool = True, timeout_s: float | None = None) -> None:
        """On the page, visible or not."""
        expected = "be on the page" if attached else "not be on the page"
        await self._one(lambda it: attached, expected, lambda it: "on the page", timeout_s, when_absent=not attached)

    not_to_be_attached = _negated(to_be_attached)

    async def to_be_enabled(self, *, enabled: bool = True, timeout_s: float | None = None) -> None:
        await self._state(lambda it: it.enabled, enabled, ("enabled", "disabled"), timeout_s)

    not_to_be_enabled = _negated(to_be_enabled)

    async def to_be_disabled(self, *, timeout_s: float | None = None) -> None:
        await self._state(lambda it: it.enabled, False, ("enabled", "disabled"), timeout_s)

    not_to_be_disabled = _negated(to_be_disabled)

    async def to_be_editable(self, *, editable: bool = True, timeout_s: float | None = None) -> None:
        await self._state(lambda it: it.editable, editable, ("editable", "read-only"), timeout_s)

    not_to_be_editable = _negated(to_be_editable)

    async def to_be_checked(
        self, *, checked: bool = True, indeterminate: bool = False, timeout_s: float | None = None
    ) -> None:
        """A checkbox, radio button or switch."""
        expected = "indeterminate" if indeterminate else _CHECKED[checked]
        await self._one(
            lambda it: (
                "error" not in it.read
                and (it.read["indeterminate"] if indeterminate else it.read["checked"] == checked)
            ),
            f"be {expected}",
            _checked,
            timeout_s,
            read=("checked", None),
        )

    not_to_be_checked = _negated(to_be_checked)

    async def to_be_empty(self, *, timeout_s: float | None = None) -> None:
        """A control without a value, or an element without text."""
        await self._one(
            lambda it: bool(it.read), "be empty", lambda it: it.text or repr(it.value), timeout_s, read=("empty", None)
        )

    not_to_be_empty = _negated(to_be_empty)

    async def to_be_focused(self, *, timeout_s: float | None = None) -> None:
        await self._state(lambda it: it.focused, True, ("focused", "not focused"), timeout_s)

    not_to_be_focused = _negated(to_be_focused)

    async def to_be_in_viewport(self, *, ratio: float = 0.0, timeout_s: float | None = None) -> None:
        """At least this part of its area is in the viewport of its frame; 0 for any."""
        await self._one(
            lambda it: it.read > 0 and it.read >= ratio,
            f"be in the viewport{f' by {ratio:g}' if ratio else ''}",
            lambda it: f"{it.read:.2f} of it is in the viewport",
            timeout_s,
            read=("viewport_ratio", None),
        )

    not_to_be_in_viewport = _negated(to_be_in_viewport)

    async def to_have_value(self, value: Text, *, timeout_s: float | None = None) -> None:
        """The value of a control, with its white space. The value of a password is never known."""
        await self._value("value", value, lambda it: it.value, timeout_s)

    not_to_have_value = _negated(to_have_value)

    async def to_have_values(self, values: Sequence[Text], *, timeout_s: float | None = None) -> None:
        """The selected options of a `<select multiple>`, by value."""
        wanted, test = list(values), partial(_is, fold=False)
        await self._one(
            lambda it: it.values is not None and _match_in_order(it.values, wanted, test),
            f"have values {_as_text(wanted)}",
            lambda it: str(it.values),
            timeout_s,
        )

    not_to_have_values = _negated(to_have_values)

    async def to_have_attribute(
        self, name: str, value: Text | None = None, *, ignore_case: bool = False, timeout_s: float | None = None
    ) -> None:
        """An attribute, with this value or any."""
        test = partial(_is, fold=False, ignore_case=ignore_case)
        await self._one(
            lambda it: name in it.attrs and (value is None or test(it.attrs[name], value)),
            f"have attribute {name}" + (f" = {_as_text(value)}" if value is not None else ""),
            lambda it: f"{name} = {it.attrs[name]!r}" if name in it.attrs else f"no attribute {name}",
            timeout_s,
        )

    not_to_have_attribute = _negated(to_have_attribute)

    async def to_have_class(self, expected: Text | Sequence[Text], *, timeout_s: float | None = None) -> None:
        """The whole attribute `class`; a list for those of all matches, in their order."""
        await self._texts("have class", expected, _is, timeout_s, of=_class_of)

    not_to_have_class = _negated(to_have_class)

    async def to_contain_class(self, expected: str | Sequence[str], *, timeout_s: float | None = None) -> None:
        """All these classes, separated by blanks; a list for those of all matches, in their order."""
        await self._texts("contain class", expected, _has_classes, timeout_s, of=_class_of)

    not_to_contain_class = _negated(to_contain_class)

    async def to_have_count(self, count: int, *, timeout_s: float | None = None) -> None:
        """The number of elements that match."""
        await self._all(
            lambda found: found.count == count, f"match {count} times", lambda found: str(found.count), timeout_s
        )

    not_to_have_count = _negated(to_have_count)

    async def to_have_css(self, name: str, value: Text, *, timeout_s: float | None = None) -> None:
        """A computed CSS property."""
        await self._value(f"CSS {name}", value, lambda it: str(it.read), timeout_s, read=("css", name))

    not_to_have_css = _negated(to_have_css)

    async def to_have_id(self, id: Text, *, timeout_s: float | None = None) -> None:
        """The attribute `id`."""
        await self._value("id", id, lambda it: it.attrs.get("id", ""), timeout_s)

    not_to_have_id = _negated(to_have_id)

    async def to_have_role(self, role: Role, *, timeout_s: float | None = None) -> None:
        """The ARIA role, explicit or by nature."""
        await self._value("role", checked_role(role), lambda it: it.role, timeout_s)

    not_to_have_role = _negated(to_have_role)

    async def to_have_js_property(self, name: str, value: Any, *, timeout_s: float | None = None) -> None:
        """A property that the DOM gives the element, compared as JSON. Properties that the page's scripts added are not
        seen; `evaluate` sees them."""
        wanted = {"value": value}
        await self._one(
            lambda it: it.read == wanted,
            f"have property {name} = {value!r}",
            lambda it: f"{name} = {it.read.get('value', 'undefined')!r}",
            timeout_s,
            read=("property", name),
        )

    not_to_have_js_property = _negated(to_have_js_property)

    async def to_have_accessible_name(
        self, name: Text, *, ignore_case: bool = False, timeout_s: float | None = None
    ) -> None:
        """The accessible name, as assistive technology reports it."""
        await self._value("accessible name", name, lambda it: it.name, timeout_s, fold=True, ignore_case=ignore_case)

    not_to_have_accessible_name = _negated(to_have_accessible_name)

    async def to_have_accessible_description(
        self, description: Text, *, ignore_case: bool = False, timeout_s: float | None = None
    ) -> None:
        """The accessible description."""
        what, read = "accessible description", ("description", None)
        await self._value(what, description, _read_text, timeout_s, fold=True, ignore_case=ignore_case, read=read)

    not_to_have_accessible_description = _negated(to_have_accessible_description)

    async def to_have_accessible_error_message(
        self, error_message: Text, *, ignore_case: bool = False, timeout_s: float | None = None
    ) -> None:
        """The message of `aria-errormessage`, or of the browser's own validation, of an invalid control."""
        what, read = "error message", ("error_message", None)
        await self._value(what, error_message, _read_text, timeout_s, fold=True, ignore_case=ignore_case, read=read)

    not_to_have_accessible_error_message = _negated(to_have_accessible_error_message)

    def _not(self) -> LocatorAssertions:
        return LocatorAssertions(self._locator, not self._wanted)

    async def _state(
        self, of: Callable[[Match], bool], wanted: bool, names: tuple[str, str], timeout_s: float | None
    ) -> None:
        """A state that an element is in or not; `names` of the first and the second."""

        def name(state: bool) -> str:
            return names[0] if state else names[1]

        await self._one(lambda it: of(it) == wanted, f"be {name(wanted)}", lambda it: name(of(it)), timeout_s)

    async def _value(
        self,
        what: str,
        wanted: Text,
        of: Callable[[Match], str | None],
        timeout_s: float | None,
        *,
        fold: bool = False,
        ignore_case: bool = False,
        read: Read | None = None,
    ) -> None:
        """One value of the element; none equals None."""

        def test(match: Match) -> bool:
            seen = of(match)
            return seen is not None and _is(seen, wanted, fold=fold, ignore_case=ignore_case)

        expected = f"have {what} {_as_text(wanted)}"
        await self._one(test, expected, lambda it: f"{what} = {of(it)!r}", timeout_s, read=read)

    async def _texts(
        self,
        what: str,
        expected: Text | Sequence[Text],
        test: Callable[[str, Any], bool],
        timeout_s: float | None,
        *,
        of: Callable[[Match], str],
        may_skip: bool = False,
        read: Read | None = None,
    ) -> None:
        """A text of the one element; for a list, the texts of all matches in their order."""
        if isinstance(expected, str | re.Pattern):
            await self._one(lambda it: test(of(it), expected), f"{what} {_as_text(expected)}", of, timeout_s, read=read)
            return
        wanted = list(expected)
        await self._all(
            lambda found: _match_in_order([of(it) for it in found.matches], wanted, test, may_skip=may_skip),
            f"{what} {_as_text(wanted)}",
            lambda found: f"{found.count}: {[of(it)[:100] for it in found.matches]}",
            timeout_s,
            limit=MOST_LISTED,
            read=read,
        )

    async def _one(
        self,
        test: Callable[[Match], bool],
        expected: str,
        seen: Callable[[Match], str],
        timeout_s: float | None,
        *,
        when_absent: bool | None = None,
        read: Read | None = None,
    ) -> None:
        """
        Args:
            when_absent: Whether the expectation holds without an element; None if neither it nor its opposite does. A
                frame that does not respond may contain the element.
        """

        def holds(found: LocatorMatches) -> bool | None:
            self._search.raise_if_several(found)
            absent = None if found.unread else when_absent
            return test(found.matches[0]) if found.matches else absent

        await self._wait(holds, expected, lambda found: seen(found.matches[0]), timeout_s, read=read)

    async def _all(
        self,
        test: Callable[[LocatorMatches], bool],
        expected: str,
        seen: Callable[[LocatorMatches], str],
        timeout_s: float | None,
        *,
        limit: int | None = None,
        read: Read | None = None,
    ) -> None:
        """An expectation of all matches, so every frame has to answer."""
        await self._wait(
            lambda found: None if found.unread else test(found), expected, seen, timeout_s, limit=limit, read=read
        )

    async def _wait(
        self,
        holds: Callable[[LocatorMatches], bool | None],
        expected: str,
        seen: Callable[[LocatorMatches], str],
        given_s: float | None,
        *,
        limit: int | None = None,
        read: Read | None = None,
    ) -> None:
        timeout_s = EXPECT_TIMEOUT_S if given_s is None else checked_seconds("timeout_s", given_s)
        deadline = Deadline.after(timeout_s)
        finder = self._search.finder
        await finder.handle_interruptions(deadline)
        found = await self._search.find(None, deadline, read=read, limit=limit)
        while holds(found) is not self._wanted:
            last = seen(found)[:500] if found.matches and not found.unread else found.described()
            failed = _failed(repr(self._locator), self._wanted, expected, last, timeout_s)
            if deadline.remaining_s <= 0:
                raise failed
            try:
                await finder.handle_interruptions(deadline)
                found = await self._search.find(found, deadline, read=read, limit=limit)
            except DeadlineExceeded as late:  # the page answered before, so what was seen then is reported
                if not deadline.passed:
                    raise
                if (step := late.details.get("recovery")) is not None:
                    failed.details["recovery"] = step
                raise failed from late


@helpful
@instrumented(lambda expected: expected._page, repr)
class PageAssertions:
    """Expectations of a page as a whole."""

    def __init__(self, page: Page, wanted: bool = True) -> None:
        self._page = page
        self._wanted = wanted

    def __repr__(self) -> str:
        return "expect(page)"

    async def to_have_url(self, url: UrlMatch, *, timeout_s: float | None = None) -> None:
        """A glob over the whole address (`**/cart`), a regular expression searched in it, or a function of it."""
        shown = _as_text(url) if isinstance(url, str | re.Pattern) else "the function"
        await self._wait(self._page.finder.url, url_matcher(url), f"have URL {shown}", timeout_s)

    not_to_have_url = _negated(to_have_url)

    async def to_have_title(self, title: Text, *, timeout_s: float | None = None) -> None:
        await self._wait(
            self._page.finder.title, lambda seen: _is(seen, title), f"have title {_as_text(title)}", timeout_s
        )

    not_to_have_title = _negated(to_have_title)

    def _not(self) -> PageAssertions:
        return PageAssertions(self._page, not self._wanted)

    async def _wait(
        self,
        observe: Callable[[str | None, Deadline], Awaitable[str | None]],
        test: Callable[[str], bool],
        expected: str,
        given_s: float | None,
    ) -> None:
        timeout_s = EXPECT_TIMEOUT_S if given_s is None else checked_seconds("timeout_s", given_s)
        deadline = Deadline.after(timeout_s)
        seen = await observe(None, deadline)
        while seen is None or test(seen) is not self._wanted:
            if deadline.passed:
                raise _failed("the page", self._wanted, expected, repr(seen), timeout_s)
            seen = await observe(seen, deadline)


@overload
def expect(subject: Locator) -> LocatorAssertions: ...
@overload
def expect(subject: Page) -> PageAssertions: ...
def expect(subject: Locator | Page) -> LocatorAssertions | PageAssertions:
    """Expectations of a locator or a page. Their methods wait until they hold."""
    from bridge.page.page import Page

    if isinstance(subject, Locator):
        return LocatorAssertions(subject)
    if isinstance(subject, Page):
        return PageAssertions(subject)
    raise _wrong_subject(subject)


def _wrong_subject(given: object) -> UsageError:
    kind = type(given)
    return UsageError(
        f"expect takes a locator or a page, not {kind.__module__}.{kind.__qualname__}",
        hint="Objects of bridge.sync need expect from bridge.sync." if kind.__module__ == "bridge.sync" else "",
    )


def _failed(subject: str, wanted: bool, expected: str, last: str, timeout_s: float) -> ExpectationFailed:
    return ExpectationFailed(
        f"{subject} was expected {'to' if wanted else 'not to'} {expected}; last seen after {timeout_s:g} s: {last}",
        timeout_s=timeout_s,
        last_seen=last,
    )


def _fold(text: str) -> str:
    return " ".join(text.split())


def _is(seen: str, wanted: Text, *, fold: bool = True, ignore_case: bool = False) -> bool:
    if isinstance(wanted, re.Pattern):
        return _with_case(wanted, ignore_case).search(seen) is not None
    if ignore_case:
        seen, wanted = seen.lower(), wanted.lower()
    return _fold(seen) == _fold(wanted) if fold else seen == wanted


def _has(seen: str, wanted: Text, *, ignore_case: bool = False) -> bool:
    if isinstance(wanted, re.Pattern):
        return _with_case(wanted, ignore_case).search(seen) is not None
    if ignore_case:
        seen, wanted = seen.lower(), wanted.lower()
    return _fold(wanted) in _fold(seen)


def _with_case(pattern: re.Pattern[str], ignore_case: bool) -> re.Pattern[str]:
    return re.compile(pattern.pattern, pattern.flags | re.IGNORECASE) if ignore_case else pattern


def _match_in_order(
    seen: Sequence[str], wanted: Sequence[Text], test: Callable[[str, Any], bool], *, may_skip: bool = False
) -> bool:
    """True if the texts match one by one; `may_skip` leaves out texts in between, as Playwright does for parts."""
    if not may_skip:
        return len(seen) == len(wanted) and all(map(test, seen, wanted))
    left = iter(seen)
    return all(any(test(text, one) for text in left) for one in wanted)


class _TextSource(TypedDict):
    of: Callable[[Match], str]
    read: Read | None


def _text_source(is_inner: bool) -> _TextSource:
    """`innerText`, which every match brings, or `textContent`."""
    return {"of": lambda it: it.text, "read": None} if is_inner else {"of": _read_text, "read": ("text_content", None)}


def _read_text(match: Match) -> str:
    return str(match.read or "")


def _class_of(match: Match) -> str:
    return match.attrs.get("class", "")


def _has_classes(classes: str, names: str) -> bool:
    return set(names.split()) <= set(classes.split())


def _as_text(wanted: Text | Sequence[Text]) -> str:
    if isinstance(wanted, re.Pattern):
        return f"/{wanted.pattern}/"
    return repr(wanted) if isinstance(wanted, str) else f"[{', '.join(map(_as_text, wanted))}]"


def _checked(match: Match) -> str:
    if "error" in match.read:
        return "neither a checkbox nor a radio button nor a switch"
    return "indeterminate" if match.read["indeterminate"] else _CHECKED[bool(match.read["checked"])]

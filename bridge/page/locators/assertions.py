"""`expect(locator).to_have_text(…)`: waits until the page is as expected, or reports what was last seen.

await expect(page.get_by_role("alert")).to_contain_text("Saved")
await expect(page.get_by_role("dialog")).not_to_be_visible()
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

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

EXPECT_TIMEOUT_S = 5.0


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
        await self._text(
            "have text", expected, is_whole=True, ignore_case=ignore_case, inner=use_inner_text, timeout_s=timeout_s
        )

    async def to_contain_text(
        self,
        expected: Text | Sequence[Text],
        *,
        use_inner_text: bool = True,
        ignore_case: bool = False,
        timeout_s: float | None = None,
    ) -> None:
        """A part of the text, with white space collapsed; a list for parts of the texts of matches, in their order."""
        await self._text(
            "contain text", expected, is_whole=False, ignore_case=ignore_case, inner=use_inner_text, timeout_s=timeout_s
        )

    async def to_be_visible(self, *, timeout_s: float | None = None) -> None:
        await self._one(lambda it: it.visible, "be visible", lambda it: "hidden", timeout_s, when_absent=False)

    async def to_be_hidden(self, *, timeout_s: float | None = None) -> None:
        """Not visible, or not on the page."""
        await self._one(lambda it: not it.visible, "be hidden", lambda it: "visible", timeout_s, when_absent=True)

    async def to_be_attached(self, *, attached: bool = True, timeout_s: float | None = None) -> None:
        """On the page, visible or not."""
        await self._one(
            lambda it: attached,
            "be on the page" if attached else "not be on the page",
            lambda it: "there",
            timeout_s,
            when_absent=not attached,
        )

    async def to_be_enabled(self, *, enabled: bool = True, timeout_s: float | None = None) -> None:
        await self._one(
            lambda it: it.enabled == enabled, "be enabled" if enabled else "be disabled", _enabled, timeout_s
        )

    async def to_be_disabled(self, *, timeout_s: float | None = None) -> None:
        await self._one(lambda it: not it.enabled, "be disabled", _enabled, timeout_s)

    async def to_be_editable(self, *, editable: bool = True, timeout_s: float | None = None) -> None:
        await self._one(
            lambda it: it.editable == editable,
            f"be {'editable' if editable else 'read-only'}",
            lambda it: f"editable: {it.editable}",
            timeout_s,
        )

    async def to_be_checked(
        self, *, checked: bool = True, indeterminate: bool = False, timeout_s: float | None = None
    ) -> None:
        """A checkbox, radio button or switch."""
        key, wanted = ("indeterminate", True) if indeterminate else ("checked", checked)
        expected = "be indeterminate" if indeterminate else "be checked" if checked else "be unchecked"
        await self._one(
            lambda it: "error" not in it.read and it.read[key] == wanted,
            expected,
            _checked,
            timeout_s,
            read=("checked", None),
        )

    async def to_be_empty(self, *, timeout_s: float | None = None) -> None:
        """A control without a value, or an element without text."""
        await self._one(
            lambda it: bool(it.read), "be empty", lambda it: it.text or repr(it.value), timeout_s, read=("empty", None)
        )

    async def to_be_focused(self, *, timeout_s: float | None = None) -> None:
        await self._one(
            lambda it: it.focused, "be focused", lambda it: "focused" if it.focused else "not focused", timeout_s
        )

    async def to_be_in_viewport(self, *, ratio: float = 0.0, timeout_s: float | None = None) -> None:
        """At least this part of its area is in the viewport of its frame; 0 for any."""
        await self._one(
            lambda it: it.read > 0 and it.read >= ratio,
            f"be in the viewport{f' by {ratio:g}' if ratio else ''}",
            lambda it: f"{it.read:.2f} of it is in the viewport",
            timeout_s,
            read=("viewport_ratio", None),
        )

    async def to_have_value(self, value: Text, *, timeout_s: float | None = None) -> None:
        """The value of a control, with its white space. The value of a password is never known."""
        await self._one(
            lambda it: it.value is not None and _is(it.value, value, fold=False),
            f"have value {_as_text(value)}",
            lambda it: repr(it.value),
            timeout_s,
        )

    async def to_have_values(self, values: Sequence[Text], *, timeout_s: float | None = None) -> None:
        """The selected options of a `<select multiple>`, by value."""
        wanted = list(values)
        await self._one(
            lambda it: (
                it.values is not None
                and len(it.values) == len(wanted)
                and all(_is(seen, one, fold=False) for seen, one in zip(it.values, wanted, strict=True))
            ),
            f"have values {[_as_text(one) for one in wanted]}",
            lambda it: str(it.values),
            timeout_s,
        )

    async def to_have_attribute(
        self, name: str, value: Text | None = None, *, ignore_case: bool = False, timeout_s: float | None = None
    ) -> None:
        """An attribute, with this value or any."""
        expected = f"have attribute {name}" + (f" = {_as_text(value)}" if value is not None else "")
        await self._one(
            lambda it: (
                name in it.attrs and (value is None or _is(it.attrs[name], value, fold=False, ignore_case=ignore_case))
            ),
            expected,
            lambda it: f"{name} = {it.attrs[name]!r}" if name in it.attrs else f"no attribute {name}",
            timeout_s,
        )

    async def to_have_class(self, expected: Text | Sequence[Text], *, timeout_s: float | None = None) -> None:
        """The whole attribute `class`; a list for those of all matches, in their order."""
        if isinstance(expected, str | re.Pattern):
            await self._one(
                lambda it: _is(_class_of(it), expected),
                f"have class {_as_text(expected)}",
                lambda it: f"class = {_class_of(it)!r}",
                timeout_s,
            )
            return
        wanted = list(expected)
        await self._all(
            lambda found: found.count == len(wanted) and all(map(_is, map(_class_of, found.matches), wanted)),
            f"have classes {[_as_text(one) for one in wanted]}",
            _classes_of,
            timeout_s,
            limit=len(wanted) + 1,
        )

    async def to_contain_class(self, expected: str | Sequence[str], *, timeout_s: float | None = None) -> None:
        """All these classes, separated by blanks; a list for those of all matches, in their order."""
        if isinstance(expected, str):
            await self._one(
                lambda it: _has_classes(it, expected),
                f"contain class {expected!r}",
                lambda it: f"class = {_class_of(it)!r}",
                timeout_s,
            )
            return
        wanted = list(expected)
        await self._all(
            lambda found: found.count == len(wanted) and all(map(_has_classes, found.matches, wanted)),
            f"contain classes {wanted}",
            _classes_of,
            timeout_s,
            limit=len(wanted) + 1,
        )

    async def to_have_count(self, count: int, *, timeout_s: float | None = None) -> None:
        """The number of elements that match."""
        await self._all(
            lambda found: found.count == count, f"match {count} times", lambda found: str(found.count), timeout_s
        )

    async def to_have_css(self, name: str, value: Text, *, timeout_s: float | None = None) -> None:
        """A computed CSS property."""
        await self._one(
            lambda it: _is(it.read, value, fold=False),
            f"have CSS {name} = {_as_text(value)}",
            lambda it: f"{name} = {it.read!r}",
            timeout_s,
            read=("css", name),
        )

    async def to_have_id(self, id: Text, *, timeout_s: float | None = None) -> None:
        """The attribute `id`."""
        await self._one(
            lambda it: _is(it.attrs.get("id", ""), id, fold=False),
            f"have id {_as_text(id)}",
            lambda it: f"id = {it.attrs.get('id', '')!r}",
            timeout_s,
        )

    async def to_have_role(self, role: Role, *, timeout_s: float | None = None) -> None:
        """The ARIA role, explicit or by nature."""
        wanted = checked_role(role)
        await self._one(
            lambda it: it.role == wanted, f"have role {role!r}", lambda it: f"role = {it.role!r}", timeout_s
        )

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

    async def to_have_accessible_name(
        self, name: Text, *, ignore_case: bool = False, timeout_s: float | None = None
    ) -> None:
        """The accessible name, as assistive technology reports it."""
        await self._one(
            lambda it: _is(it.name, name, ignore_case=ignore_case),
            f"have accessible name {_as_text(name)}",
            lambda it: f"name = {it.name!r}",
            timeout_s,
        )

    async def to_have_accessible_description(
        self, description: Text, *, ignore_case: bool = False, timeout_s: float | None = None
    ) -> None:
        """The accessible description."""
        await self._one(
            lambda it: _is(it.read or "", description, ignore_case=ignore_case),
            f"have accessible description {_as_text(description)}",
            lambda it: f"description = {it.read!r}",
            timeout_s,
            read=("description", None),
        )

    async def to_have_accessible_error_message(
        self, error_message: Text, *, ignore_case: bool = False, timeout_s: float | None = None
    ) -> None:
        """The message of `aria-errormessage`, or of the browser's own validation, of an invalid control."""
        await self._one(
            lambda it: _is(it.read or "", error_message, ignore_case=ignore_case),
            f"have error message {_as_text(error_message)}",
            lambda it: f"error message = {it.read!r}",
            timeout_s,
            read=("error_message", None),
        )

    async def not_to_have_text(
        self,
        expected: Text | Sequence[Text],
        *,
        use_inner_text: bool = True,
        ignore_case: bool = False,
        timeout_s: float | None = None,
    ) -> None:
        await self._not().to_have_text(
            expected, use_inner_text=use_inner_text, ignore_case=ignore_case, timeout_s=timeout_s
        )

    async def not_to_contain_text(
        self,
        expected: Text | Sequence[Text],
        *,
        use_inner_text: bool = True,
        ignore_case: bool = False,
        timeout_s: float | None = None,
    ) -> None:
        await self._not().to_contain_text(
            expected, use_inner_text=use_inner_text, ignore_case=ignore_case, timeout_s=timeout_s
        )

    async def not_to_be_visible(self, *, timeout_s: float | None = None) -> None:
        await self._not().to_be_visible(timeout_s=timeout_s)

    async def not_to_be_hidden(self, *, timeout_s: float | None = None) -> None:
        await self._not().to_be_hidden(timeout_s=timeout_s)

    async def not_to_be_attached(self, *, attached: bool = True, timeout_s: float | None = None) -> None:
        await self._not().to_be_attached(attached=attached, timeout_s=timeout_s)

    async def not_to_be_enabled(self, *, enabled: bool = True, timeout_s: float | None = None) -> None:
        await self._not().to_be_enabled(enabled=enabled, timeout_s=timeout_s)

    async def not_to_be_disabled(self, *, timeout_s: float | None = None) -> None:
        await self._not().to_be_disabled(timeout_s=timeout_s)

    async def not_to_be_editable(self, *, editable: bool = True, timeout_s: float | None = None) -> None:
        await self._not().to_be_editable(editable=editable, timeout_s=timeout_s)

    async def not_to_be_checked(
        self, *, checked: bool = True, indeterminate: bool = False, timeout_s: float | None = None
    ) -> None:
        await self._not().to_be_checked(checked=checked, indeterminate=indeterminate, timeout_s=timeout_s)

    async def not_to_be_empty(self, *, timeout_s: float | None = None) -> None:
        await self._not().to_be_empty(timeout_s=timeout_s)

    async def not_to_be_focused(self, *, timeout_s: float | None = None) -> None:
        await self._not().to_be_focused(timeout_s=timeout_s)

    async def not_to_be_in_viewport(self, *, ratio: float = 0.0, timeout_s: float | None = None) -> None:
        await self._not().to_be_in_viewport(ratio=ratio, timeout_s=timeout_s)

    async def not_to_have_value(self, value: Text, *, timeout_s: float | None = None) -> None:
        await self._not().to_have_value(value, timeout_s=timeout_s)

    async def not_to_have_values(self, values: Sequence[Text], *, timeout_s: float | None = None) -> None:
        await self._not().to_have_values(values, timeout_s=timeout_s)

    async def not_to_have_attribute(
        self, name: str, value: Text | None = None, *, ignore_case: bool = False, timeout_s: float | None = None
    ) -> None:
        await self._not().to_have_attribute(name, value, ignore_case=ignore_case, timeout_s=timeout_s)

    async def not_to_have_class(self, expected: Text | Sequence[Text], *, timeout_s: float | None = None) -> None:
        await self._not().to_have_class(expected, timeout_s=timeout_s)

    async def not_to_contain_class(self, expected: str | Sequence[str], *, timeout_s: float | None = None) -> None:
        await self._not().to_contain_class(expected, timeout_s=timeout_s)

    async def not_to_have_count(self, count: int, *, timeout_s: float | None = None) -> None:
        await self._not().to_have_count(count, timeout_s=timeout_s)

    async def not_to_have_css(self, name: str, value: Text, *, timeout_s: float | None = None) -> None:
        await self._not().to_have_css(name, value, timeout_s=timeout_s)

    async def not_to_have_id(self, id: Text, *, timeout_s: float | None = None) -> None:
        await self._not().to_have_id(id, timeout_s=timeout_s)

    async def not_to_have_role(self, role: Role, *, timeout_s: float | None = None) -> None:
        await self._not().to_have_role(role, timeout_s=timeout_s)

    async def not_to_have_js_property(self, name: str, value: Any, *, timeout_s: float | None = None) -> None:
        await self._not().to_have_js_property(name, value, timeout_s=timeout_s)

    async def not_to_have_accessible_name(
        self, name: Text, *, ignore_case: bool = False, timeout_s: float | None = None
    ) -> None:
        await self._not().to_have_accessible_name(name, ignore_case=ignore_case, timeout_s=timeout_s)

    async def not_to_have_accessible_description(
        self, description: Text, *, ignore_case: bool = False, timeout_s: float | None = None
    ) -> None:
        await self._not().to_have_accessible_description(description, ignore_case=ignore_case, timeout_s=timeout_s)

    async def not_to_have_accessible_error_message(
        self, error_message: Text, *, ignore_case: bool = False, timeout_s: float | None = None
    ) -> None:
        await self._not().to_have_accessible_error_message(error_message, ignore_case=ignore_case, timeout_s=timeout_s)

    def _not(self) -> LocatorAssertions:
        return LocatorAssertions(self._locator, not self._wanted)

    async def _text(
        self,
        what: str,
        expected: Text | Sequence[Text],
        *,
        is_whole: bool,
        ignore_case: bool,
        inner: bool,
        timeout_s: float | None,
    ) -> None:
        test = partial(_is if is_whole else _has, ignore_case=ignore_case)
        read = None if inner else ("text_content", None)

        def text_of(match: Match) -> str:
            return match.text if inner else str(match.read or "")

        if isinstance(expected, str | re.Pattern):
            await self._one(
                lambda it: test(text_of(it), expected), f"{what} {_as_text(expected)}", text_of, timeout_s, read=read
            )
            return
        texts = list(expected)
        await self._all(
            lambda found: _match_in_order([text_of(it) for it in found.matches], texts, test, is_whole=is_whole),
            f"{what}s {[_as_text(one) for one in texts]}",
            lambda found: f"{found.count}: {[text_of(it)[:100] for it in found.matches]}",
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
            when_absent: Whether the expectation holds without an element; None if it holds neither way. While a frame
                does not answer, an element may be in there.
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

    async def to_have_title(self, title: Text, *, timeout_s: float | None = None) -> None:
        await self._wait(
            self._page.finder.title, lambda seen: _is(seen, title), f"have title {_as_text(title)}", timeout_s
        )

    async def not_to_have_url(self, url: UrlMatch, *, timeout_s: float | None = None) -> None:
        await PageAssertions(self._page, not self._wanted).to_have_url(url, timeout_s=timeout_s)

    async def not_to_have_title(self, title: Text, *, timeout_s: float | None = None) -> None:
        await PageAssertions(self._page, not self._wanted).to_have_title(title, timeout_s=timeout_s)

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


def _match_in_order(seen: list[str], wanted: list[Text], test: Callable[[str, Text], bool], *, is_whole: bool) -> bool:
    """True if the texts match one by one; parts may leave out texts in between, as in Playwright."""
    if is_whole:
        return len(seen) == len(wanted) and all(map(test, seen, wanted))
    left = iter(seen)
    return all(any(test(text, one) for text in left) for one in wanted)


def _class_of(match: Match) -> str:
    return match.attrs.get("class", "")


def _classes_of(found: LocatorMatches) -> str:
    return str(list(map(_class_of, found.matches)))


def _has_classes(match: Match, names: str) -> bool:
    return set(names.split()) <= set(_class_of(match).split())


def _as_text(text: Text) -> str:
    return repr(text) if isinstance(text, str) else f"/{text.pattern}/"


def _enabled(match: Match) -> str:
    return "enabled" if match.enabled else "disabled"


def _checked(match: Match) -> str:
    if "error" in match.read:
        return "neither a checkbox nor a radio button nor a switch"
    return "indeterminate" if match.read["indeterminate"] else "checked" if match.read["checked"] else "not checked"

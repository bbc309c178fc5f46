"""`expect(locator).to_have_text(…)`: waits until the page is as expected, or reports what was last seen.

await expect(page.get_by_role("alert")).to_contain_text("Saved")
await expect(page.get_by_role("dialog")).not_.to_be_visible()
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, overload

from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, ExpectationFailed, UsageError
from bridge.page.instrumentation import instrumented
from bridge.page.locators.locators import Locator, Text
from bridge.page.locators.matches import LocatorMatches, Match
from bridge.page.url_pattern import url_pattern

if TYPE_CHECKING:
    from bridge.page.page import Page

EXPECT_TIMEOUT_S = 5.0


@instrumented(lambda expected: expected._locator._page, repr)
class LocatorExpectations:
    """Expectations of the one element that a locator matches. Each method waits until its expectation holds.

    All raise:
        ExpectationFailed: An AssertionError; reports what was last seen.
        SeveralMatches: The locator matches more than one element.
    """

    def __init__(self, locator: Locator, wanted: bool = True) -> None:
        self._locator = locator
        self._wanted = wanted

    def __repr__(self) -> str:
        return f"expect({self._locator!r}){'' if self._wanted else '.not_'}"

    @property
    def not_(self) -> LocatorExpectations:
        """The same expectations, negated."""
        return LocatorExpectations(self._locator, not self._wanted)

    async def to_have_text(self, text: Text | Sequence[Text], *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        """The whole text, with white space collapsed; a list for the texts of all matches, in their order."""
        if isinstance(text, str | re.Pattern):
            await self._one(lambda it: _is(it.text, text), f"have text {_as_text(text)}", lambda it: it.text, timeout_s)
            return
        texts = list(text)
        await self._all(
            lambda found: found.count == len(texts) and all(map(_is, (it.text for it in found.matches), texts)),
            f"have texts {[_as_text(one) for one in texts]}",
            lambda found: f"{found.count}: {[it.text[:100] for it in found.matches]}",
            timeout_s,
        )

    async def to_contain_text(self, text: Text, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        await self._one(lambda it: _has(it.text, text), f"contain text {_as_text(text)}", lambda it: it.text, timeout_s)

    async def to_be_visible(self, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        await self._one(lambda it: it.visible, "be visible", lambda it: "hidden", timeout_s, when_absent=False)

    async def to_be_hidden(self, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        """Not visible, or not on the page."""
        await self._one(lambda it: not it.visible, "be hidden", lambda it: "visible", timeout_s, when_absent=True)

    async def to_be_attached(self, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        await self._one(lambda it: True, "be on the page", lambda it: "there", timeout_s, when_absent=False)

    async def to_be_enabled(self, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        await self._one(lambda it: it.enabled, "be enabled", _enabled, timeout_s)

    async def to_be_disabled(self, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        await self._one(lambda it: not it.enabled, "be disabled", _enabled, timeout_s)

    async def to_be_editable(self, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        await self._one(lambda it: it.editable, "be editable", lambda it: f"editable: {it.editable}", timeout_s)

    async def to_be_checked(self, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        await self._one(
            lambda it: it.checked, "be checked", lambda it: "checked" if it.checked else "not checked", timeout_s
        )

    async def to_be_focused(self, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        await self._one(
            lambda it: it.focused, "be focused", lambda it: "focused" if it.focused else "not focused", timeout_s
        )

    async def to_have_value(self, value: Text, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        """The value of a control, with its white space. The value of a password is never known."""
        await self._one(
            lambda it: it.value is not None and _is(it.value, value, fold=False),
            f"have value {_as_text(value)}",
            lambda it: repr(it.value),
            timeout_s,
        )

    async def to_have_values(self, values: Sequence[str], *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        """The selected options of a `<select multiple>`, by value."""
        await self._one(
            lambda it: it.values == tuple(values), f"have values {list(values)}", lambda it: str(it.values), timeout_s
        )

    async def to_have_attribute(
        self, name: str, value: Text | None = None, *, timeout_s: float = EXPECT_TIMEOUT_S
    ) -> None:
        """An attribute, with this value or any."""
        expected = f"have attribute {name}" + (f" = {_as_text(value)}" if value is not None else "")
        await self._one(
            lambda it: name in it.attrs and (value is None or _is(it.attrs[name], value, fold=False)),
            expected,
            lambda it: f"{name} = {it.attrs[name]!r}" if name in it.attrs else f"no attribute {name}",
            timeout_s,
        )

    async def to_have_class(self, name: str, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        """One of the element's classes."""
        await self._one(
            lambda it: name in it.attrs.get("class", "").split(),
            f"have class {name!r}",
            lambda it: f"class = {it.attrs.get('class', '')!r}",
            timeout_s,
        )

    async def to_have_count(self, count: int, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        """The number of elements that match."""
        await self._all(
            lambda found: found.count == count, f"match {count} times", lambda found: str(found.count), timeout_s
        )

    async def _one(
        self,
        test: Callable[[Match], bool],
        expected: str,
        seen: Callable[[Match], str],
        timeout_s: float,
        *,
        when_absent: bool | None = None,
    ) -> None:
        """
        Args:
            when_absent: Whether the expectation holds without an element; None if it holds neither way. While a frame
                does not answer, an element may be in there.
        """

        def holds(found: LocatorMatches) -> bool | None:
            self._locator.raise_if_several(found)
            absent = None if found.unread else when_absent
            return test(found.matches[0]) if found.matches else absent

        await self._wait(holds, expected, lambda found: seen(found.matches[0]), timeout_s)

    async def _all(
        self,
        test: Callable[[LocatorMatches], bool],
        expected: str,
        seen: Callable[[LocatorMatches], str],
        timeout_s: float,
    ) -> None:
        """An expectation of all matches, so every frame has to answer."""
        await self._wait(lambda found: None if found.unread else test(found), expected, seen, timeout_s)

    async def _wait(
        self,
        holds: Callable[[LocatorMatches], bool | None],
        expected: str,
        seen: Callable[[LocatorMatches], str],
        timeout_s: float,
    ) -> None:
        deadline = Deadline.after(timeout_s)
        found = await self._locator.find(None, deadline)
        while holds(found) is not self._wanted:
            last = seen(found)[:500] if found.matches and not found.unread else found.described()
            failed = _failed(repr(self._locator), self._wanted, expected, last, timeout_s)
            if deadline.remaining_s <= 0:
                raise failed
            try:
                found = await self._locator.find(found, deadline)
            except DeadlineExceeded as late:  # the page answered before, so what was seen then is reported
                if not deadline.passed:
                    raise
                if (step := late.details.get("recovery")) is not None:
                    failed.details["recovery"] = step
                raise failed from late


@instrumented(lambda expected: expected._page, repr)
class PageExpectations:
    """Expectations of a page as a whole."""

    def __init__(self, page: Page, wanted: bool = True) -> None:
        self._page = page
        self._wanted = wanted

    def __repr__(self) -> str:
        return f"expect(page){'' if self._wanted else '.not_'}"

    @property
    def not_(self) -> PageExpectations:
        return PageExpectations(self._page, not self._wanted)

    async def to_have_url(self, url: str | re.Pattern[str], *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        """A glob over the whole address (`**/cart`), or a regular expression searched in it."""
        pattern = url_pattern(url)
        await self._wait(self._page.finder.url, pattern.matches, f"have URL {_as_text(url)}", timeout_s)

    async def to_have_title(self, title: Text, *, timeout_s: float = EXPECT_TIMEOUT_S) -> None:
        await self._wait(
            self._page.finder.title, lambda seen: _is(seen, title), f"have title {_as_text(title)}", timeout_s
        )

    async def _wait(
        self,
        observe: Callable[[str | None, Deadline], Awaitable[str | None]],
        test: Callable[[str], bool],
        expected: str,
        timeout_s: float,
    ) -> None:
        deadline = Deadline.after(timeout_s)
        seen = await observe(None, deadline)
        while seen is None or test(seen) is not self._wanted:
            if deadline.passed:
                raise _failed("the page", self._wanted, expected, repr(seen), timeout_s)
            seen = await observe(seen, deadline)


@overload
def expect(subject: Locator) -> LocatorExpectations: ...
@overload
def expect(subject: Page) -> PageExpectations: ...
def expect(subject: Locator | Page) -> LocatorExpectations | PageExpectations:
    """Expectations of a locator or a page. Their methods wait until they hold."""
    from bridge.page.page import Page

    if isinstance(subject, Locator):
        return LocatorExpectations(subject)
    if isinstance(subject, Page):
        return PageExpectations(subject)
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


def _is(seen: str, wanted: Text, *, fold: bool = True) -> bool:
    if isinstance(wanted, re.Pattern):
        return wanted.search(seen) is not None
    return _fold(seen) == _fold(wanted) if fold else seen == wanted


def _has(seen: str, wanted: Text) -> bool:
    return wanted.search(seen) is not None if isinstance(wanted, re.Pattern) else _fold(wanted) in _fold(seen)


def _as_text(text: Text) -> str:
    return repr(text) if isinstance(text, str) else f"/{text.pattern}/"


def _enabled(match: Match) -> str:
    return "enabled" if match.enabled else "disabled"

"""The methods of a page that describe elements by what a person calls them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bridge.deadline import Deadline
from bridge.page.acting import ActingPage
from bridge.page.instrumentation import Observer
from bridge.page.locators.locators import Locator, LocatorMatches, Match, Step, Text, look, match_of
from bridge.page.snapshots.refs import RefTable
from bridge.page.target.attachment import WORLD_NAME, WorldGone

_ASK_S = 5.0
# One look without a deadline of its own.
_TURN_S = 15.0


class LocatingPage(ActingPage):
    """Locators are described here and found when they are used."""

    observer: Observer | None = None
    _refs: RefTable

    def locator(self, css: str) -> Locator:
        """Elements by a CSS selector, in all frames and open shadow roots."""
        return Locator(self, (), "").locator(css)

    def get_by_role(self, role: str, *, name: Text | None = None, exact: bool = False) -> Locator:
        """Elements of that ARIA role that a person can perceive; `name` is part of their accessible name."""
        return Locator(self, (), "").get_by_role(role, name=name, exact=exact)

    def get_by_text(self, text: Text, *, exact: bool = False) -> Locator:
        """The innermost elements with that text."""
        return Locator(self, (), "").get_by_text(text, exact=exact)

    def get_by_label(self, text: Text, *, exact: bool = False) -> Locator:
        """Controls by their label, `aria-label` or `aria-labelledby`."""
        return Locator(self, (), "").get_by_label(text, exact=exact)

    def get_by_placeholder(self, text: Text, *, exact: bool = False) -> Locator:
        """Inputs by their placeholder."""
        return Locator(self, (), "").get_by_placeholder(text, exact=exact)

    def get_by_test_id(self, test_id: str) -> Locator:
        """Elements by the attribute `data-testid`."""
        return Locator(self, (), "").get_by_test_id(test_id)

    async def _look(
        self, steps: tuple[Step, ...], seen: LocatorMatches | None, deadline: Deadline | None
    ) -> LocatorMatches:
        async with self._turn.within(deadline.remaining_s if deadline else _TURN_S):
            return await look(self, steps, seen, deadline)

    async def _ask(self, expression: str, deadline: Deadline) -> str | None:
        """A text of the top document, or None while it is being left."""
        async with self._turn.within(deadline.remaining_s):
            attachment = await self._here()
            main = attachment.state.main
            try:
                found = await attachment.evaluate(main.frame_id if main else "", expression, timeout_s=_ASK_S)
            except WorldGone:
                return None
        return found if isinstance(found, str) else None

    def _place_frame(self, frame_id: str, index: object) -> None:
        assert self._snapshots is not None
        self._snapshots.frame_indexes[frame_id] = index if isinstance(index, int) else -1

    def _matches(self, frame_id: str, items: Iterable[Mapping[str, Any]]) -> list[Match]:
        """What the page answered, with the session's refs in it."""
        assert self._snapshots is not None
        assert self._actions is not None
        world = self._actions.attachment.state.world_of(frame_id, WORLD_NAME)
        if world is None:
            return []
        url = self._snapshots.page_url
        found = []
        for item in items:
            role, name = str(item["role"]), str(item["name"])
            found.append(match_of(self._refs.assign(world.key, frame_id, str(item["ref"]), role, name, url), item))
        return found

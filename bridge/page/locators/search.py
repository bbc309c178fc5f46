"""A locator's search: the elements that its steps match now, and waits for the one that is wanted."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridge.deadline import Deadline
from bridge.errors import SeveralMatches
from bridge.page.locators.matches import LocatorMatches, Match
from bridge.page.locators.steps import Steps

if TYPE_CHECKING:
    from bridge.page.locators.finder import Finder, Read

# A wait for what is not there yet.
_ABSENT_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Search:
    """The steps of a locator in one page; `text` is their Python source."""

    finder: Finder
    steps: Steps
    text: str

    @property
    def ref(self) -> str | None:
        """The ref, if the locator is nothing but a ref."""
        return self.steps[0]["ref"] if len(self.steps) == 1 and "ref" in self.steps[0] else None

    async def find(
        self,
        seen: LocatorMatches | None = None,
        deadline: Deadline | None = None,
        *,
        read: Read | None = None,
        limit: int | None = None,
    ) -> LocatorMatches:
        """See `Finder.find`."""
        return await self.finder.find(self.steps, seen, deadline, read=read, limit=limit)

    async def one(self, deadline: Deadline, *, read: Read | None = None) -> Match:
        """The only match, as soon as there is one.

        Raises:
            SeveralMatches: Lists the elements.
            DeadlineExceeded: Nothing matched.
        """
        found = await self.find(None, deadline, read=read)
        while not found.count:
            if deadline.passed:
                raise deadline.exceeded(f"finding {self.text}", found.described())
            found = await self.find(found, deadline, read=read)
            if not found.states:  # no document was asked
                await asyncio.sleep(_ABSENT_PAUSE_S)
        self.raise_if_several(found)
        return found.matches[0]

    async def in_all_frames(
        self, what: str, deadline: Deadline, *, read: Read | None = None, limit: int | None = None
    ) -> LocatorMatches:
        """A search that every frame has answered."""
        while (found := await self.find(None, deadline, read=read, limit=limit)).unread:
            if deadline.passed:
                raise deadline.exceeded(f"{what} {self.text}", found.described())
        return found

    def raise_if_several(self, found: LocatorMatches) -> None:
        """
        Raises:
            SeveralMatches: Lists the elements.
        """
        if found.count > 1:
            raise SeveralMatches(
                f"{self.text} matches {found.count} elements: {found.described()}.",
                hint="Narrow it down with name, exact=True or filter, or choose one with nth.",
                count=found.count,
                matches=[match.described() for match in found.matches],
            )

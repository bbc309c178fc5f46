"""Part of a session's log: the entries that fit a filter, and the numbers needed to read on from there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from bridge.errors import UsageError


class LogEntry(Protocol):
    """An entry of a log: numbered from 1 through the session, and belonging to one tab."""

    @property
    def number(self) -> int: ...
    @property
    def tab_id(self) -> str: ...


E = TypeVar("E", bound=LogEntry)


@dataclass(frozen=True, slots=True)
class LogSlice(Generic[E]):
    """Entries, oldest first.

    Attributes:
        last: The number of the session's newest entry; `after=last` returns later entries.
        dropped: How many entries of the session no longer fit into the log.
        more: How many older entries fit the filter and exceed the limit.
    """

    entries: tuple[E, ...]
    last: int
    dropped: int
    more: int

    def __iter__(self) -> Iterator[E]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def counts(self) -> dict[str, int]:
        """The fields beside the entries, for JSON."""
        return {"last": self.last, "dropped": self.dropped, "more": self.more}

    @classmethod
    def newest(
        cls,
        kept: Iterable[E],
        last: int,
        fits: Callable[[E], bool],
        *,
        tab_id: str | None,
        after: int,
        limit: int,
    ) -> Self:
        """The newest `limit` of the `kept` entries that fit, of one tab or of all.

        Raises:
            UsageError: A limit below 1.
        """
        if limit < 1:
            raise UsageError(f"limit must be 1 or more, not {limit}")
        everything = tuple(kept)
        fitting = [
            entry for entry in everything if entry.number > after and tab_id in (None, entry.tab_id) and fits(entry)
        ]
        return cls(tuple(fitting[-limit:]), last, last - len(everything), max(0, len(fitting) - limit))

"""What somebody asked for of a session's log: entries that fit a filter, and what they need to know to ask again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from bridge.errors import UsageError


class LogEntry(Protocol):
    """What stands in a log: numbered from 1 through the session, and said or asked for by one tab."""

    @property
    def number(self) -> int: ...
    @property
    def tab_id(self) -> str: ...


E = TypeVar("E", bound=LogEntry)


@dataclass(frozen=True, slots=True)
class LogSlice(Generic[E]):
    """Entries, oldest first.

    Attributes:
        last: The number of the session's newest entry: `after=last` gives what comes then.
        dropped: Entries that no longer fit into the log, of the whole session.
        more: Entries that fit the filter and were older than the limit.
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
        """What is said beside the entries in JSON."""
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
            raise UsageError(f"limit={limit}", hint="1 or more.")
        everything = tuple(kept)
        fitting = [
            entry for entry in everything if entry.number > after and tab_id in (None, entry.tab_id) and fits(entry)
        ]
        return cls(tuple(fitting[-limit:]), last, last - len(everything), max(0, len(fitting) - limit))

"""A tab that is open without the page that it is asked for: nobody reads it, or acts on it, as if it were."""

from __future__ import annotations

from collections.abc import Callable

from bridge.errors import TabLost


class MissingPage:
    """Why a tab's page is not in it any more although the tab is open, or can be: only a goto goes on from there."""

    def __init__(self) -> None:
        self._why = ""
        self._has_come: Callable[[], bool] | None = None

    @property
    def why(self) -> str:
        """In words; "" where nothing is missing."""
        return self._why

    def say(self, why: str, *, has_come: Callable[[], bool] | None = None) -> None:
        """It is missing from now on.

        Args:
            has_come: Whether it is there after all, of one that had not loaded to its end in time.
        """
        self._why, self._has_come = why, has_come

    def forget(self) -> None:
        """It is there, or whoever asks is going elsewhere."""
        self._why, self._has_come = "", None

    def require(self, tab_id: str, *, was_killed: bool) -> None:
        """Raise TabLost where it is missing."""
        if self._has_come is not None and self._has_come():
            self.forget()
        if self._why:
            raise TabLost(
                f"the page of {tab_id} is gone: {self._why}",
                hint="Use goto: it opens an address in the same tab. Until then the tab has no page.",
                recovery="kill_renderer" if was_killed else "opened_blank",
            )

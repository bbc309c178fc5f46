"""Side effects of an action outside the DOM (popups, downloads, pickers), reported with the next result.

The host app reports windows, file choosers and downloads over its own connection; the page's CDP events report links to
other apps. Most of them arrive while the action settles. Later ones are reported with a later result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bridge.snapshot.escape import plain, quoted
from bridge.snapshot.wording import instead, requested_picker

_MAX_NOTICES = 8
_NAME_CHARS = 120
# A closed window is reported by the host app, and its CDP connection ends: two events on two connections.
_NEWS_S = 2.0


def window_opened(tab_id: str) -> str:
    """The notice about a window that became a tab of the session."""
    return f"the page opened a window: {tab_id}"


class SideEffects:
    """The side effects in one tab that were not reported yet.

    Attributes:
        how_closed: How the window was closed, as far as known.
    """

    def __init__(self, *, opens_apps: bool) -> None:
        """`opens_apps`: the app that owns the tab decides about links to other apps."""
        self._opens_apps = opens_apps
        self._unreported: dict[str, None] = {}
        self._downloads: set[str] = set()
        self._left_out = 0
        self._closed = asyncio.Event()
        self.how_closed = "the page asked to close its window"

    def closed_window(self, tab_id: str) -> None:
        """The page closed the window of this tab."""
        self._closes("the page closed its own window", f"{tab_id} is closed")

    def lost_window(self, tab_id: str) -> None:
        """The window of this tab was closed; a foreign app does not report by whom."""
        self._closes("the window was closed, by its page or its app", f"the next call finds another page for {tab_id}")

    def has_window(self) -> None:
        """The tab has a window again."""
        self._closed.clear()

    def _closes(self, how: str, and_now: str) -> None:
        self.how_closed = how
        self._add(f"{how}: {and_now}")
        self._closed.set()

    def other_closed_window(self, tab_id: str) -> None:
        """A window that the page of this tab opened closed itself."""
        self._add(f"a window that the page had opened closed itself: {tab_id} is closed")

    @property
    def is_closed(self) -> bool:
        """True if the window is known to have been closed by its own page."""
        return self._closed.is_set()

    async def closed(self) -> None:
        """Wait until the window is closed."""
        await self._closed.wait()

    async def closes(self) -> bool:
        """`is_closed`, after waiting for a report that may be on its way."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_NEWS_S):
                await self._closed.wait()
        return self.is_closed

    def window(self, tab_id: str) -> None:
        self._add(window_opened(tab_id))

    def refused_window(self, why: str) -> None:
        self._add(f"a window that the page opened was closed: {why}")

    def picker(self, control: Mapping[str, object], ref: str | None) -> None:
        """The page itself asked for the system dialog of a control, which the script described."""
        self._add(f"{requested_picker(control)}. {instead(control, ref)}".rstrip())

    def take_event(self, event: str, fields: Mapping[str, Any]) -> None:
        """An event of the host app (android_host_app/PROTOCOL.md §6)."""
        if event == "file_chooser" and not fields.get("answered"):
            self._add("a file chooser opened and was closed without a file; use upload to give the page files")
        elif event == "download":
            notice = f"a download started and was not saved: {_name(fields)}"
            self._downloads.add(notice)
            self._add(notice)

    def kept_download(self) -> None:
        """The caller asked for the download that started."""
        for notice in self._downloads:
            self._unreported.pop(notice, None)
        self._downloads.clear()

    def take_unreported(self, schemes: tuple[str, ...] = ()) -> tuple[str, ...]:
        """One line each. `schemes` are those of links to other apps that the page tried to open."""
        for scheme in schemes:
            what = "are left to its app" if self._opens_apps else "are never opened"
            self._add(f"the page tried to open a {scheme}: link; {scheme}: links {what}")
        more = (f"{self._left_out} more notices were left out",) if self._left_out else ()
        notices = (*self._unreported, *more)
        self._unreported.clear()
        self._downloads.clear()
        self._left_out = 0
        return notices

    def _add(self, notice: str) -> None:
        notice = plain(notice)
        if notice in self._unreported:
            return
        if len(self._unreported) < _MAX_NOTICES:
            self._unreported[notice] = None
        else:
            self._left_out += 1


def _name(fields: Mapping[str, Any]) -> str:
    """The name by which a person recognizes the download."""
    url = str(fields.get("url") or "")
    return quoted(url if not url.startswith("data:") else url.partition(",")[0], _NAME_CHARS)

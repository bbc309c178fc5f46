"""What an action set off beside its page, which no delta of the page shows: told with the next result, as dialogs are.

The host app tells of windows, file choosers and downloads over a connection of its own, and the page's CDP events of
addresses that are another app's; most of it is there when an action has settled, and what comes later is told later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bridge.snapshot.escape import plain, quoted
from bridge.snapshot.wording import instead, opened_by

_KEPT = 8
_NAME_CHARS = 120
# The host app's news of a window that closed and the end of its CDP connection come by two ways.
_NEWS_S = 2.0


def window_opened(tab_id: str) -> str:
    """The notice of a window that became a tab of the session."""
    return f"the page opened a window: {tab_id}"


class SideEffects:
    """Those of one tab that nobody has been told of yet.

    Attributes:
        how_closed: What is known of a window that was closed, in words.
    """

    def __init__(self, *, opens_apps: bool) -> None:
        """`opens_apps`: what becomes of an address that is another app's is up to the app that the tab is in."""
        self._opens_apps = opens_apps
        self._unreported: dict[str, None] = {}
        self._downloads: set[str] = set()
        self._left_out = 0
        self._closed = asyncio.Event()
        self.how_closed = "the page asked for its window to be closed"

    def closed_window(self, tab_id: str) -> None:
        """The page has closed the window that this tab is, or was."""
        self._closes("the page closed its own window", f"{tab_id} is no more")

    def lost_window(self, tab_id: str) -> None:
        """The window that this tab shows was closed, in an app of which nobody tells by whom."""
        self._closes("the window was closed, by its page or its app", f"the next call looks for a page for {tab_id}")

    def has_window(self) -> None:
        """There is one again, where a closed one has a successor."""
        self._closed.clear()

    def _closes(self, how: str, and_now: str) -> None:
        self.how_closed = how
        self._add(f"{how}: {and_now}")
        self._closed.set()

    def other_closed_window(self, tab_id: str) -> None:
        """A window that this tab's page had opened has closed itself."""
        self._add(f"a window that the page had opened closed itself: {tab_id} is no more")

    @property
    def is_closed(self) -> bool:
        """Whether the window was closed, by its own page as far as that can be known."""
        return self._closed.is_set()

    async def closed(self) -> None:
        """Wait until it has."""
        await self._closed.wait()

    async def closes(self) -> bool:
        """`is_closed`, when the news of that had its time to come."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_NEWS_S):
                await self._closed.wait()
        return self.is_closed

    def window(self, tab_id: str) -> None:
        self._add(window_opened(tab_id))

    def refused_window(self, why: str) -> None:
        self._add(f"a window that the page opened was not kept: {why}")

    def picker(self, asked: Mapping[str, object], ref: str | None) -> None:
        """The page has asked by itself for the dialog of a control, which `asked` tells as the script does."""
        became = "it is open" if asked.get("isOpen") else "it was kept closed"
        self._add(f"the page asked for a picker, and {became}: {opened_by(asked)}. {instead(asked, ref)}".rstrip())

    def take_event(self, event: str, fields: Mapping[str, Any]) -> None:
        """One of the host app's (android_host_app/PROTOCOL.md §6)."""
        if event == "file_chooser" and not fields.get("answered"):
            self._add("a file chooser was opened and closed again without a file; upload gives the page files")
        elif event == "download":
            notice = f"a download began and was not kept: {_name(fields)}"
            self._downloads.add(notice)
            self._add(notice)

    def kept_download(self) -> None:
        """What began was asked for."""
        for notice in self._downloads:
            self._unreported.pop(notice, None)
        self._downloads.clear()

    def take_unreported(self, schemes: tuple[str, ...] = ()) -> tuple[str, ...]:
        """One line each; `schemes` are those of other apps' addresses that the page has tried to go to since."""
        for scheme in schemes:
            what = "are for its app to open" if self._opens_apps else "are never opened here"
            self._add(f"the page asked for a {scheme}: address; {scheme}: addresses {what}")
        more = (f"{self._left_out} more of such notices were left out",) if self._left_out else ()
        told = (*self._unreported, *more)
        self._unreported.clear()
        self._downloads.clear()
        self._left_out = 0
        return told

    def _add(self, notice: str) -> None:
        notice = plain(notice)
        if notice in self._unreported:
            return
        if len(self._unreported) < _KEPT:
            self._unreported[notice] = None
        else:
            self._left_out += 1


def _name(fields: Mapping[str, Any]) -> str:
    """What a person would know the download by."""
    url = str(fields.get("url") or "")
    return quoted(url if not url.startswith("data:") else url.partition(",")[0], _NAME_CHARS)

"""The state of one process of the host app: owner, tabs, staged files, and events of the engine."""

from __future__ import annotations

import asyncio
import itertools
import logging
import mimetypes
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.virtual_device.engine import (
    BrowserEvent,
    ChooserOpened,
    DialogPickerOpened,
    DownloadRequested,
    Engine,
    EngineTab,
    PopupOpened,
    TabGone,
)
from bridge.virtual_device.host_app.files import HostFiles
from bridge.virtual_device.host_app.requests import MAX_TABS

if TYPE_CHECKING:
    from bridge.virtual_device.host_app.connection import ControlConnection

_log = logging.getLogger(__name__)

_REASONS = {"crashed": "renderer_crashed", "killed": "renderer_killed", "closed": "closed_by_page"}


@dataclass(eq=False)
class HostedTab:
    """A WebView with its name in the control protocol; `lock` serialises its requests."""

    name: str
    page: EngineTab
    nonce: str | None
    profile: str | None
    opener: str | None
    active_at: float
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class HostProcess:
    """State that dies with the process.

    Attributes:
        owner: The current (owner, policy) pair, None before the first handshake.
        clients: Connections after their handshake.
        ending: A client asked for shutdown.
        changed: Set when tabs or clients were added or removed, so that deadlines are computed again.
    """

    def __init__(
        self, pid: int, engine: Engine, folder: Path, *, clock: Callable[[], float], idle_timeout_s: float
    ) -> None:
        self.pid = pid
        self.engine = engine
        self.files = HostFiles(folder)
        self.idle_timeout_s = idle_timeout_s
        self.tabs: dict[str, HostedTab] = {}
        self.opening = 0
        self.owner: tuple[str, str] | None = None
        self.owner_since = clock()
        self.clients: set[ControlConnection] = set()
        self.ending = False
        self.has_proxy = True
        self.changed = asyncio.Event()
        self.on_picker: Callable[[str], None] = lambda _element: None
        self._clock = clock
        self._started_at = clock()
        self._empty_since: float | None = self._started_at
        self._names = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()

    def add_tab(
        self, page: EngineTab, *, nonce: str | None = None, profile: str | None = None, opener: str | None = None
    ) -> HostedTab:
        tab = HostedTab(str(next(self._names)), page, nonce, profile, opener, self._clock())
        self.tabs[tab.name] = tab
        self.note_change()
        return tab

    def remove_tab(self, tab: HostedTab) -> None:
        self.tabs.pop(tab.name, None)
        self.files.drop_tab(tab.name)
        self.note_change()

    def touch(self, tab: HostedTab) -> None:
        tab.active_at = self._clock()

    def note_change(self) -> None:
        """Reports a change of tabs or clients."""
        in_use = bool(self.tabs or self.clients)
        self._empty_since = None if in_use else self._empty_since or self._clock()
        self.changed.set()

    def describe(self, tab: HostedTab) -> dict[str, Any]:
        view = tab.page.view
        return {
            "tab": tab.name,
            "nonce": tab.nonce,
            "url": tab.page.url,
            "title": tab.page.title,
            "width_px": view.width_px,
            "height_px": view.height_px,
            "density_dpi": view.density_dpi,
            "profile": tab.profile,
            "opener": tab.opener,
            "idle_s": round(max(0.0, self._clock() - tab.active_at), 3),
        }

    def stats(self) -> dict[str, Any]:
        return {
            "tabs": len(self.tabs),
            "clients": len(self.clients),
            "uptime_s": round(self._clock() - self._started_at, 3),
            "owner": self.owner[0] if self.owner else None,
            "files": self.files.count,
            "file_bytes": self.files.size_bytes,
            "heap_bytes": None,
            "native_bytes": None,
        }

    async def new_owner(self, pair: tuple[str, str]) -> None:
        """Switches to another pair and deletes all state of the previous one."""
        if self.owner is not None and self.owner != pair:
            for tab in tuple(self.tabs.values()):
                self.remove_tab(tab)
            self.files.clear()
            await self.engine.set_proxy(None)
            await self.engine.forget_contexts()
        if self.owner != pair:
            self.owner_since = self._clock()
        self.owner = pair

    def send_event(self, name: str, **fields: Any) -> None:
        for client in self.clients:
            client.send({"event": name, **fields})

    def next_deadline(self, linger_s: float) -> float | None:
        """The time at which the next tab, or the service, will have been idle for too long."""
        due = [tab.active_at + self.idle_timeout_s for tab in self.tabs.values()]
        if self._empty_since is not None:
            due.append(self._empty_since + linger_s)
        return min(due, default=None)

    def is_unused(self, linger_s: float) -> bool:
        return self._empty_since is not None and self._clock() - self._empty_since >= linger_s

    async def destroy_idle(self) -> None:
        """Destroys the tabs that have been idle for too long."""
        if "never_idle" in self.engine.defects:
            return
        now = self._clock()
        for tab in tuple(self.tabs.values()):
            if now - tab.active_at >= self.idle_timeout_s:
                self.remove_tab(tab)
                self.send_event("idle_destroyed", tab=tab.name, idle_s=round(now - tab.active_at, 3))
                await self.engine.browser.close(tab.page)

    def take(self, event: BrowserEvent) -> None:
        """Handles an event of the engine, as the app's WebView listeners do."""
        if isinstance(event, PopupOpened):
            self._popup(event)
            return
        tab = self._named(event.tab)
        if tab is None:
            return
        match event:
            case TabGone() if "silent_crashes" in self.engine.defects:
                self.remove_tab(tab)
            case TabGone():
                self.remove_tab(tab)
                self.send_event("tab.lost", tab=tab.name, reason=_REASONS[event.how], message=f"the page {event.how}.")
            case DownloadRequested():
                self._download(tab, event)
            case ChooserOpened():
                self._spawn(self._answer_chooser(tab, event))
            case DialogPickerOpened(element="select"):
                # SelectPopupDialog catches the BadTokenException of a view without an Activity and cancels the select.
                self.engine.browser.cancel_picker(event.tab)
            case DialogPickerOpened():
                self.on_picker(event.element)

    async def end(self) -> None:
        """Stops background tasks."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _named(self, page: EngineTab) -> HostedTab | None:
        return next((tab for tab in self.tabs.values() if tab.page is page), None)

    def _popup(self, event: PopupOpened) -> None:
        opener = self._named(event.opener)
        if opener is None or len(self.tabs) + self.opening >= MAX_TABS:
            name = None if opener is None else opener.name
            self.send_event("popup", tab=None, opener=name, url=event.url or None, refused=True)
            self._spawn(self.engine.browser.close(event.tab))
            return
        tab = self.add_tab(event.tab, profile=opener.profile, opener=opener.name)
        view = event.tab.view
        self.send_event(
            "popup",
            tab=tab.name,
            opener=opener.name,
            url=event.url or None,
            width_px=view.width_px,
            height_px=view.height_px,
            density_dpi=view.density_dpi,
        )

    def _download(self, tab: HostedTab, event: DownloadRequested) -> None:
        # CDP has the suggested name, but neither type nor length.
        mime = mimetypes.guess_type(event.name)[0] or "application/octet-stream"
        self.send_event(
            "download",
            tab=tab.name,
            url=event.url,
            mime=mime,
            length_bytes=-1,
            disposition=f'attachment; filename="{event.name}"',
            user_agent=self.engine.identity.user_agent,
        )

    async def _answer_chooser(self, tab: HostedTab, event: ChooserOpened) -> None:
        accept = await self.engine.browser.accepts(tab.page, event.backend_node_id)
        paths = self.files.take_for_chooser(tab.name, multiple=event.multiple)
        if paths:
            await self.engine.browser.choose_files(tab.page, event.backend_node_id, map(str, paths))
        answered = [path.name for path in paths]
        self.send_event("file_chooser", tab=tab.name, multiple=event.multiple, accept=accept, answered=answered)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        async def logged() -> None:
            try:
                await work
            except Exception as error:
                _log.warning("a background task of the fake host app failed: %s", error)

        task = asyncio.create_task(logged(), name="host app")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

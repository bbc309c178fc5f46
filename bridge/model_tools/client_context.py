"""Where the tools of one client work: its tabs in the shared session, its fence, and what it may do."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.errors import BridgeError, TabLost
from bridge.model_tools.elicitation import PendingElicitation
from bridge.model_tools.shared_session import SharedSession
from bridge.model_tools.tool_result import ToolResult
from bridge.ops import ActionPolicy, ContentMarkers, Secrets
from bridge.page.input.side_effects import window_opened

if TYPE_CHECKING:
    from bridge.ops import Executor
    from bridge.page.page import Page
    from bridge.page.results import ActionResult, NavigationResult
    from bridge.policy.pinning import PinnedEgress
    from bridge.session.session import Session

#: Told what a call is doing, for a person who waits.
Say = Callable[[str], None]

_OPENED_CHARS = 6_000
_POPUP_S = 3.0


def default_cache_folder() -> Path:
    """The user's folder for files that may go at any time: `$XDG_CACHE_HOME/webview-bridge`, or `~/.cache/…`."""
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(root) if root else Path.home() / ".cache") / "webview-bridge"


@dataclass
class ServerContext:
    """What all clients of one server share.

    Attributes:
        egress: What everything goes out through: the operator's policy, pins, audit.
        action_policy: Which effects are denied or confirmed first.
        secrets: Values that `secret:NAME` fills in and that no answer shows.
        cache_folder: Where `browser` puts its pictures.
    """

    egress: PinnedEgress
    shared: SharedSession
    asking: PendingElicitation
    action_policy: ActionPolicy = field(default_factory=ActionPolicy)
    secrets: Secrets = field(default_factory=Secrets)
    cache_folder: Path = field(default_factory=default_cache_folder)
    one_shot: asyncio.Lock = field(default_factory=asyncio.Lock)


class ClientContext:
    """One client's tabs; the last of them that was opened or chosen is the current one.

    Attributes:
        fence: With this client's nonce.
        turn: Held while one of its tools runs: they run one after the other.
        notes: What the next answer has to say beside its own outcome, in words of ours.
        told: The same, in sentences that may have an address or a message of a page in them.
        last_url: Where the current page was when it was last asked for.
    """

    def __init__(self, house: ServerContext) -> None:
        self.house = house
        self.fence = ContentMarkers()
        self.turn = asyncio.Lock()
        self.notes: list[str] = []
        self.told: list[str] = []
        self.say: Say = lambda step: None
        self._generation = 0
        self._tabs: list[str] = []
        self._closed_itself = ""
        self._tabs_so_far: set[str] = set()
        self.last_url = ""
        self._executor: Executor | None = None

    async def session(self) -> Session:
        """The session, opened if it has to be; says so where that takes its time."""
        if not self.house.shared.is_open:
            self.say("starting the device and the host app")
        elif self.house.shared.is_lost:
            self.say("the device or its host app is gone: waiting for it to come back")
        session, said = await self.house.shared.get()
        self.told += said
        if self._generation != self.house.shared.generation:
            self._generation = self.house.shared.generation
            self._tabs, self._executor = [], None
            self._tabs_so_far.clear()
        self._leave_out_closed(session)
        return session

    async def page(self) -> Page:
        """The current tab.

        Raises:
            TabLost: None is open; or, once, that it is another one than was shown last: the page closed that itself.
        """
        session = await self.session()
        gone, self._closed_itself = self._closed_itself, ""
        if gone:
            raise TabLost(f"{gone} is gone: its page closed its own window.", hint=self._current_now())
        if not self._tabs:
            raise TabLost("no page is open.", hint="web_open opens one.")
        page = session.tabs[self._tabs[-1]]
        self.last_url = page.url
        return page

    def _leave_out_closed(self, session: Session) -> None:
        """Tabs that are none of the session's any more; a client does not know of that."""
        current = self.current_tab
        self._tabs = [tab for tab in self._tabs if tab in session.tabs]
        if current is not None and current not in self._tabs:
            self._closed_itself = current

    def _current_now(self) -> str:
        return f"The current tab is {self._tabs[-1]} now." if self._tabs else "No tab is open; web_open opens one."

    def open_page(self) -> Page | None:
        """The current tab as it is, without opening or restoring anything."""
        shared = self.house.shared
        session = shared.present if self._generation == shared.generation else None
        tabs = [tab for tab in self._tabs if session is not None and tab in session.tabs]
        return session.tabs[tabs[-1]] if session is not None and tabs else None

    @property
    def acting_on(self) -> Page | None:
        """The tab that a call of now is about: the operations have their own."""
        return self.open_page() or (self._executor.page if self._executor is not None else None)

    async def pages(self) -> list[Page]:
        """This client's tabs, oldest first."""
        session = await self.session()
        return [page for tab, page in session.tabs.items() if tab in self._tabs]

    @property
    def tabs_so_far(self) -> frozenset[str]:
        """This client's tabs of the present session, those that are closed included."""
        return frozenset(self._tabs_so_far)

    @property
    def current_tab(self) -> str | None:
        return self._tabs[-1] if self._tabs else None

    async def new_page(self) -> Page:
        page = await (await self.session()).new_tab()
        self._tabs.append(page.tab_id)
        self._tabs_so_far.add(page.tab_id)
        return page

    async def choose(self, tab: str) -> Page:
        """Make `tab` the current one; TabLost names those that there are."""
        pages = {page.tab_id: page for page in await self.pages()}
        if tab not in pages:
            raise TabLost(f"there is no tab {tab[:20]!r}.", hint=f"Open are {', '.join(pages) or 'none'}.")
        self._tabs.remove(tab)
        self._tabs.append(tab)
        return pages[tab]

    async def close(self, page: Page) -> None:
        session = await self.session()
        await session.close_tab(page)
        self._tabs = [tab for tab in self._tabs if tab != page.tab_id]

    async def leave(self) -> None:
        """Close this client's tabs, if the session is still there."""
        if self.house.shared.is_open and self._generation == self.house.shared.generation:
            for page in await self.pages():
                await self.close(page)
            if self._executor is not None:
                await self._executor.close()

    def unfenced(self, text: str) -> str:
        """What stands inside this client's fence, where `text` is fenced by it; else the text. Its origin is the last
        one that was seen then."""
        inside, origin = self.fence.inside(text)
        self.last_url = origin or self.last_url
        return inside

    def count_up(self, done: int, total: int) -> None:
        """How far a long piece of work has come."""
        self.say(f"{done} of {total}")

    async def executor(self) -> Executor:
        """The executor of operations for this client, kept as long as the session lives."""
        from bridge.ops import Executor

        session = await self.session()
        if self._executor is None:
            # Effects, confirmation and redaction are the toolbox's, the same for every set.
            self._executor = Executor(session, secrets=self.house.secrets, fence=self.fence)
        return self._executor

    async def act(self, run: Callable[[Page], Awaitable[ActionResult]]) -> ToolResult:
        """Do something to the current page: the outcome, and what changed."""
        session, page = await self.session(), await self.page()
        told = set()
        with session.popups_of(page.tab_id) as opened:
            before = set(session.tabs)
            done = await run(page)
            if set(session.tabs) - before:
                with suppress(BridgeError):  # it may be another client's, or be closed again
                    popup = await opened.next(timeout_s=_POPUP_S)
                    if popup.tab_id in session.tabs:  # else it has closed itself by now, which a notice tells
                        self._take_popup(popup)
                        told.add(window_opened(popup.tab_id))
        self._leave_out_closed(session)
        if self._closed_itself:
            self._closed_itself = ""
            self.notes.append(self._current_now())
        target = f" {done.ref}" if done.ref else ""
        outcome = f"{done.action}{target}: ok"
        if done.changes.settled == "deadline":
            outcome += "; the page was still changing, so look again if you need what comes"
        if done.changes.text == "no change" and done.value is None:
            outcome += "; nothing has changed so far: if something is to come, web_wait for it"
        line = self.house.secrets.redact_line
        lines = [done.changes.text, *(f"note: {line(notice)}" for notice in done.notices if notice not in told)]
        if done.checked is not None and done.action in ("check", "uncheck"):
            outcome += f"; checked={str(done.checked).lower()}"
        if done.changes.text == "no change" and done.value is not None:
            lines[0] += f"; it now holds {self.house.secrets.redact(done.value)!r:.300}"
        return ToolResult(outcome, "\n".join(lines), page.url)

    async def arrived(self, page: Page, found: NavigationResult, *, interactive_only: bool = True) -> ToolResult:
        """Where a navigation ended, with a snapshot of what is there."""
        status = f", HTTP {found.status}" if found.status is not None else ""
        shot = await page.snapshot(interactive_only=interactive_only, max_chars=_OPENED_CHARS)
        line = self.house.secrets.redact_line
        said = "".join(f"note: {line(notice)}\n" for notice in found.notices)
        return ToolResult(f"opened in tab {page.tab_id}{status}", said + shot.text, shot.url)

    async def seen_now(self) -> tuple[str, str]:
        """The page as it is, for whoever named a ref that is no more; ("", "") when it cannot be had."""
        try:
            shot = await (await self.page()).snapshot(max_chars=_OPENED_CHARS)
        except BridgeError:
            return "", ""
        return shot.text, shot.url

    def _take_popup(self, page: Page) -> None:
        self._tabs.insert(len(self._tabs) - 1, page.tab_id)
        self._tabs_so_far.add(page.tab_id)
        self.notes.append(
            f'The page opened another tab, {page.tab_id}: web_tabs(action="select", tab="{page.tab_id}") goes there.'
        )

"""State of one client: its tabs in the shared session, its content markers, its executor."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.errors import BridgeError, PolicyRefused, UsageError
from bridge.model_tools.elicitation import Elicitation, NoElicitation, PendingElicitation
from bridge.model_tools.shared_session import SharedSession
from bridge.model_tools.tool_result import ToolResult
from bridge.ops import ActionPolicy, ContentMarkers, Secrets
from bridge.ops.acting import act
from bridge.page.files.safe_folder import DOWNLOADS_KEY, SafeFolder
from bridge.page.input.side_effects import window_opened
from bridge.page.verbs import VERBS
from bridge.session import TabCursor
from bridge.snapshot.escape import quoted, url_token

if TYPE_CHECKING:
    from bridge.model_tools.pictures import Picture
    from bridge.ops import Executor
    from bridge.page.page import Page
    from bridge.page.results import NavigationResult, Screenshot
    from bridge.policy.pinning import PinnedEgress
    from bridge.session import Session

#: Called with what a tool is doing, for a person who waits for its result.
ReportProgress = Callable[[str], None]

OpenView = Callable[["Page"], AbstractAsyncContextManager[Any]]

_SNAPSHOT_CHARS = 6_000


def default_cache_folder() -> Path:
    """`$XDG_CACHE_HOME/webview-bridge` or `~/.cache/webview-bridge`; its files may be deleted at any time."""
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(root) if root else Path.home() / ".cache") / "webview-bridge"


@dataclass
class ServerContext:
    """State shared by all clients of a server.

    Attributes:
        egress: Applies the operator's policy, pins addresses and keeps the audit; all traffic passes through it.
        elicitation: Asks the person behind a client for what the policy leaves open.
        action_policy: Which effects are denied or need confirmation.
        secrets: Values that `secret:NAME` fills in and that no result shows.
        cache_folder: Where `browser` saves its screenshots.
        downloads: The operator's folder, for its listing.
        live_view: Shows a tab to a person; None if the program cannot.
        view_command: The shell command that does so.
        reload_policy: Reads the configuration again if it has changed; returns a sentence if it is not valid.
        allowing_hint: How the operator allows what this error refused.
    """

    egress: PinnedEgress
    shared: SharedSession
    elicitation: PendingElicitation
    action_policy: ActionPolicy = field(default_factory=ActionPolicy)
    secrets: Secrets = field(default_factory=Secrets)
    cache_folder: Path = field(default_factory=default_cache_folder)
    downloads: SafeFolder = field(default_factory=lambda: SafeFolder(None, DOWNLOADS_KEY))
    live_view: OpenView | None = None
    view_command: str = ""
    reload_policy: Callable[[], str] = field(default=lambda: "")
    allowing_hint: Callable[[PolicyRefused], str] = field(default=lambda error: error.hint)
    one_shot: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(slots=True)
class _HandOver:
    """A live view that waits for its person."""

    stack: AsyncExitStack
    view: Any
    question: str


class ClientContext:
    """One client of a server.

    Attributes:
        markers: With this client's nonce.
        lock: Held while one of the client's tools runs; they run one after another.
        notes: Sentences for the next result in the bridge's own words.
        page_notes: Sentences for the next result that may quote a page.
        last_url: The address of the current page when a tool last used it.
    """

    def __init__(self, server: ServerContext) -> None:
        self.server = server
        self.markers = ContentMarkers()
        self.lock = asyncio.Lock()
        self.notes: list[str] = []
        self.page_notes: list[str] = []
        self.report_progress: ReportProgress = lambda step: None
        self.last_url = ""
        self._generation = 0
        self._tabs: TabCursor | None = None
        self._executor: Executor | None = None
        self.elicitation: Elicitation = NoElicitation()
        self._views: dict[tuple[str, str], _HandOver] = {}
        self._boxes: tuple[str, list[tuple[str, float, float, float, float]]] = ("", [])

    async def session(self) -> Session:
        """The shared session; opens or restores it if necessary, and reports that as progress."""
        if not self.server.shared.is_open:
            self.report_progress("starting the device and the host app")
        elif self.server.shared.is_lost:
            self.report_progress("waiting for the device or its host app to reconnect")
        session, notices = await self.server.shared.get()
        self.page_notes += notices
        if self._tabs is None or self._generation != self.server.shared.generation:
            self._generation = self.server.shared.generation
            self._executor = None
            self._tabs = TabCursor(session, owns="opened", popups="stay", open_hint="web_open opens one.")
        return session

    async def tabs(self) -> TabCursor:
        """The client's tabs in the shared session."""
        await self.session()
        assert self._tabs is not None
        self._note_popups(self._tabs.sync())
        return self._tabs

    async def page(self) -> Page:
        """The current tab.

        Raises:
            TabLost: No tab is open; or, once, the page of the current tab has closed its window.
        """
        page = (await self.tabs()).page()
        self.last_url = page.url
        return page

    async def new_page(self) -> Page:
        """A new tab, which becomes the current one."""
        session, tabs = await self.session(), await self.tabs()
        page = await session.new_page()
        tabs.add(page)
        return page

    def open_page(self) -> Page | None:
        """The current tab if the session is open; opens and restores nothing."""
        if self._tabs is None or self.server.shared.present is None:
            return None
        if self._generation != self.server.shared.generation:
            return None
        self._note_popups(self._tabs.sync())
        return self._tabs.current

    @property
    def affected_page(self) -> Page | None:
        """The tab that the next call acts on; the operations have tabs of their own."""
        return self.open_page() or (self._executor.page if self._executor is not None else None)

    @property
    def all_tab_ids(self) -> frozenset[str]:
        """The client's tabs in the present session, closed ones included."""
        return self._tabs.all_tab_ids if self._tabs is not None else frozenset()

    async def close(self) -> None:
        """Close the client's tabs if the session is still open."""
        for key in list(self._views):
            await self._views.pop(key).stack.aclose()
        if self._tabs is None or not self.server.shared.is_open or self._generation != self.server.shared.generation:
            return
        await self.session()
        await self._tabs.close_all()
        if self._executor is not None:
            await self._executor.close()

    async def hand_over(self, page: Page, message: str) -> str:
        """Show the tab to the person behind the client and wait until they have finished; returns the outcome.

        Raises:
            Unanswered: The client asks between two calls; the view stays open for the repeated one.
        """
        if self.server.live_view is None:
            raise UsageError("this program cannot show a tab to a person.")
        key = (page.tab_id, message)
        if (shown := self._views.get(key)) is None:
            stack = AsyncExitStack()
            view = await stack.enter_async_context(self.server.live_view(page))
            question = (
                f"The model asks you to take over tab {page.tab_id} at {url_token(page.url)[:200]}: "
                f"{quoted(message, 300)}. "
                f"Open {view.url} in a browser on this machine, take over, hand back there; then accept."
            )
            shown = self._views[key] = _HandOver(stack, view, question)
        self.report_progress("waiting for the person")
        answer = await self.elicitation.confirm(shown.question)
        del self._views[key]
        await shown.stack.aclose()
        if answer is None:
            command = self.server.view_command
            raise BridgeError(
                "this client cannot ask the person.",
                hint=f"Ask the user to run: {command}; then continue with web_snapshot." if command else "",
            )
        if not answer:
            return "the person declined"
        return "the person has finished" if shown.view.handed_back else "the person accepted without taking over"

    def without_markers(self, text: str) -> str:
        """The content between this client's markers, or `text` itself if it has none. Keeps the origin they name."""
        content, origin = self.markers.unwrap(text)
        self.last_url = origin or self.last_url
        return content

    def report_count(self, done: int, total: int) -> None:
        """Report how much of a long task is done."""
        self.report_progress(f"{done} of {total}")

    async def executor(self) -> Executor:
        """The client's executor of operations; it lasts as long as the session."""
        from bridge.ops import Executor

        session = await self.session()
        if self._executor is None:
            # The toolbox applies effects, confirmation and redaction, the same for every tool set.
            self._executor = Executor(session, secrets=self.server.secrets, markers=self.markers)
        return self._executor

    def show_picture(self, page: Page, screenshot: Screenshot, picture: Picture) -> None:
        """Remember the boxes of an annotated screenshot as the model sees them, for clicks on a point of it."""
        by = picture.factor
        boxes = [(b.ref, b.x_px * by, b.y_px * by, b.width_px * by, b.height_px * by) for b in screenshot.legend]
        self._boxes = (page.tab_id, boxes)

    def ref_at(self, page: Page, x: float, y: float) -> str:
        """The ref of the smallest box of the last annotated screenshot that contains this point.

        Raises:
            UsageError: That screenshot shows another tab, or has no box there.
        """
        tab_id, boxes = self._boxes
        if tab_id != page.tab_id or not boxes:
            raise UsageError("this tab has no annotated screenshot.", hint="Call web_screenshot(annotate=true).")
        hit = [
            (width * height, ref)
            for ref, left, top, width, height in boxes
            if left <= x <= left + width and top <= y <= top + height
        ]
        if not hit:
            raise UsageError(f"no box of the last screenshot contains ({x:g}, {y:g}).", hint="Give the ref instead.")
        return min(hit)[1]

    async def act(self, verb: str, ref: str | None, given: Mapping[str, Any] | None = None) -> ToolResult:
        """Act on the current page; the result is the outcome and what changed."""
        tabs, page = await self.tabs(), await self.page()
        done = await act(page, VERBS[verb], ref, given or {}, self.server.secrets)
        popups = await tabs.adopt_popups()
        self._note_popups(popups)
        if tabs.take_closed() is not None:  # a notice of the action reports it
            self.notes.append(tabs.describe_current())
        target = f" {done.ref}" if done.ref else ""
        outcome = f"{done.action}{target}: ok"
        if done.changes.settled == "deadline":
            outcome += "; the page was still changing: take a snapshot if you need its final state"
        if any(dialog.endswith("(dismissed)") for dialog in done.changes.dialogs):
            outcome += '; the dialog was dismissed: web_dialog(action="accept"), then the same action, accepts it'
        elif done.changes.text == "no change" and done.value is None:
            outcome += "; nothing has changed so far: use web_wait if you expect a change"
        if done.checked is not None and done.action in ("check", "uncheck"):
            outcome += f"; checked={str(done.checked).lower()}"
        noted = {window_opened(popup.tab_id) for popup in popups}
        redact_line = self.server.secrets.redact_line
        lines = [
            done.changes.text,
            *(f"note: {redact_line(notice)}" for notice in done.notices if notice not in noted),
        ]
        if done.changes.text == "no change" and done.value is not None:
            lines[0] = f"it now holds {self.server.secrets.redact(done.value)!r:.300}"
        return ToolResult(outcome, "\n".join(lines), page.url)

    async def navigation_result(self, page: Page, found: NavigationResult) -> ToolResult:
        """The URL that a navigation ended at, with the controls of the page."""
        status = f", HTTP {found.status}" if found.status is not None else ""
        shot = await page.snapshot(text=False, max_chars=_SNAPSHOT_CHARS)
        redact_line = self.server.secrets.redact_line
        notes = "".join(f"note: {redact_line(notice)}\n" for notice in found.notices)
        return ToolResult(f"opened in tab {page.tab_id}{status}", notes + shot.text, shot.url)

    async def fresh_snapshot(self) -> tuple[str, str]:
        """A snapshot of the current page and its address, for a call with a stale ref; ("", "") if it fails."""
        try:
            shot = await (await self.page()).snapshot(text=False, max_chars=_SNAPSHOT_CHARS)
        except BridgeError:
            return "", ""
        return shot.text, shot.url

    def _note_popups(self, popups: Iterable[Page]) -> None:
        self.notes += [
            f"The page opened another tab, {popup.tab_id}: "
            f'web_tabs(action="select", tab="{popup.tab_id}") switches to it.'
            for popup in popups
        ]

"""A session with a current tab, and the commands of the command line that run on it.

The same table serves a command that opens a session for itself and the process that keeps one open between commands.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from bridge.errors import BridgeError, DeviceLost, HostLost, TabLost, UsageError
from bridge.snapshot.escape import cut
from bridge.surfaces.session_command import CommandResult, StartOptions

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.session.session import Session

#: Methods of a page that answer with an ActionResult.
ACTIONS = frozenset(
    {
        "click",
        "double_click",
        "long_press",
        "fill",
        "type",
        "clear",
        "check",
        "uncheck",
        "select",
        "focus",
        "hover",
        "scroll_into_view",
        "scroll",
        "press",
        "drag",
        "upload",
    }
)


def _hint_about(lost: BridgeError) -> str:
    """What to do about a loss, in commands: the session's own hints speak of its methods."""
    if lost.details.get("has_ended"):
        return "'webview-bridge open URL' begins anew."
    if "session.reconnect()" not in lost.hint:
        return lost.hint
    if isinstance(lost, TabLost):
        return "The next command opens it again."
    return "When it is back, run the command again; 'webview-bridge close' gives the session up."


@asynccontextmanager
async def open_kept_session(
    options: StartOptions, notice: Callable[[str], None], *, timeout_s: float = 60.0
) -> AsyncIterator[KeptSession]:
    """A session opened for commands; see `Session.open` for what it raises."""
    from bridge import Session

    async with Session.open(
        options.device,
        adb_server=options.adb_server,
        policy=options.policy(),
        grants=options.grants(),
        reconnect=True,
        uploads_root=options.uploads_root,
        downloads_root=options.downloads_root,
        trace=options.trace,
        on_notice=notice,
        timeout_s=timeout_s,
    ) as session:
        yield KeptSession(session)


class KeptSession:
    """Runs commands by name on the current tab."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._current: Page | None = None
        self._opening = asyncio.Lock()
        self._commands: dict[str, Callable[..., Awaitable[CommandResult]]] = {
            "open": self.open,
            "snapshot": self.snapshot,
            "act": self.act,
            "download": self.download,
            "query": self.query,
            "read": self.read,
            "screenshot": self.screenshot,
            "record": self.record,
            "console": self.console,
            "network": self.network,
            "wait": self.wait,
            "back": self.back,
            "forward": self.forward,
            "reload": self.reload,
            "tabs": self.tabs,
            "tab": self.choose_tab,
            "close_tab": self.close_tab,
            "view": self.view,
        }

    async def run(self, command: str, params: Mapping[str, Any]) -> CommandResult:
        """Carry out one command.

        Raises:
            UsageError: There is no such command.
            BridgeError: Whatever the operation raises.
        """
        found = self._commands.get(command)
        if found is None:
            raise UsageError(f"a session has no command {command[:60]!r}")
        try:
            return await found(**params)
        except (DeviceLost, HostLost, TabLost) as error:
            error.hint = _hint_about(error)
            raise

    @property
    def page(self) -> Page:
        """The current tab: the one chosen last, else the newest.

        Raises:
            TabLost: None is open; or, once, that the page has closed the one that the command was meant for.
        """
        gone = self._choose_anew()
        if gone is not None:
            now = f"The current tab is {self._current.tab_id} now." if self._current is not None else ""
            raise TabLost(f"{gone.tab_id} is gone: its page closed its own window.", hint=now)
        if self._current is None:
            raise TabLost("no tab is open.", hint="'webview-bridge open URL' opens one.")
        return self._current

    def _choose_anew(self) -> Page | None:
        """See to it that the current tab is an open one, if any is; the one that was and is not open any more."""
        pages, before = self.session.pages, self._current
        if before in pages:
            return None
        self._current = pages[-1] if pages else None
        return before

    async def open(self, url: str, new_tab: bool = False, wait_for: str | None = None) -> CommandResult:
        await self.session.check_url(url)
        async with self._opening:
            if new_tab or not self.session.pages:
                self._current = await self.session.new_tab()
            page = self.page
        found = await page.goto(url)
        if wait_for is not None:
            await page.wait_for(text=wait_for)
        return CommandResult({"tab": page.tab_id, **found.to_json()})

    async def snapshot(self, **options: Any) -> CommandResult:
        return CommandResult((await self.page.snapshot(**options)).to_json())

    async def act(self, action: str, arguments: Mapping[str, Any]) -> CommandResult:
        if action not in ACTIONS:
            raise UsageError(f"there is no action {action[:60]!r}")
        page = self.page
        shown = page.last_snapshot
        node = shown.refs.get(str(arguments.get("ref"))) if shown is not None else None
        named = dict(arguments)
        values = named.pop("values", ()) if action == "select" else ()
        done = await getattr(page, action)(*([named.pop("ref"), *values] if values else ()), **named)
        words = {"element": cut(str(node), 200)} if node is not None else {}
        if page not in self.session.pages:  # a notice tells it
            self._choose_anew()
        return CommandResult({**done.to_json(), **words})

    async def download(self, dest_path: str, **source: Any) -> CommandResult:
        return CommandResult((await self.page.download(dest_path, **source)).to_json())

    async def read(self, **options: Any) -> CommandResult:
        return CommandResult((await self.page.read(**options)).to_json())

    async def screenshot(self, **options: Any) -> CommandResult:
        picture = await self.page.screenshot(**options)
        return CommandResult(picture.to_json(), picture.image_bytes)

    async def record(self, **options: Any) -> CommandResult:
        film = await self.page.record(**options)
        return CommandResult(film.to_json(), film.image_bytes)

    async def console(self, **wanted: Any) -> CommandResult:
        return CommandResult(self.page.console(**wanted).to_json())

    async def network(self, har: bool = False, **wanted: Any) -> CommandResult:
        """With `har`, the archive of all that is kept is the blob."""
        page = self.page
        archive = json.dumps(page.har(), ensure_ascii=False).encode("utf-8", "replace") if har else b""
        return CommandResult(page.network(**wanted).to_json(), archive)

    async def query(self, **wanted: Any) -> CommandResult:
        return CommandResult((await self.page.query(**wanted)).to_json())

    async def wait(self, **condition: Any) -> CommandResult:
        return CommandResult((await self.page.wait_for(**condition)).to_json())

    async def back(self) -> CommandResult:
        return CommandResult((await self.page.back()).to_json())

    async def forward(self) -> CommandResult:
        return CommandResult((await self.page.forward()).to_json())

    async def reload(self) -> CommandResult:
        return CommandResult((await self.page.reload()).to_json())

    async def tabs(self) -> CommandResult:
        self._choose_anew()  # the list tells it
        current = self._current.tab_id if self._current is not None else None
        rows = [
            {"tab": page.tab_id, "current": page.tab_id == current, "url": page.url, "title": page.title}
            for page in self.session.pages
        ]
        return CommandResult({"serial": self.session.serial, "tabs": rows})

    async def choose_tab(self, tab: str) -> CommandResult:
        self._current = self._named(tab)
        return await self.tabs()

    async def close_tab(self, tab: str | None = None) -> CommandResult:
        page = self.page if tab is None else self._named(tab)
        await self.session.close_tab(page)
        return CommandResult({"closed": page.tab_id, "tabs": (await self.tabs()).json["tabs"]})

    async def view(self) -> CommandResult:
        """Serve the live view of the current tab until whoever opened it has closed it."""
        from bridge.surfaces.live_view import live_view

        page = self.page
        async with live_view(page) as view:
            self.session.notice(f"{page.tab_id} is shown at {view.url} (for one browser; closing it ends this command)")
            await view.seen.wait()
            await view.left.wait()
            return CommandResult({"tab": page.tab_id, "handed_back": view.handed_back, "url": page.url})

    def _named(self, tab: str) -> Page:
        for page in self.session.pages:
            if page.tab_id == tab:
                return page
        there = ", ".join(page.tab_id for page in self.session.pages) or "none"
        raise TabLost(f"there is no tab {tab[:20]!r} (open: {there}).")

"""The session commands of the command line, run on a session with a current tab.

Used by commands that open a session of their own, and by the process that keeps a session between commands.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from bridge.errors import BridgeError, DeviceLost, HostLost, TabLost, UsageError
from bridge.session.tab_cursor import TabCursor
from bridge.snapshot.escape import cut
from bridge.surfaces.session_command import CommandResult, StartOptions

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.session.session import Session

#: Methods of Page that return an ActionResult.
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


def _hint_after(loss: BridgeError) -> str:
    """The next step after a loss, as a command; the session's own hints name its Python methods."""
    if loss.details.get("has_ended"):
        return "'webview-bridge open URL' starts a new session."
    if "session.reconnect()" not in loss.hint:
        return loss.hint
    if isinstance(loss, TabLost):
        return "The next command opens it again."
    return "Run the command again when the device is back; 'webview-bridge close' ends the session."


@asynccontextmanager
async def open_kept_session(
    options: StartOptions, notice: Callable[[str], None], *, timeout_s: float = 60.0
) -> AsyncIterator[KeptSession]:
    """Open a session for commands. Raises as `Session.open`."""
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
        self._tabs = TabCursor(session, owns="all", popups="stay", open_hint="'webview-bridge open URL' opens one.")
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
        """Run one command.

        Raises:
            UsageError: The command is unknown.
            BridgeError: Whatever the command raises.
        """
        found = self._commands.get(command)
        if found is None:
            raise UsageError(f"unknown session command {command[:60]!r}")
        try:
            return await found(**params)
        except (DeviceLost, HostLost, TabLost) as error:
            error.hint = _hint_after(error)
            raise

    @property
    def page(self) -> Page:
        """The current tab. Raises as `TabCursor.page`."""
        return self._tabs.page()

    async def open(self, url: str, new_tab: bool = False, wait_for: str | None = None) -> CommandResult:
        await self.session.check_url(url)
        async with self._opening:
            if new_tab or not self.session.pages:
                self._tabs.add(await self.session.new_tab())
            page = self.page
        found = await page.goto(url)
        if wait_for is not None:
            await page.wait_for(text=wait_for)
        return CommandResult({"tab": page.tab_id, **found.to_json()})

    async def snapshot(self, **options: Any) -> CommandResult:
        return CommandResult((await self.page.snapshot(**options)).to_json())

    async def act(self, action: str, arguments: Mapping[str, Any]) -> CommandResult:
        if action not in ACTIONS:
            raise UsageError(f"unknown action {action[:60]!r}")
        page = self.page
        shown = page.last_snapshot
        node = shown.refs.get(str(arguments.get("ref"))) if shown is not None else None
        named = dict(arguments)
        values = named.pop("values", ()) if action == "select" else ()
        done = await getattr(page, action)(*([named.pop("ref"), *values] if values else ()), **named)
        element = {"element": cut(str(node), 200)} if node is not None else {}
        self._tabs.sync()
        self._tabs.take_closed()  # a notice of the action reports it
        return CommandResult({**done.to_json(), **element})

    async def download(self, dest_path: str, **source: Any) -> CommandResult:
        return CommandResult((await self.page.download(dest_path, **source)).to_json())

    async def read(self, **options: Any) -> CommandResult:
        return CommandResult((await self.page.read(**options)).to_json())

    async def screenshot(self, **options: Any) -> CommandResult:
        screenshot = await self.page.screenshot(**options)
        return CommandResult(screenshot.to_json(), screenshot.image_bytes)

    async def record(self, **options: Any) -> CommandResult:
        recording = await self.page.record(**options)
        return CommandResult(recording.to_json(), recording.image_bytes)

    async def console(self, **wanted: Any) -> CommandResult:
        return CommandResult(self.page.console(**wanted).to_json())

    async def network(self, har: bool = False, **wanted: Any) -> CommandResult:
        """With `har` the blob is an archive of all kept requests."""
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
        self._tabs.sync()
        self._tabs.take_closed()  # the list shows it
        current = self._tabs.current
        rows = [
            {"tab": page.tab_id, "current": page is current, "url": page.url, "title": page.title}
            for page in self.session.pages
        ]
        return CommandResult({"serial": self.session.serial, "tabs": rows})

    async def choose_tab(self, tab: str) -> CommandResult:
        self._tabs.choose(tab)
        return await self.tabs()

    async def close_tab(self, tab: str | None = None) -> CommandResult:
        page = self.page if tab is None else self._tabs.find(tab)
        await self._tabs.close(page)
        return CommandResult({"closed": page.tab_id, "tabs": (await self.tabs()).json["tabs"]})

    async def view(self) -> CommandResult:
        """Serve the live view of the current tab until the person who opened it closes it."""
        from bridge.surfaces.live_view import live_view

        page = self.page
        async with live_view(page) as view:
            self.session.notice(f"{page.tab_id} is shown at {view.url} (for one browser; closing it ends this command)")
            await view.seen.wait()
            await view.left.wait()
            return CommandResult({"tab": page.tab_id, "handed_back": view.handed_back, "url": page.url})

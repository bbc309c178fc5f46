"""The session commands of the command line, run on a session with a current tab.

Used by commands that open a session of their own, and by the process that keeps a session between commands.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, cast

from bridge.deadline import Deadline
from bridge.errors import (
    BridgeError,
    DeviceLost,
    HostLost,
    ProtocolError,
    RefNotFound,
    StaleRef,
    TabLost,
    Unsupported,
    UsageError,
)
from bridge.page.target.dialogs import next_answer
from bridge.page.verbs import VERBS
from bridge.session import TabCursor
from bridge.snapshot.escape import cut
from bridge.snapshot.injected import packaged_script
from bridge.surfaces.session_command import CommandResult, StartOptions

if TYPE_CHECKING:
    from bridge.page.locators.locators import Locator
    from bridge.page.page import Page
    from bridge.session import Session

_LOCATE_S = 5.0
_EMULATIONS = frozenset(("set_viewport_size", "set_geolocation", "set_offline", "emulate_media"))

#: Commands that are a method of Page, with the same arguments.
_METHODS = {
    **{name: name for name in ("snapshot", "download", "query", "read", "screenshot", "record")},
    "back": "go_back",
    "forward": "go_forward",
    "reload": "reload",
    "wait": "wait_for",
}


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

    def __init__(self, session: Session, notify: Callable[[str], None] | None = None) -> None:
        """`notify` reports to the running commands; by default the session's own notices."""
        self.session = session
        self._notify = notify or session.notice
        self._tabs = TabCursor(session, owns="all", popups="stay", open_hint="'webview-bridge open URL' opens one.")
        self._opening = asyncio.Lock()
        self._commands: dict[str, Callable[..., Awaitable[CommandResult]]] = {
            **{command: partial(self._call, method) for command, method in _METHODS.items()},
            "open": self.open,
            "act": self.act,
            "eval": self.evaluate,
            "console": self.console,
            "network": self.network,
            "dialog": self.dialog,
            "cookies": self.cookies,
            "storage": self.storage,
            "emulate": self.emulate,
            "pdf": self.pdf,
            "get": self.get,
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
                self._tabs.add(await self.session.new_page())
            page = self.page
        found = await page.goto(url)
        if wait_for is not None:
            await page.wait_for(text=wait_for)
        return CommandResult({"tab": page.tab_id, **found.to_json()})

    async def act(
        self, action: str, arguments: Mapping[str, Any], locator: Mapping[str, str] | None = None
    ) -> CommandResult:
        verb = VERBS.get(action)
        if verb is None:
            raise UsageError(f"unknown action {action[:60]!r}")
        page, given = self.page, dict(arguments)
        ref = given.pop("ref", None)
        deadline = Deadline.after(_LOCATE_S)
        while True:
            if locator:
                ref = await _located(page, locator).ref(timeout_s=max(deadline.remaining_s, 0.05))
            shown = page.last_snapshot
            node = shown.refs.get(str(ref)) if shown is not None else None
            try:
                done = await verb.run(page, ref, given)
                break
            except (RefNotFound, StaleRef) as error:  # the page replaced the element between the two
                if not locator or deadline.passed or error.details.get("taps_done"):
                    raise
        element = {"element": cut(str(node), 200)} if node is not None else {}
        self._tabs.sync()
        self._tabs.take_closed()  # a notice of the action reports it
        return CommandResult({**done.to_json(), **element})

    async def _call(self, method: str, **arguments: Any) -> CommandResult:
        """A method of the page, and the image in its result."""
        result = getattr(self.page, method)(**arguments)
        if isawaitable(result):
            result = await result
        return CommandResult(result.to_json(), getattr(result, "image_bytes", b""))

    async def console(self, tab: str | None = None, **wanted: Any) -> CommandResult:
        """`tab` is the id of an open or closed tab, or "all"; None is the current tab."""
        return CommandResult(self.session.logs.console(tab_id=self._log_tab(tab), **wanted).to_json())

    async def network(self, har: bool = False, tab: str | None = None, **wanted: Any) -> CommandResult:
        """With `har` the blob is an archive of all kept requests. `tab` as for `console`."""
        logs, tab_id = self.session.logs, self._log_tab(tab)
        archive = json.dumps(logs.har(tab_id=tab_id), ensure_ascii=False).encode("utf-8", "replace") if har else b""
        return CommandResult(logs.network(tab_id=tab_id, **wanted).to_json(), archive)

    def _log_tab(self, tab: str | None) -> str | None:
        if tab == "all":
            return None
        return self.page.tab_id if tab is None else tab

    async def evaluate(self, **script: Any) -> CommandResult:
        """The operator's own JavaScript; no tool for models runs it."""
        return CommandResult({"value": await self.page.evaluate(**script)})

    async def get(
        self, kind: str, limit: int, ref: str | None = None, locator: Mapping[str, str] | None = None
    ) -> CommandResult:
        """A property of an element, or of the page: its title, URL, text or HTML."""
        page = self.page
        if locator:
            ref = await _located(page, locator).ref(timeout_s=_LOCATE_S)
        if ref is not None:
            return CommandResult((await page.query(ref, cast("Any", kind), limit)).to_json())
        whole: dict[str, Callable[[], Awaitable[str]]] = {
            "title": page.title,
            "url": lambda: page.evaluate("location.href"),
            "html": page.content,
            "text": lambda: page.inner_text("body"),
        }
        value = await whole[kind]()
        is_cut = 0 < limit < len(value)
        return CommandResult({"kind": kind, "value": value[:limit] if is_cut else value, "truncated": is_cut})

    async def dialog(self, accept: bool, text: str | None = None) -> CommandResult:
        self.page.answer_dialogs(next_answer(self.page.answer_dialogs, accept=accept, text=text))
        return CommandResult({"next_dialog": "accept" if accept else "dismiss", "text": text})

    async def cookies(self, name: str | None = None, value: str = "", clear: bool = False) -> CommandResult:
        if clear:
            await self.session.clear_cookies()
        elif name is not None:
            await self.session.add_cookies([{"name": name, "value": value, "url": self.page.url}])
        return CommandResult({"cookies": await self.session.cookies()})

    async def storage(self, area: str, key: str | None = None, value: str | None = None) -> CommandResult:
        script = packaged_script("bridge.surfaces", "storage_item.min.js")
        found = await self.page.evaluate(script, [area, key, value])
        return CommandResult({"items": found} if key is None else {"value": found})

    async def emulate(self, method: str, named: Mapping[str, Any]) -> CommandResult:
        if method not in _EMULATIONS:
            raise UsageError(f"unknown setting {method[:60]!r}")
        await getattr(self.page, method)(**named)
        return CommandResult({"set": dict(named)})

    async def pdf(self) -> CommandResult:
        page = self.page
        try:
            attachment = await page.attached()
            printed = await attachment.call("Page.printToPDF", {"printBackground": True}, timeout_s=60.0)
        except ProtocolError as error:
            raise Unsupported(
                f"this WebView cannot print PDF: {error.reason}", hint="Use a virtual device: --device virtual."
            ) from error
        body = base64.b64decode(printed["data"])
        return CommandResult({"size_bytes": len(body)}, body)

    async def tabs(self) -> CommandResult:
        self._tabs.sync()
        self._tabs.take_closed()  # the list shows it
        current = self._tabs.current
        rows = [
            {"tab": page.tab_id, "current": page is current, "url": page.url, "title": page.known_title}
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
            self._notify(f"{page.tab_id} is shown at {view.url} (for one browser; closing it ends this command)")
            await view.seen.wait()
            await view.left.wait()
            return CommandResult({"tab": page.tab_id, "handed_back": view.handed_back, "url": page.url})


def _located(page: Page, locator: Mapping[str, str]) -> Locator:
    """The locator of the options `--role` and so on."""
    method, value = locator["method"], locator["value"]
    if name := locator.get("name"):
        return page.get_by_role(cast("Any", value), name=name)
    return cast("Locator", getattr(page, method)(value))

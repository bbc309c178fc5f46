"""Attach mode: the WebViews of an app that is not ours, or Chrome's tabs, driven with the same pages.

Nothing is started on the device but the app that was named, and nothing of it is closed: tabs cannot be opened, the
host app takes no part, and there is no gate on the wire (`egress=unpinned`).
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from bridge.adb import AdbDevice
from bridge.cdp import CdpConnection, open_cdp
from bridge.cdp.discovery import Target, read_package
from bridge.deadline import Deadline, finish
from bridge.errors import (
    BridgeError,
    DeadlineExceeded,
    DeviceError,
    DeviceLost,
    HostFailed,
    NavigationFailed,
    TabLost,
    TransportError,
    Unsupported,
    UsageError,
)
from bridge.page import ladder
from bridge.page.attachment import Attachment, attach
from bridge.page.confinement import DOWNLOADS_KEY, UPLOADS_KEY, Confined
from bridge.page.dialogs import DialogAnswer
from bridge.page.full_page import Strategy
from bridge.page.globs import UrlPattern, url_pattern
from bridge.page.journal import Journal
from bridge.page.operations import Observer
from bridge.page.page import Page
from bridge.page.popups import OpenedPages
from bridge.policy.pinning import PinnedEgress
from bridge.session.tab import OnAttach
from bridge.session.targets import CHROME_SOCKET, devtools_sockets, pages_of

logger = logging.getLogger(__name__)

_PACKAGE = re.compile(r"[A-Za-z][\w]*(\.[A-Za-z][\w]*)+")
_POLL_S = 0.2
_PROBE_S = 2.0
_LOADED_S = 5.0
_DETACH_S = 2.0
_REATTACH_S = 10.0
_ASK_S = 0.6
# Chrome and its channels share one socket name; who serves it says so itself.
_CHROMES = re.compile(r"(com\.android\.chrome|com\.chrome\.\w+|org\.chromium\.\w+)")


@dataclass(frozen=True, slots=True)
class App:
    """Which app, and how it is launched: `activity` is `.MainActivity` or a full class name, `data` an address."""

    package: str
    activity: str | None = None
    data: str | None = None

    def __post_init__(self) -> None:
        if not _PACKAGE.fullmatch(self.package):
            raise UsageError(f"{self.package!r} is not the name of a package", hint='Such as "com.example.app".')

    @property
    def is_chrome(self) -> bool:
        return _CHROMES.fullmatch(self.package) is not None

    async def launch(self, device: AdbDevice, *, timeout_s: float) -> None:
        """
        Raises:
            HostFailed: Android did not start it; its words are in the message.
        """
        command = ["am", "start", "-n", f"{self.package}/{self.activity}"]
        if self.data is not None:
            command += ["-a", "android.intent.action.VIEW", "-d", self.data]
        result = await device.shell(command, timeout_s=timeout_s)
        said = (result.stdout + result.stderr).strip()
        if result.exit_code != 0 or any(line.startswith(("Error", "Exception")) for line in said.splitlines()):
            raise HostFailed(f"the start of {self.package}", f"am ended with {result.exit_code}", said[:500])


@dataclass(frozen=True, slots=True)
class Found:
    """A page of the app: behind which socket, and its target."""

    socket_name: str
    target: Target


class Wanted:
    """Which of several pages: by a glob over its URL, by words of its title, or (neither) any."""

    def __init__(self, url: str | None, title: str | None) -> None:
        self._url: UrlPattern | None = url_pattern(url) if url is not None else None
        self._title = title

    def matches(self, target: Target) -> bool:
        if self._url is not None and not self._url.matches(target.url):
            return False
        return self._title is None or self._title.casefold() in target.title.casefold()

    def __str__(self) -> str:
        by = [f"url {self._url.text!r}"] if self._url else []
        by += [f"title {self._title!r}"] if self._title is not None else []
        return " and ".join(by) or "any address"


class Owner(Protocol):
    """What an attached tab needs of its session."""

    @property
    def device(self) -> AdbDevice: ...

    @property
    def on_attach(self) -> list[OnAttach]: ...

    @property
    def journal(self) -> Journal: ...

    @property
    def egress(self) -> PinnedEgress: ...

    def notice(self, text: str) -> None: ...

    def taken(self) -> set[str]: ...

    async def find(self, wanted: Wanted, deadline: Deadline, *, relaunch: bool = False) -> Found: ...

    async def diagnose(self) -> BridgeError | None: ...


class AttachedTab:
    """A page of the app; implements what a Page needs of it."""

    def __init__(self, tab_id: str, owner: Owner, wanted: Wanted) -> None:
        self._tab_id = tab_id
        self._owner = owner
        self._wanted = wanted
        self._on_attach: list[OnAttach] = []
        self._stack = AsyncExitStack()
        self._attachment: Attachment | None = None
        self._found: Found | None = None
        self._closed = False

    @property
    def tab_id(self) -> str:
        return self._tab_id

    @property
    def host_services(self) -> None:
        """The app is not ours: nothing can be staged in it, captured by it or asked of it."""

    @property
    def journal(self) -> Journal:
        return self._owner.journal

    @property
    def full_page(self) -> Strategy | None:
        """Chrome draws beyond its view; of apps it is found out when needed. Each strategy's picture is verified."""
        return "cdp-beyond-viewport" if self._found and self._found.socket_name == CHROME_SOCKET else None

    @property
    def target_id(self) -> str:
        return self._found.target.target_id if self._found else ""

    async def check_url(self, url: str) -> str:
        return await self._owner.egress.check_url(url)

    @property
    def uploads(self) -> Confined:
        """No folder: the app is not ours, nothing can be staged in it."""
        return Confined.at(None, UPLOADS_KEY)

    @property
    def downloads(self) -> Confined:
        return Confined.at(None, DOWNLOADS_KEY)

    def popups(self) -> AbstractContextManager[OpenedPages]:
        raise Unsupported("windows that the app opens are the app's own; session.page() attaches to one that is there")

    @asynccontextmanager
    async def connect(self, timeout_s: float) -> AsyncIterator[CdpConnection]:
        """One more connection to the page, beside the attachment's."""
        found = self._found
        if found is None:
            raise TabLost(f"{self._tab_id} was never attached")
        deadline = Deadline.after(timeout_s)
        sock = await self._owner.device.open_stream(
            f"localabstract:{found.socket_name}", timeout_s=deadline.remaining_s
        )
        path = f"/devtools/page/{found.target.target_id}"
        async with open_cdp(sock, path, timeout_s=deadline.remaining_s) as connection:
            yield connection

    def explain(self, error: NavigationFailed) -> BridgeError:
        """The app connects by itself: nothing of ours stands behind a navigation that failed."""
        return error

    def on_attach(self, prepare: OnAttach) -> None:
        self._on_attach.append(prepare)

    async def attachment(self, *, revisit: bool = True) -> tuple[Attachment, tuple[str, ...]]:
        """The living attachment; where the app's process was started anew, that of the page that fits again.

        Raises:
            TabLost, DeadlineExceeded: There is no such page any more.
            DeviceLost: The device is gone.
        """
        if self._closed:
            raise TabLost(f"{self._tab_id} has been closed")
        if self._attachment is not None and not self._is_over(self._attachment):
            return self._attachment, ()
        if (lost := await self._owner.diagnose()) is not None:
            raise lost
        deadline = Deadline.after(_REATTACH_S)
        await self._detach()
        self._found = None
        found = await self._owner.find(self._wanted, deadline, relaunch=True)
        attachment = await self.open(found, deadline)
        said = (
            f"{self._tab_id} was attached anew, at {found.target.url[:200]}; refs of a document that was left are dead"
        )
        self._owner.notice(said)
        return attachment, (said,)

    async def open(self, found: Found, deadline: Deadline) -> Attachment:
        self._found = found
        async with AsyncExitStack() as stack:
            service = f"localabstract:{found.socket_name}"
            sock = await self._owner.device.open_stream(service, timeout_s=deadline.remaining_s)
            path = f"/devtools/page/{found.target.target_id}"
            connection = await stack.enter_async_context(open_cdp(sock, path, timeout_s=deadline.remaining_s))
            connection.on_event(self.journal.reader(self._tab_id))
            attachment = await stack.enter_async_context(attach(connection, timeout_s=deadline.remaining_s))
            for prepare in (*self._owner.on_attach, *self._on_attach):
                await prepare(attachment)
            self._stack = stack.pop_all()
        self._attachment = attachment
        # An app that was just launched is still loading; lifecycle events of a loaded document are told again.
        await attachment.watch.wait(
            lambda: attachment.state.main and "DOMContentLoaded" in attachment.state.main.lifecycle,
            timeout_s=min(_LOADED_S, deadline.remaining_s),
        )
        return attachment

    async def close(self) -> None:
        """Detach; the page stays."""
        self._closed = True
        await self._detach()

    async def look_into(self, error: BridgeError) -> BridgeError:
        attachment = self._attachment
        if self._closed or attachment is None:
            return error
        if isinstance(error, DeadlineExceeded) and not self._is_over(attachment):
            if await ladder.answers(attachment):
                return error
            if (lost := await self._owner.diagnose()) is not None:
                return lost
            return ladder.told(error, await ladder.free(attachment, self))
        if (lost := await self._owner.diagnose()) is not None:
            return lost
        if isinstance(error, TransportError | TabLost) and self._is_over(attachment):
            reason = attachment.connection.close_reason or error.message
            return TabLost(f"the page of {self._tab_id} is gone: {reason}", hint="The next call looks for it again.")
        return error

    async def reattach(self, *, timeout_s: float) -> Attachment:
        assert self._found is not None
        old, self._stack = self._stack, AsyncExitStack()
        try:
            attachment = await self.open(self._found, Deadline.after(timeout_s))
        except BaseException:
            self._stack = old
            raise
        await finish(old.aclose(), at_most_s=_DETACH_S, what=f"detaching from {self._tab_id}")
        return attachment

    async def kill_renderer(self, *, timeout_s: float) -> bool:
        """Never: an app whose renderer dies dies with it unless it handles that, and it is not ours to kill."""
        return False

    @staticmethod
    def _is_over(attachment: Attachment) -> bool:
        state = attachment.state
        return attachment.connection.closed.is_set() or state.crashed or state.detached_reason is not None

    async def _detach(self) -> None:
        stack, self._stack = self._stack, AsyncExitStack()
        await finish(stack.aclose(), at_most_s=_DETACH_S, what=f"detaching from {self._tab_id}")


class AttachedSession:
    """What `Session.attach` yields: the app's pages.

    Attributes:
        serial: The device's adb serial.
        app: Which app it is.
        egress: The policy that `goto` obeys. What the app requests by itself does not pass it (egress=unpinned).
        journal: Console and network of all its pages since they were attached.
    """

    def __init__(
        self,
        device: AdbDevice,
        app: App,
        *,
        egress: PinnedEgress,
        notice: Callable[[str], None],
        dialogs: DialogAnswer,
    ) -> None:
        self.device = device
        self.serial = device.serial
        self.app = app
        self.on_attach: list[OnAttach] = []
        self.egress = egress
        self.notice = notice
        self.journal = Journal()
        self.observer: Observer | None = None
        self._dialogs = dialogs
        self._tabs: dict[str, tuple[AttachedTab, Page]] = {}
        self._last_tab = 0

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages that are attached, oldest first."""
        return tuple(page for _, page in self._tabs.values())

    async def page(self, *, url: str | None = None, title: str | None = None, timeout_s: float = 20.0) -> Page:
        """Wait for a page of the app that is not attached yet, and attach to it.

        Args:
            url: A glob over its address.
            title: Words in its title.

        Raises:
            DeadlineExceeded: None came; says which there were.
        """
        deadline = Deadline.after(timeout_s)
        wanted = Wanted(url, title)
        found = await self.find(wanted, deadline)
        self._last_tab += 1
        tab = AttachedTab(f"t{self._last_tab}", self, wanted)
        page = Page(tab)
        page.on_dialog(self._dialogs)
        page.observer = self.observer
        self._tabs[tab.tab_id] = (tab, page)
        try:
            await tab.open(found, deadline)
            await page._ready()
        except BaseException:
            await self.detach(page)
            raise
        return page

    async def new_tab(self, url: str | None = None) -> Page:
        """Never: tabs are the app's own to open.

        Raises:
            Unsupported
        """
        raise Unsupported(
            f"tabs cannot be opened in {self.app.package}: they are the app's own",
            hint="Have the app open it and wait for it with session.page(url=…).",
        )

    async def detach(self, page: Page) -> None:
        """Let go of a page; it stays in the app."""
        tab, _ = self._tabs.pop(page.tab_id, (None, None))
        if tab is not None:
            await tab.close()

    async def close(self) -> None:
        await asyncio.gather(*(self.detach(page) for page in self.pages))

    def taken(self) -> set[str]:
        return {tab.target_id for tab, _ in self._tabs.values()}

    async def find(self, wanted: Wanted, deadline: Deadline, *, relaunch: bool = False) -> Found:
        """The first page that fits and is not attached; the app is launched again where it has no process."""
        seen = "no devtools socket of the app"
        launched = not relaunch or self.app.activity is None
        while True:
            try:
                names = await self._socket_names(deadline)
            except DeadlineExceeded as error:
                raise deadline.exceeded(f"a page of {self.app.package} with {wanted}", seen) from error
            if not names and not launched:
                await self.app.launch(self.device, timeout_s=deadline.remaining_s)
                launched = True
            for name in names:
                try:
                    pages = await pages_of(self.device, name, timeout_s=min(_PROBE_S, deadline.remaining_s))
                except DeviceError:
                    continue
                except BridgeError as error:
                    seen = f"@{name}: {error.message}"
                    continue
                seen = ", ".join(f"{page.title[:40]!r} at {page.url[:100]}" for page in pages) or "no page"
                free = [page for page in pages if page.target_id not in self.taken() and wanted.matches(page)]
                if free:
                    return Found(name, free[0])
            if deadline.remaining_s <= _POLL_S:
                raise deadline.exceeded(f"a page of {self.app.package} with {wanted}", seen)
            await asyncio.sleep(_POLL_S)

    async def diagnose(self) -> BridgeError | None:
        """Whether the device is there; what becomes of the app is its own affair."""
        try:
            await self.device.shell("true", timeout_s=_ASK_S)
        except (DeviceError, DeadlineExceeded) as error:
            return DeviceLost(f"{self.serial} is gone: {error.message}")
        return None

    async def _socket_names(self, deadline: Deadline) -> list[str]:
        sockets = await devtools_sockets(self.device, timeout_s=deadline.remaining_s)
        if not self.app.is_chrome:
            return [found.name for found in sockets if found.package == self.app.package]
        if not any(found.name == CHROME_SOCKET for found in sockets):
            return []
        sock = await self.device.open_stream(
            f"localabstract:{CHROME_SOCKET}", timeout_s=min(_PROBE_S, deadline.remaining_s)
        )
        package = await read_package(sock, timeout_s=min(_PROBE_S, deadline.remaining_s))
        return [CHROME_SOCKET] if package in ("", self.app.package) else []


@asynccontextmanager
async def attached_session(
    device: AdbDevice,
    app: App,
    *,
    egress: PinnedEgress,
    notice: Callable[[str], None],
    dialogs: DialogAnswer,
    url: str | None,
    title: str | None,
    observed_by: Callable[[AttachedSession], AbstractAsyncContextManager[Observer | None]],
    timeout_s: float,
) -> AsyncIterator[AttachedSession]:
    """Launch the app where an activity was named, wait for its first page, and let go of everything at the end."""
    deadline = Deadline.after(timeout_s)
    session = AttachedSession(device, app, egress=egress, notice=notice, dialogs=dialogs)
    async with observed_by(session) as session.observer:
        try:
            if app.activity is not None:
                await app.launch(device, timeout_s=deadline.remaining_s)
            await session.page(url=url, title=title, timeout_s=deadline.remaining_s)
            yield session
        finally:
            await session.close()

"""A page: what users hold. Every public method is one operation with one deadline and one cost."""

from __future__ import annotations

import asyncio
import os
import re
import webbrowser
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias
from urllib.parse import urljoin

from bridge.deadline import Deadline, checked_seconds
from bridge.errors import RefNotFound, StaleRef, UsageError
from bridge.page.capture.full_page import Progress, Strategy
from bridge.page.capture.image import ImageFormat
from bridge.page.capture.screencast import (
    Recording,
    RecordingFormat,
    RecordingRequest,
    ScreencastRecorder,
    record,
    recording,
)
from bridge.page.capture.screenshots import ScreenshotRequest, Screenshots
from bridge.page.emulation import commands
from bridge.page.emulation.commands import Commands, PermissionSetting
from bridge.page.emulation.settings import PageSettings
from bridge.page.evaluate import current_title, evaluate_in_frame, evaluate_on_elements, with_argument
from bridge.page.events.download_event import Download, expected_download
from bridge.page.events.listeners import Event, EventInfo, Listeners, of_url
from bridge.page.events.messages import ConsoleMessage, Request, Response
from bridge.page.fetch_messages import Credentials
from bridge.page.files.downloads import MAX_DOWNLOAD_BYTES, Destination, DownloadResult, Downloads
from bridge.page.files.uploads import Uploads, checked_paths
from bridge.page.input import gestures
from bridge.page.input.actions import checked_input_kind, option_values
from bridge.page.input.devices import Keyboard, Mouse, MousePlace, Touchscreen
from bridge.page.input.drag_and_drop import Drag, Position, drag
from bridge.page.input.filling import fill
from bridge.page.input.keyboard import checked_text, press_key, type_text
from bridge.page.input.query import QueryKind, QueryResult, query
from bridge.page.input.set_checked import set_checked
from bridge.page.input.touch import Direction
from bridge.page.instrumentation import Observer, instrumented
from bridge.page.interception.routes import RouteHandler
from bridge.page.locator_handlers import LocatorHandler
from bridge.page.locators.finder import Finder
from bridge.page.locators.locators import FrameLocator, Locator, WaitState
from bridge.page.locators.steps import Text, ref_in
from bridge.page.logs.console import ConsoleLog
from bridge.page.logs.request_log import RequestLog
from bridge.page.misuse import helpful
from bridge.page.navigation import navigate
from bridge.page.navigation.history import current_entry
from bridge.page.navigation.navigate import WaitUntil
from bridge.page.navigation.url import checked_url
from bridge.page.navigation.wait_for import WaitCondition, wait_for
from bridge.page.navigation.wait_for_url import UrlMatch, wait_for_load_state, wait_for_url
from bridge.page.operation import Operation, Operations, Timeouts
from bridge.page.results import (
    ActionResult,
    NavigationResult,
    PageLocation,
    Screenshot,
    ViewportSize,
    WaitResult,
)
from bridge.page.snapshots.aria_roles import Role
from bridge.page.snapshots.read import ReadRequest, ReadResult, read
from bridge.page.snapshots.refs import RefTable
from bridge.page.snapshots.take import SnapshotRequest
from bridge.page.tab_handle import TabHandle
from bridge.page.target.attachment import Attachment
from bridge.page.target.dialogs import DialogAnswer
from bridge.snapshot import SnapshotResult
from bridge.snapshot.escape import quoted
from bridge.snapshot.injected import packaged_script

if TYPE_CHECKING:
    from bridge.cdp import CdpConnection
    from bridge.page.target.page_state import PageState
    from bridge.reading.main_content import Mode
    from bridge.reading.markdown import LinkStyle


class ServedView(Protocol):
    """A live view that is being served; its events are set when a browser opens its address, and when it leaves."""

    @property
    def url(self) -> str: ...

    seen: asyncio.Event
    left: asyncio.Event


LiveViewer: TypeAlias = "Callable[[Page], AbstractAsyncContextManager[ServedView]]"
ACTION_TIMEOUT_S = 5.0
DOWNLOAD_TIMEOUT_S = 60.0
NAVIGATION_TIMEOUT_S = 30.0
READ_TIMEOUT_S = 10.0
SETTINGS_TIMEOUT_S = 5.0
UPLOAD_TIMEOUT_S = 30.0
_NAME_CHARS = 200


@helpful
@instrumented(lambda page: page, lambda page: "")
class Page:
    """A tab of a session. Made by `session.new_page()`.

    Actions wait until their element can take them; their results report what changed on the page. All of them raise:

        RefNotFound, StaleRef: The element is gone or has become another one; names it and what resembles it.
        NotVisible, ElementDisabled, Covered: The element could not be acted on until the deadline.
        DeadlineExceeded: Reports what was last seen.

    Settings (routes, emulation, headers, credentials, init scripts, dialog answers) hold for the page's lifetime, also
    after its tab was reopened or the device reconnected.

    Attributes:
        observer: Sees every operation on this page, its locators and expectations (bridge.page.instrumentation).
        finder: Finds the elements of locators.
        snapshot_on_dead_ref: When a ref is dead, put a fresh snapshot into `error.details["snapshot"]`, so that a model
            can go on at once.
    """

    observer: Observer | None = None
    live_viewer: ClassVar[LiveViewer | None] = None
    snapshot_on_dead_ref: bool = False

    def __init__(self, tab: TabHandle) -> None:
        self._tab = tab
        self._refs = RefTable()
        self._settings = PageSettings()
        self._operations = Operations(tab, self._refs)
        self.timeouts = Timeouts()
        self.finder = Finder(self._operations, self._refs)
        self._mouse = MousePlace()
        self._root = Locator(self, (), "")
        self._listeners = Listeners(self, tab)
        self._settings.dialogs.ask_listeners = self._listeners.answer_of
        tab.on_attach(self._apply_settings)
        tab.on_attach(self._listeners.attach)

    def __repr__(self) -> str:
        return f"<Page {self.tab_id}>"

    # State, without a round trip

    @property
    def tab_id(self) -> str:
        """`t1`, `t2`, …: unique in the session."""
        return self._tab.tab_id

    @property
    def url(self) -> str:
        """The address of the main document, as the browser last reported it."""
        main = self._state.main if self._state else None
        return main.url if main else "about:blank"

    @property
    def known_title(self) -> str:
        """The title of the document, as the document last reported it."""
        present = self._tab.present
        return present.titles.latest if present else ""

    async def title(self, *, timeout_s: float | None = None) -> str:
        """The title of the main document."""
        async with self._operation(timeout_s) as op:
            return await current_title(op.attachment, op.deadline)

    @property
    def last_snapshot(self) -> SnapshotResult | None:
        """The last snapshot or the last delta of an action."""
        attached = self._operations.last_attached
        return attached.snapshots.last if attached else None

    def document_url(self, ref: str) -> str:
        """The address of the document that a ref was shown in, perhaps a frame's; "" if the document is gone."""
        entry = self._refs.get(ref)
        frame = self._state.frames.get(entry.frame_id) if self._state and entry else None
        return frame.url if frame else ""

    def described(self, ref: str) -> str:
        """`button "Pay"`: what a ref was when it was shown; "" for an unknown ref."""
        entry = self._refs.get(ref)
        return f"{entry.role} {quoted(entry.name, _NAME_CHARS)}" if entry else ""

    # Navigation

    async def goto(
        self, url: str, *, wait_until: WaitUntil = "load", timeout_s: float | None = None
    ) -> NavigationResult:
        """Open an address and wait until it has reached `wait_until`.

        An HTTP error page is a page: the result has its status.

        Raises:
            UsageError: Not a valid URL; a path alone needs the session's `base_url`.
            PolicyRefused: A rule forbids it; nothing was sent.
            NavigationFailed: DNS, TLS, connection refused, aborted: with Chromium's net error.
            DeadlineExceeded: Says how far the page came.
        """
        address = await self._tab.check_url(checked_url(urljoin(self._tab.base_url, url)))
        async with self._operation(self._navigation_s(timeout_s), revisit=False) as op:
            return await navigate.goto(op, self._tab, address, wait_until)

    async def go_back(self, *, wait_until: WaitUntil = "load", timeout_s: float | None = None) -> NavigationResult:
        """Go to the previous page in the tab's history. Raises as `goto`; UsageError if there is none."""
        async with self._operation(self._navigation_s(timeout_s)) as op:
            return await navigate.travel(op, self._tab, -1, wait_until)

    async def go_forward(self, *, wait_until: WaitUntil = "load", timeout_s: float | None = None) -> NavigationResult:
        """Go to the next page in the tab's history. Raises as `goto`; UsageError if there is none."""
        async with self._operation(self._navigation_s(timeout_s)) as op:
            return await navigate.travel(op, self._tab, +1, wait_until)

    async def reload(
        self,
        *,
        ignore_cache: bool = False,
        wait_until: WaitUntil = "load",
        timeout_s: float | None = None,
    ) -> NavigationResult:
        """Load the document again. Raises as `goto`."""
        async with self._operation(self._navigation_s(timeout_s)) as op:
            return await navigate.reload(op, self._tab, wait_until, ignore_cache=ignore_cache)

    async def get_state(self, *, timeout_s: float | None = None) -> PageLocation:
        """Address and title from the browser's history; the DOM is not touched."""
        async with self._operation(timeout_s) as op:
            url, title = await current_entry(op.attachment, op.deadline)
            return PageLocation(url, title, op.cost())

    async def content(self, *, timeout_s: float | None = None) -> str:
        """The HTML of the main document as it is now."""
        script = packaged_script("bridge.page", "read_content.min.js")
        return str(await self.evaluate(script, isolated=True, timeout_s=timeout_s))

    async def bring_to_front(self, *, timeout_s: float | None = None) -> None:
        """Activate the tab. The tabs of a WebView are always active; those of Chrome are not."""
        async with self._operation(timeout_s) as op:
            await op.attachment.call("Page.bringToFront", timeout_s=op.deadline.remaining_s)

    async def set_content(self, html: str, *, wait_until: WaitUntil = "load", timeout_s: float | None = None) -> None:
        """Replace the main document's HTML; its address stays."""
        deadline = Deadline.after(self._navigation_s(timeout_s))
        script = packaged_script("bridge.page", "write_content.min.js")
        await self.evaluate(script, html, isolated=True, timeout_s=deadline.remaining_s)
        if wait_until in ("load", "networkidle", "domcontentloaded"):
            await self.wait_for_load_state(wait_until, timeout_s=deadline.remaining_s)

    async def close(self) -> None:
        """Close the tab; does nothing if it is closed already."""
        await self._tab.close_page()
        await self._listeners.close()

    def is_closed(self) -> bool:
        """True if the tab was closed, by the caller or by the page."""
        return self._tab.is_closed

    def set_default_timeout(self, timeout_s: float) -> None:
        """The `timeout_s` of calls that give none."""
        self.timeouts.default_s = checked_seconds("timeout_s", timeout_s)

    def set_default_navigation_timeout(self, timeout_s: float) -> None:
        """The `timeout_s` of navigations and waits that give none."""
        self.timeouts.navigation_s = checked_seconds("timeout_s", timeout_s)

    async def stop(self, *, timeout_s: float | None = None) -> None:
        """Stop loading. What has arrived stays."""
        async with self._operation(timeout_s) as op:
            await op.attachment.call("Page.stopLoading", timeout_s=op.deadline.remaining_s)

    async def wait_for(
        self,
        *,
        selector: str | None = None,
        role: str | None = None,
        name: str | None = None,
        text: str | None = None,
        url: str | None = None,
        gone: str | None = None,
        function: str | None = None,
        redact: Callable[[str], str] | None = None,
        timeout_s: float | None = None,
    ) -> WaitResult:
        """Wait until the one condition given is met, across navigations.

        Args:
            url: A glob over the whole address: `**/checkout`.
            gone: A selector that must not match anything visible.
            function: JavaScript, an expression or a function, run in the page's main world until it is truthy.
            redact: Applied to the page's text and addresses before `text`, `name` and `url` are compared with them.

        Raises:
            DeadlineExceeded: Reports what was last seen.
        """
        condition = WaitCondition(selector, role, name, text, url, gone, function, redact)
        async with self._operation(self._navigation_s(timeout_s)) as op:
            waited_ms = await wait_for(op.attachment, condition, op.deadline)
            return WaitResult(str(condition), waited_ms, op.cost())

    async def wait_for_url(
        self, url: UrlMatch, *, wait_until: WaitUntil = "load", timeout_s: float | None = None
    ) -> None:
        """Wait until the main frame is at an address and has reached `wait_until`.

        Args:
            url: A glob over the whole address (`**/checkout`), a regular expression searched in it, or a
                function of it.
        """
        async with self._operation(self._navigation_s(timeout_s)) as op:
            await wait_for_url(op.attachment, url, wait_until, op.deadline)

    async def wait_for_load_state(
        self, state: Literal["load", "domcontentloaded", "networkidle"] = "load", *, timeout_s: float | None = None
    ) -> None:
        """Wait until the document has reached this state."""
        async with self._operation(self._navigation_s(timeout_s)) as op:
            await wait_for_load_state(op.attachment, state, op.deadline)

    async def wait_for_selector(
        self, selector: str, *, state: WaitState = "visible", timeout_s: float | None = None
    ) -> Locator | None:
        """Wait for the first element of a selector to be attached or visible, or for none to be; the element's
        locator, or None."""
        found = self.locator(selector).first
        await found.wait_for(state=state, timeout_s=self._navigation_s(timeout_s))
        return found if state in ("attached", "visible") else None

    async def wait_for_function(self, expression: str, arg: Any = None, *, timeout_s: float | None = None) -> Any:
        """Wait until JavaScript is truthy: an expression, or a function that gets `arg`; its value."""
        deadline = Deadline.after(self._navigation_s(timeout_s))
        await self.wait_for(function=with_argument(expression, arg), timeout_s=deadline.remaining_s)
        return await self.evaluate(expression, arg, timeout_s=max(deadline.remaining_s, ACTION_TIMEOUT_S))

    async def wait_for_timeout(self, seconds: float) -> None:
        """Wait for a number of seconds; other operations of the page can run during the wait. For debugging only."""
        await asyncio.sleep(checked_seconds("seconds", seconds))

    async def pause(self) -> None:
        """Open the live view of this page in this machine's browser, and go on when that tab is closed. For debugging
        only: there is no timeout.

        Raises:
            UsageError: No browser can be started here.
        """
        viewer = type(self).live_viewer
        if viewer is None:
            raise UsageError("only pages of bridge.Session have a live view")
        async with viewer(self) as view:
            if not await asyncio.to_thread(webbrowser.open, view.url):
                raise UsageError(
                    "pause found no browser on this machine", hint="`wvb view` prints the address to open."
                )
            await view.seen.wait()
            await view.left.wait()

    # Events

    def on(self, event: Event, listener: Callable[[Any], Any]) -> None:
        """Call `listener` with each event of a kind from now on. It must not wait for the page.

        Args:
            event: console (a ConsoleMessage), pageerror (an UncaughtError), dialog (a DialogEvent), request,
                requestfinished and requestfailed (a Request), response (a Response), popup, domcontentloaded, load
                and close (a Page).
        """
        self._listeners.add(event, listener)

    def once(self, event: Event, listener: Callable[[Any], Any]) -> None:
        """Call `listener` with the next event of a kind."""
        self._listeners.add(event, listener, is_once=True)

    def remove_listener(self, event: Event, listener: Callable[[Any], Any]) -> None:
        """Remove a listener; does nothing if there is none."""
        self._listeners.remove(event, listener)

    def expect_event(
        self, event: Event, predicate: Callable[[Any], Any] | None = None, *, timeout_s: float | None = None
    ) -> AbstractAsyncContextManager[EventInfo[Any]]:
        """`async with page.expect_event("console") as info: …`, then `await info.value`: the first event since the
        beginning of the block that fits `predicate`.

        Raises:
            DeadlineExceeded: None came.
        """
        return self._listeners.expect(event, predicate, f"the event {event}", self._navigation_s(timeout_s))

    def expect_console_message(
        self, predicate: Callable[[ConsoleMessage], Any] | None = None, *, timeout_s: float | None = None
    ) -> AbstractAsyncContextManager[EventInfo[ConsoleMessage]]:
        """A console message that the block causes; see `expect_event`."""
        return self._listeners.expect("console", predicate, "a console message", self._navigation_s(timeout_s))

    def expect_request(
        self, url_or_predicate: UrlMatch | Callable[[Request], Any], *, timeout_s: float | None = None
    ) -> AbstractAsyncContextManager[EventInfo[Request]]:
        """A request that the block causes, by its URL or a function of the Request; see `expect_event`."""
        fits = of_url(url_or_predicate)
        return self._listeners.expect("request", fits, f"a request {url_or_predicate!r}", self._navigation_s(timeout_s))

    def expect_response(
        self, url_or_predicate: UrlMatch | Callable[[Response], Any], *, timeout_s: float | None = None
    ) -> AbstractAsyncContextManager[EventInfo[Response]]:
        """A response to a request that the block causes, by its URL or a function of the Response."""
        fits, what = of_url(url_or_predicate), f"a response {url_or_predicate!r}"
        return self._listeners.expect("response", fits, what, self._navigation_s(timeout_s))

    def expect_request_finished(
        self, predicate: Callable[[Request], Any] | None = None, *, timeout_s: float | None = None
    ) -> AbstractAsyncContextManager[EventInfo[Request]]:
        """A request that ends in the block or after it, and whose body has been received."""
        return self._listeners.expect("requestfinished", predicate, "a finished request", self._navigation_s(timeout_s))

    def expect_popup(self, *, timeout_s: float | None = None) -> AbstractAsyncContextManager[EventInfo[Page]]:
        """`async with page.expect_popup() as popup: …click…`, then `await popup.value`: the window that the block
        opened.

        Raises:
            DeadlineExceeded: The page opened no window.
            PolicyRefused: The policy forbids its address; the window was closed again.
        """
        return self._listeners.expect_popup(self._navigation_s(timeout_s))

    @asynccontextmanager
    async def expect_download(self, *, timeout_s: float | None = None) -> AsyncIterator[EventInfo[Download]]:
        """`async with page.expect_download() as info: …click…`, then `await info.value`: the complete file, in the
        session's `downloads_root`.

        Raises:
            PolicyRefused: No `downloads_root` is set, or the policy forbids the address.
            DeadlineExceeded: The block started no download, or it was not complete in time.
            NavigationFailed: The download failed.
        """
        downloads = Downloads(await self._operations.attach(), self._tab)
        waiting = expected_download(
            self, downloads, self._tab.downloads, self.timeouts.seconds(timeout_s, DOWNLOAD_TIMEOUT_S)
        )
        async with waiting as info:
            yield info

    async def wait_for_event(
        self, event: Event, predicate: Callable[[Any], Any] | None = None, *, timeout_s: float | None = None
    ) -> Any:
        """Wait for the next event of a kind that fits `predicate`."""
        async with self.expect_event(event, predicate, timeout_s=timeout_s) as info:
            pass
        return await info.value

    def answer_dialogs(self, answer: DialogAnswer) -> None:
        """Set how dialogs are answered from now on.

        Args:
            answer: "default" accepts alert and beforeunload and dismisses confirm and prompt; "accept"; "dismiss"; or
                a function of the Dialog that returns True, False, the text for a prompt, or None for the default. It
                may be a coroutine function, has two seconds, and must not call the page.

        The next result reports each dialog (`changes.dialogs`, or its notices).
        """
        self._settings.dialogs.set_answer(answer)

    # Reading

    async def snapshot(
        self,
        *,
        interactive_only: bool = True,
        cursor_interactive: bool = True,
        max_chars: int = 12_000,
        max_nodes: int = 200,
        max_depth: int = 12,
        scope: str | None = None,
        more: str | None = None,
        find: str | None = None,
        boxes: bool = False,
        controls_only: bool = False,
        click_handlers: bool = False,
        aria_hidden: bool = False,
        text: bool = True,
        delta: bool = False,
        renumber: bool = False,
        redact: Callable[[str], str] | None = None,
        timeout_s: float | None = None,
    ) -> SnapshotResult:
        """The page as a short tree of roles and names with refs. One round trip per frame, all at once.

        Args:
            scope: A CSS selector (in the main document) or a ref: only what is below it.
            more: The ref of a cut (`more=e7`): what was left out there.
            find: Only the lines with this text, in any case, and their ancestors.
            boxes: Add `[box=x,y,width,height]` in CSS pixels of the viewport. In frames that takes another round trip.
            controls_only: Only elements that can be acted on, without text, headings or structure. Similar ones share
                a line.
            click_handlers: Also give refs to elements that only a script makes clickable (`el.onclick = …`,
                `addEventListener`). Asks the engine, in up to four more round trips; elements that fill half of the
                view are left out, because they usually handle the clicks of what they contain.
            aria_hidden: Also what `aria-hidden` hides from assistive technology, marked `[aria-hidden]`. Without it,
                the header counts the visible controls there (`hidden_from_assistive=3`).
            text: False leaves out what neither can be acted on nor places it: controls stay, with the headings and
                landmarks above them and the first words of a list's item.
            delta: `text` is the change since the last snapshot of the whole page; the whole page if that is shorter, or
                if there was no snapshot.
            renumber: Start again at e1. Refs of earlier results are refused then, also where a number is reused.
            redact: Applied to the text that `find` searches: finding a part of a secret would reveal it.

        Raises:
            UsageError: `scope` matches nothing.
            RefNotFound: `scope` or `more` is a ref that is gone.
        """
        request = SnapshotRequest(
            interactive_only=interactive_only,
            cursor_interactive=cursor_interactive,
            max_chars=max_chars,
            max_nodes=max_nodes,
            max_depth=max_depth,
            scope=scope,
            more=more,
            find=find,
            boxes=boxes,
            controls_only=controls_only,
            click_handlers=click_handlers,
            aria_hidden=aria_hidden,
            text=text,
            redact=redact,
        )
        request.check(is_delta=delta)
        async with self._operation(timeout_s) as op:
            if renumber:
                op.snapshots.renumber()
            before = op.snapshots.last
            result = await op.snapshots.take(request, op.deadline)
            if delta and before is not None:
                result = await op.snapshots.as_delta(before, result, max_chars, op.deadline)
            return replace(result, cost=op.cost(result.text))

    async def aria_snapshot(self, *, timeout_s: float | None = None) -> str:
        """The text of `snapshot` with everything that assistive technology reports."""
        return (await self.snapshot(interactive_only=False, timeout_s=self.timeouts.seconds(timeout_s, 5.0))).text

    async def read(
        self,
        *,
        mode: Mode = "main_content",
        max_length: int = 50_000,
        selector: str | None = None,
        outline: bool = False,
        section: str | None = None,
        links: LinkStyle = "inline",
        comments: bool = False,
        metadata: bool = False,
        redact: Callable[[str], str] | None = None,
        timeout_s: float = READ_TIMEOUT_S,
    ) -> ReadResult:
        """The visible page as Markdown: one round trip. Waits for a page that is still empty.

        Args:
            mode: "main_content" leaves out what surrounds the text, "article" does so also on pages that look like
                lists, "raw" is the whole body.
            max_length: At most so many characters; 0 for no limit. The end of a cut text says so.
            selector: Only what is below the first element that matches.
            outline: Only the headings, with their anchors.
            section: Only what is below the heading with this text or anchor.
            links: "inline" with addresses, "ref" with refs that can be clicked (`[Next](e7)`), "none" without.
            comments: Include readers' comments.
            metadata: Fill in `metadata`: title, description, author, dates, language, site, image.
            redact: Applied to the text before it is cut: a cut in the middle of a secret would hide it from `redact`.

        Raises:
            UsageError: The selector matches nothing, or there is no such section.
        """
        request = ReadRequest(mode, max_length, selector, outline, section, links, comments, redact, metadata)
        async with self._operation(timeout_s) as op:
            result = await read(op.attachment, self._refs, request, op.deadline)
            notices = (*op.take_notices(), *result.notices)
            return replace(result, cost=op.cost(result.markdown), notices=notices)

    async def query(
        self, ref: str, kind: QueryKind, limit: int = 2_000, *, timeout_s: float | None = None
    ) -> QueryResult:
        """The text, html, value, attributes, styles or box of an element: one round trip.

        Args:
            limit: At most so many characters; 0 for no limit.

        Raises:
            RefNotFound, StaleRef: The element is gone or has become another one.
        """
        async with self._action(timeout_s) as op:
            return await query(op.actions, ref, kind, limit, op.deadline)

    # Locators

    def locator(self, selector: str, *, has_text: Text | None = None, has: Locator | None = None) -> Locator:
        """Elements by a selector, in all frames and open shadow roots.

        Args:
            selector: CSS, or `ref=e7`, `text=`, `role=`, `xpath=` (also `//…`), `id=`, `data-testid=`, `nth=`,
                `visible=`; `>>` goes on inside what was found.
        """
        return self._root.locator(selector, has_text=has_text, has=has)

    def get_by_role(self, role: Role, *, name: Text | None = None, exact: bool = False) -> Locator:
        """Perceivable elements with an ARIA role; `name` is part of their accessible name."""
        return self._root.get_by_role(role, name=name, exact=exact)

    def get_by_text(self, text: Text, *, exact: bool = False) -> Locator:
        """The innermost elements with this text."""
        return self._root.get_by_text(text, exact=exact)

    def get_by_label(self, text: Text, *, exact: bool = False) -> Locator:
        """Controls by their label, `aria-label` or `aria-labelledby`."""
        return self._root.get_by_label(text, exact=exact)

    def get_by_placeholder(self, text: Text, *, exact: bool = False) -> Locator:
        """Inputs by their placeholder."""
        return self._root.get_by_placeholder(text, exact=exact)

    def get_by_alt_text(self, text: Text, *, exact: bool = False) -> Locator:
        """Images and areas by their alternative text."""
        return self._root.get_by_alt_text(text, exact=exact)

    def get_by_title(self, text: Text, *, exact: bool = False) -> Locator:
        """Elements by their attribute `title`."""
        return self._root.get_by_title(text, exact=exact)

    def get_by_test_id(self, test_id: str) -> Locator:
        """Elements by the attribute `data-testid`."""
        return self._root.get_by_test_id(test_id)

    def frame_locator(self, selector: str) -> FrameLocator:
        """The document of an iframe, by a selector of the iframe."""
        return self._root.frame_locator(selector)

    async def add_locator_handler(
        self, locator: Locator, handler: LocatorHandler, *, no_wait_after: bool = False, times: int | None = None
    ) -> None:
        """Call `handler` with the locator whenever it is visible before an action, while it covers an action's element,
        or before an expectation is checked: for banners and overlays that appear at any time.

        Args:
            handler: May use the page, and may be a coroutine function. No handler runs inside another one.
            no_wait_after: Go on at once after the handler; otherwise the locator has to be hidden first.
            times: Remove the handler after so many calls.
        """
        self._operations.handlers.add(locator, handler, no_wait_after=no_wait_after, times=times)

    async def remove_locator_handler(self, locator: Locator) -> None:
        """Remove the handlers of a locator; does nothing if there are none."""
        self._operations.handlers.remove(locator)

    # The state of one element

    async def text_content(self, selector: str, *, timeout_s: float | None = None) -> str | None:
        """See `Locator.text_content`."""
        return await self.locator(selector).text_content(timeout_s=timeout_s)

    async def inner_text(self, selector: str, *, timeout_s: float | None = None) -> str:
        """See `Locator.inner_text`."""
        return await self.locator(selector).inner_text(timeout_s=timeout_s)

    async def inner_html(self, selector: str, *, timeout_s: float | None = None) -> str:
        """See `Locator.inner_html`."""
        return await self.locator(selector).inner_html(timeout_s=timeout_s)

    async def get_attribute(self, selector: str, name: str, *, timeout_s: float | None = None) -> str | None:
        """See `Locator.get_attribute`."""
        return await self.locator(selector).get_attribute(name, timeout_s=timeout_s)

    async def input_value(self, selector: str, *, timeout_s: float | None = None) -> str:
        """See `Locator.input_value`."""
        return await self.locator(selector).input_value(timeout_s=timeout_s)

    async def is_visible(self, selector: str) -> bool:
        """See `Locator.is_visible`."""
        return await self.locator(selector).is_visible()

    async def is_hidden(self, selector: str) -> bool:
        """See `Locator.is_hidden`."""
        return await self.locator(selector).is_hidden()

    async def is_enabled(self, selector: str, *, timeout_s: float | None = None) -> bool:
        """See `Locator.is_enabled`."""
        return await self.locator(selector).is_enabled(timeout_s=timeout_s)

    async def is_disabled(self, selector: str, *, timeout_s: float | None = None) -> bool:
        """See `Locator.is_disabled`."""
        return await self.locator(selector).is_disabled(timeout_s=timeout_s)

    async def is_editable(self, selector: str, *, timeout_s: float | None = None) -> bool:
        """See `Locator.is_editable`."""
        return await self.locator(selector).is_editable(timeout_s=timeout_s)

    async def is_checked(self, selector: str, *, timeout_s: float | None = None) -> bool:
        """See `Locator.is_checked`."""
        return await self.locator(selector).is_checked(timeout_s=timeout_s)

    # JavaScript

    async def evaluate(
        self, expression: str, arg: Any = None, *, isolated: bool = False, timeout_s: float | None = None
    ) -> Any:
        """The value of JavaScript in the main frame: an expression, or a function that gets `arg`; promises are
        awaited.

        Arguments and values travel as JSON.

        Args:
            isolated: Run in a world of our own, which shares the DOM with the page but none of its variables.

        Raises:
            ScriptFailed: The script threw; has the page's stack.
            DeadlineExceeded: It did not end in time; the page is left as it is.
        """
        async with self._operation(self._navigation_s(timeout_s)) as op:
            main = op.attachment.state.main
            return await evaluate_in_frame(
                op.attachment, main.frame_id if main else "", expression, arg, isolated, op.deadline
            )

    async def evaluate_on(
        self, refs: str | Sequence[str], expression: str, arg: Any = None, *, timeout_s: float | None = None
    ) -> Any:
        """The value of a JavaScript function of the element of a ref, or of the elements of a list of refs in one
        document, and `arg`, in the page's own world."""
        async with self._action(timeout_s) as op:
            return await evaluate_on_elements(op, self._refs, refs, expression, arg)

    async def add_script_tag(
        self, *, content: str | None = None, url: str | None = None, timeout_s: float | None = None
    ) -> None:
        """Add a `<script>` to the main document and wait until it has run.

        Raises:
            ScriptFailed: It could not be loaded; the page's own policy may forbid it.
        """
        await self._add_tag("script", {"textContent": content, "src": url}, timeout_s)

    async def add_style_tag(
        self, *, content: str | None = None, url: str | None = None, timeout_s: float | None = None
    ) -> None:
        """Add a `<style>`, or a `<link>` to a style sheet, to the main document and wait until it applies.

        Raises:
            ScriptFailed: It could not be loaded; the page's own policy may forbid it.
        """
        tag = "style" if url is None else "link"
        await self._add_tag(tag, {"textContent": content, "href": url, "rel": url and "stylesheet"}, timeout_s)

    async def _add_tag(self, tag: str, fields: Mapping[str, str | None], timeout_s: float | None) -> None:
        given = {key: value for key, value in fields.items() if value is not None}
        if not given:
            raise UsageError(f"add_{'script' if tag == 'script' else 'style'}_tag takes content or url")
        await self.evaluate(packaged_script("bridge.page", "add_tag.min.js"), [tag, given], timeout_s=timeout_s)

    # Input devices

    @property
    def keyboard(self) -> Keyboard:
        """Keys for what has the focus."""
        return Keyboard(self, self._action)

    @property
    def mouse(self) -> Mouse:
        """A mouse at coordinates of the viewport; actions on elements use a finger."""
        return Mouse(self, self._action, self._mouse)

    @property
    def touchscreen(self) -> Touchscreen:
        """Taps at coordinates of the viewport."""
        return Touchscreen(self, self._action)

    # Actions

    async def click(
        self,
        selector: str,
        *,
        timeout_s: float | None = None,
        settle_s: float = 1.0,
        input: Literal["touch", "script"] = "touch",
    ) -> ActionResult:
        """Tap an element and report what changed.

        Args:
            input: "touch" taps as a finger does; "script" dispatches the events by script.
        """
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).click(timeout_s=timeout_s, settle_s=settle_s, input=input)
        async with self._action(timeout_s, settle_s) as op:
            kind = checked_input_kind(input)
            return op.report(await op.actions.click(ref, op.deadline, settle_s=settle_s, input=kind))

    async def dblclick(self, selector: str, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """Tap an element twice in a row."""
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).dblclick(timeout_s=timeout_s, settle_s=settle_s)
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await gestures.double_click(op.actions, ref, op.deadline, settle_s=settle_s))

    async def tap(self, selector: str, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """The same as `click`: a finger taps."""
        return await self.click(selector, timeout_s=timeout_s, settle_s=settle_s)

    async def dispatch_event(
        self,
        selector: str,
        type: str,
        event_init: Mapping[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
    ) -> None:
        """Dispatch an event by script: the page sees `isTrusted` false."""
        await self.locator(selector).dispatch_event(type, event_init, timeout_s=timeout_s)

    async def long_press(self, selector: str, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """Hold a finger on an element for 0.7 s."""
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).long_press(timeout_s=timeout_s, settle_s=settle_s)
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await gestures.long_press(op.actions, ref, op.deadline, settle_s=settle_s))

    async def hover(self, selector: str, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """Rest a mouse pointer on an element."""
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).hover(timeout_s=timeout_s)
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await gestures.hover(op.actions, ref, op.deadline, settle_s=settle_s))

    async def fill(
        self,
        selector: str,
        value: str,
        *,
        as_keys: bool = False,
        timeout_s: float | None = None,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Replace the content of a control, with the events that frameworks listen to: one round trip.

        A slider or spin button of ARIA takes a number: it is moved by keys, else by dragging its thumb.

        Args:
            as_keys: Select what is there and type over it key by key, for widgets that listen to keys.

        Raises:
            NotEditable: The element takes no text.
            InvalidValue: It takes another format, which the message names (dates: 2026-02-28).
        """
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).fill(value, as_keys=as_keys, timeout_s=timeout_s)
        async with self._action(timeout_s, settle_s) as op:
            text = checked_text("value", value)
            return op.report(await fill(op.actions, ref, text, op.deadline, settle_s=settle_s, as_keys=as_keys))

    async def type(
        self, selector: str, text: str, *, timeout_s: float | None = None, settle_s: float = 1.0
    ) -> ActionResult:
        """Type key by key at the end of the element's text. `fill` replaces the content and is faster; `keyboard.type`
        types where the focus is."""
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).press_sequentially(text, timeout_s=timeout_s)
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await type_text(op.actions, ref, text, op.deadline, settle_s=settle_s))

    async def press(
        self, selector: str, key: str, *, timeout_s: float | None = None, settle_s: float = 1.0
    ) -> ActionResult:
        """Focus an element and press a key (`Enter`, `a`) or chord (`Control+A`). `keyboard.press` presses where the
        focus is."""
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).press(key, timeout_s=timeout_s)
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await press_key(op.actions, key, ref, op.deadline, settle_s=settle_s))

    async def clear(self, selector: str, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """Empty a control, with the events that frameworks listen to: one round trip."""
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).clear(timeout_s=timeout_s)
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await op.actions.scripted(ref, "clear", {}, op.deadline, settle_s=settle_s))

    async def check(self, selector: str, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """Tap a checkbox, radio button or switch unless it is checked, and verify that it is checked.

        Raises:
            NotCheckable: It is another kind of element, or stays unchecked.
        """
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).check(timeout_s=timeout_s)
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await set_checked(op.actions, ref, True, op.deadline, settle_s=settle_s))

    async def uncheck(self, selector: str, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """Tap a checkbox or switch if it is checked, and verify that it is unchecked.

        Raises:
            NotUncheckable: It is another kind of element, or stays checked. To uncheck a radio button, check another.
        """
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).uncheck(timeout_s=timeout_s)
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await set_checked(op.actions, ref, False, op.deadline, settle_s=settle_s))

    async def set_checked(self, selector: str, checked: bool, *, timeout_s: float | None = None) -> ActionResult:
        """`check` or `uncheck`."""
        return await (self.check if checked else self.uncheck)(selector, timeout_s=timeout_s)

    async def select_option(
        self,
        selector: str,
        *values: str | Sequence[str],
        value: str | Sequence[str] | None = None,
        label: str | Sequence[str] | None = None,
        index: int | Sequence[int] | None = None,
        timeout_s: float | None = None,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Select exactly these options of a `<select>` by script: one round trip.

        Args:
            values: Values or visible texts of the options.
            value, label, index: Values only, visible texts only, or places from 0, one or a list.

        Raises:
            NotASelectElement: Click the options of custom list boxes instead.
            NoSuchOption: Names the options there are.
        """
        if (ref := ref_in(selector)) is None or label is not None or index is not None or value is not None:
            return await self.locator(selector).select_option(
                *values, value=value, label=label, index=index, timeout_s=timeout_s
            )
        params = {"values": option_values(values)}
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await op.actions.scripted(ref, "select", params, op.deadline, settle_s=settle_s))

    async def focus(self, selector: str, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """Focus an element: one round trip."""
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).focus(timeout_s=timeout_s)
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await op.actions.scripted(ref, "focus", {}, op.deadline, settle_s=settle_s))

    async def scroll_into_view_if_needed(
        self, selector: str, *, timeout_s: float | None = None, settle_s: float = 1.0
    ) -> ActionResult:
        """Scroll an element to the middle of its scroll containers: one round trip."""
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).scroll_into_view_if_needed(timeout_s=timeout_s)
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await op.actions.scripted(ref, "scroll_into_view", {}, op.deadline, settle_s=settle_s))

    async def drag_and_drop(
        self,
        source: str,
        target: str | None = None,
        *,
        by: tuple[float, float] | None = None,
        hold_s: float = 0.0,
        source_position: Position | None = None,
        target_position: Position | None = None,
        input: Literal["touch", "mouse"] = "touch",
        timeout_s: float | None = None,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Drag an element onto another one, or by (dx, dy) CSS pixels.

        A finger drags it. Elements with `draggable=true`, which touch does not move, get drag events by script.

        Args:
            hold_s: Hold the finger still for this long first, for lists that drag after a long press.
            source_position: Where to take it, `{"x": …, "y": …}` in CSS pixels from its upper left corner.
            target_position: Where to drop it, from the target's corner.
            input: "mouse" for widgets that know only the mouse.
        """
        how = Drag(by, hold_s, source_position, target_position, input)
        deadline = Deadline.after(self.timeouts.seconds(timeout_s, 2 * ACTION_TIMEOUT_S))
        ref = ref_in(source) or await self.locator(source).ref(timeout_s=deadline.remaining_s)
        to = target and (ref_in(target) or await self.locator(target).ref(timeout_s=deadline.remaining_s))
        async with self._action(deadline.remaining_s, settle_s) as op:
            return op.report(await drag(op.actions, ref, to, how, op.deadline, settle_s=settle_s))

    async def swipe(
        self,
        direction: Direction,
        *,
        ref: str | None = None,
        distance_px: float = 300,
        timeout_s: float | None = None,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Move a finger in `direction` over an element, or over the middle of the page."""
        async with self._action(timeout_s, settle_s) as op:
            swiped = gestures.swipe(op.actions, direction, ref, distance_px, op.deadline, settle_s=settle_s)
            return op.report(await swiped)

    async def pinch(
        self,
        scale: float,
        *,
        ref: str | None = None,
        timeout_s: float | None = None,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Move two fingers apart (`scale` over 1) or together, around an element or the middle of the page."""
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await gestures.pinch(op.actions, scale, ref, op.deadline, settle_s=settle_s))

    async def scroll(
        self,
        direction: Direction,
        amount: float = 300,
        *,
        ref: str | None = None,
        timeout_s: float | None = None,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Scroll by CSS pixels what scrolls around `ref` or in the middle of the page; reports if nothing moved.

        A script scrolls, and the page gets no touch events. `swipe` moves a finger.
        """
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await gestures.scroll(op.actions, direction, amount, ref, op.deadline, settle_s=settle_s))

    # Files

    async def set_input_files(
        self,
        selector: str,
        files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        timeout_s: float = UPLOAD_TIMEOUT_S,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Give files from the session's `uploads_root` to a file input (or its label), or drop them on an element.

        Raises:
            PolicyRefused: A path leads out of that folder, through a link or to something other than a regular file;
                or no folder is set.
            UsageError: A file is missing or too large, or the input takes only one.
            RefNotFound, StaleRef, ActionFailed: The element is gone, is disabled, or takes no files.
        """
        if (ref := ref_in(selector)) is None:
            return await self.locator(selector).set_input_files(files, timeout_s=timeout_s)
        wanted = checked_paths(files)
        async with self._operation(timeout_s) as op:
            uploads = Uploads(op.attachment, self._refs, op.snapshots, self._tab.host_services, self._tab.uploads)
            result = await uploads.give(ref, wanted, op.deadline, settle_s=settle_s)
            return replace(result, notices=(*op.take_notices(), *result.notices))

    async def download(
        self,
        dest_path: str | os.PathLike[str],
        *,
        url: str | None = None,
        ref: str | None = None,
        overwrite: bool = False,
        max_bytes: int = MAX_DOWNLOAD_BYTES,
        timeout_s: float = DOWNLOAD_TIMEOUT_S,
    ) -> DownloadResult:
        """Save a file in the session's `downloads_root`: from `url` with the page's cookies, or the download that
        tapping `ref` starts. The file appears under its name when it is complete.

        Raises:
            PolicyRefused: The policy forbids the address, the path leads out of that folder, or no folder is set.
            UsageError: The file exists and `overwrite` is off, or it has more than `max_bytes`. The engine delivers
                nothing of a fetch by `url` before its end: the gate ends an endless body 16 MB beyond the limit, and in
                attach mode, where traffic does not pass the gate, the deadline does.
            NavigationFailed: It could not be fetched.
            DeadlineExceeded: Tapping the element started no download, or the download was not complete in time.
        """
        if (url is None) == (ref is None):
            raise UsageError("download takes either url or ref")
        destination = Destination(dest_path, overwrite, max_bytes)
        async with self._operation(timeout_s) as op:
            downloads = Downloads(op.attachment, self._tab)
            if url is not None:
                result = await downloads.by_url(url, destination, op.deadline)
            else:
                tapping = op.actions.click(ref or "", op.deadline, settle_s=0.0)
                result = await downloads.started_by(tapping, destination, op.deadline)
            return replace(result, notices=(*op.take_notices(), *result.notices))

    # Screenshots and recordings

    async def screenshot(
        self,
        *,
        full_page: bool = False,
        ref: str | None = None,
        path: str | os.PathLike[str] | None = None,
        type: ImageFormat = "png",
        quality: int | None = None,
        scale: Literal["css", "device"] = "css",
        annotate: bool = False,
        max_height_px: int = 10_000,
        strategy: Strategy | Literal["auto"] = "auto",
        redact: Callable[[str], str] | None = None,
        timeout_s: float = 30.0,
        on_progress: Progress | None = None,
    ) -> Screenshot:
        """A screenshot of the viewport, of the whole page or of one element. The scroll position does not change.

        Args:
            path: Also write the image to this file.
            scale: "css" for one pixel per CSS pixel, "device" for the device's pixels.
            annotate: Draw boxes with the refs of a snapshot that is taken at the same time.
            max_height_px: The image is cut at this height; `truncated` says so.
            strategy: How to capture a whole page; "auto" begins with what the capability probe found.
            redact: Paint over fields and texts that it changes, in screenshots of the viewport. Larger screenshots are
                refused if the page shows such text.
            on_progress: Called with the finished rows and all rows during a long capture.

        Raises:
            CaptureFailed: The engine returned no image or one of a wrong size, or a secret cannot be painted over.
            RefNotFound, StaleRef, NotVisible: The element is gone, or is not visible.
        """
        request = ScreenshotRequest(full_page, ref, type, quality, scale, annotate, max_height_px, strategy, redact)
        async with self._operation(timeout_s) as op:
            host, preferred = self._tab.host_services, self._tab.full_page_strategy
            shots = Screenshots(op.attachment, self._refs, op.snapshots, host, preferred)
            shot = await shots.take(request, op.deadline, on_progress=on_progress)
            shot = replace(shot, notices=(*op.take_notices(), *shot.notices))
        if path is not None:
            await asyncio.to_thread(Path(path).write_bytes, shot.image_bytes)
        return shot

    async def record(
        self,
        duration_s: float = 3.0,
        *,
        format: RecordingFormat = "webp",
        max_frames: int = 300,
        max_bytes: int = 16 * 1024 * 1024,
        max_width_px: int = 412,
        max_fps: float = 12.0,
        timeout_s: float = 10.0,
        on_frame: Callable[[int, int], None] | None = None,
    ) -> Recording:
        """Record the next `duration_s` seconds as an animated WebP or GIF. `recording` records a block instead."""
        request = RecordingRequest.lasting(duration_s, format, max_frames, max_bytes, max_width_px, max_fps)
        attachment = await self._operations.attach()
        return await record(attachment, request, duration_s, timeout_s=timeout_s, on_frame=on_frame)

    @asynccontextmanager
    async def recording(
        self, *, timeout_s: float = 10.0, on_frame: Callable[[int, int], None] | None = None, **bounds: Any
    ) -> AsyncIterator[ScreencastRecorder]:
        """Record what the block does: `async with page.recording() as recorder: …`, then `recorder.result`.

        Args:
            bounds: The fields of `RecordingRequest`.
        """
        attachment = await self._operations.attach()
        async with recording(
            attachment, RecordingRequest(**bounds), timeout_s=timeout_s, on_frame=on_frame
        ) as recorder:
            yield recorder

    # Logs, without a round trip

    def console(
        self, *, level: str | None = None, text: str | None = None, after: int = 0, limit: int = 100
    ) -> ConsoleLog:
        """Console messages and uncaught errors of this tab since it was opened.

        Args:
            level: The least severe level to include: debug, info, warning or error.
            after: Only entries with a higher number, such as `last` of an earlier log.
        """
        return self._tab.logs.console(tab_id=self.tab_id, level=level, text=text, after=after, limit=limit)

    def network(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        status: int | str | None = None,
        resource_type: str | None = None,
        failed: bool | None = None,
        after: int = 0,
        limit: int = 100,
    ) -> RequestLog:
        """The requests of this tab since it was opened.

        Args:
            url: A part of the address, or a glob if it contains `*`.
            status: A number, or a class such as "4xx".
        """
        return self._tab.logs.network(
            tab_id=self.tab_id,
            url=url,
            method=method,
            status=status,
            resource_type=resource_type,
            failed=failed,
            after=after,
            limit=limit,
        )

    def har(self, *, redact: bool = True) -> dict[str, Any]:
        """The requests of this tab as HAR 1.2. Credentials in headers are left out unless `redact` is off."""
        return self._tab.logs.har(tab_id=self.tab_id, redact=redact)

    # Interception and emulation

    async def route(
        self, pattern: str | re.Pattern[str], handler: RouteHandler, *, timeout_s: float = SETTINGS_TIMEOUT_S
    ) -> None:
        """Decide every request whose URL matches `pattern`, before it is sent.

        Args:
            pattern: A glob over the whole URL (`**/api/*.json`) or a regular expression searched in it.
            handler: `Abort()`, `Fulfil(…)` or `Proceed(…)`, or a function of the PausedRequest that returns one of
                them, or None for the next route; it may be a coroutine function. The newest route is asked first. The
                page waits for it, so it must not call the page.

        The URL policy decides before any route, and again about another URL that a route proceeds to.

        Raises:
            Unsupported: The WebView cannot intercept requests.
        """
        async with self._operation(timeout_s) as op:
            await self._settings.routes.add(op.attachment, pattern, handler, op.deadline)

    async def unroute(
        self, pattern: str | re.Pattern[str] | None = None, *, timeout_s: float = SETTINGS_TIMEOUT_S
    ) -> int:
        """Remove the routes of that pattern, or all of them; returns how many there were."""
        async with self._operation(timeout_s):
            return await self._settings.routes.remove(pattern)

    async def unroute_all(self, *, timeout_s: float = SETTINGS_TIMEOUT_S) -> None:
        """Remove all routes."""
        await self.unroute(timeout_s=timeout_s)

    async def set_viewport_size(
        self, viewport_size: ViewportSize | None, *, timeout_s: float = SETTINGS_TIMEOUT_S
    ) -> None:
        """Lay the page out for another size, `{"width": 800, "height": 600}` in CSS pixels; None for the tab's own.

        The tab keeps its size: content outside it appears in screenshots of the whole page, but cannot be tapped.
        `Session.open(width_px=…, height_px=…)` sets the size of the tabs themselves.
        """
        await self._emulate("viewport", commands.viewport(viewport_size), timeout_s)

    async def set_offline(self, offline: bool = True, *, timeout_s: float = SETTINGS_TIMEOUT_S) -> None:
        """Disconnect this tab from the network, or connect it again."""
        await self._emulate("offline", commands.offline(offline), timeout_s)

    async def set_geolocation(
        self,
        latitude: float | None = None,
        longitude: float | None = None,
        *,
        accuracy_m: float = 10.0,
        timeout_s: float = SETTINGS_TIMEOUT_S,
    ) -> None:
        """Set the location that the device reports; without arguments, its real one. Whether the page may read it is a
        permission."""
        await self._emulate("geolocation", commands.geolocation(latitude, longitude, accuracy_m), timeout_s)

    async def set_permissions(
        self, wanted: Mapping[str, PermissionSetting], *, origin: str, timeout_s: float = SETTINGS_TIMEOUT_S
    ) -> None:
        """Set the permissions of `origin`: `{"geolocation": "granted", "camera": "denied"}`.

        Raises:
            Unsupported: In a WebView: it stores no permissions, its app answers each request. Chrome stores them.
        """
        await self._emulate("permissions", commands.permissions(wanted, origin), timeout_s)

    async def set_locale(self, tag: str | None, *, timeout_s: float = SETTINGS_TIMEOUT_S) -> None:
        """Set the language of `Intl`, `navigator.language` and Accept-Language ("de-DE"); None for the device's own.

        `Intl` belongs to the renderer process, which the tabs of a WebView share.
        """
        async with self._operation(timeout_s) as op:
            user_agent = await commands.user_agent(op.attachment, op.deadline)
            await self._settings.emulate(op.attachment, "locale", commands.locale(tag, user_agent), op.deadline)

    async def set_time_zone(self, name: str | None, *, timeout_s: float = SETTINGS_TIMEOUT_S) -> None:
        """Set the time zone of `Date` and `Intl` ("Europe/Berlin") in the whole renderer process; None for the
        device's own."""
        await self._emulate("time zone", commands.time_zone(name), timeout_s)

    async def emulate_media(
        self,
        *,
        media: Literal["screen", "print"] | None = None,
        color_scheme: Literal["light", "dark", "no-preference"] | None = None,
        reduced_motion: Literal["reduce", "no-preference"] | None = None,
        forced_colors: Literal["active", "none"] | None = None,
        contrast: Literal["more", "no-preference"] | None = None,
        timeout_s: float = SETTINGS_TIMEOUT_S,
    ) -> None:
        """Set the CSS media type and media features; None leaves them to the device."""
        wanted = commands.media(media, color_scheme, reduced_motion, forced_colors, contrast)
        await self._emulate("media", wanted, timeout_s)

    async def set_extra_http_headers(
        self, headers: Mapping[str, str], *, timeout_s: float = SETTINGS_TIMEOUT_S
    ) -> None:
        """Add headers to every request of this tab, to every server; {} for none."""
        await self._emulate("extra headers", commands.extra_headers(headers), timeout_s)

    async def set_http_credentials(
        self, origin: str, username: str | None, password: str = "", *, timeout_s: float = SETTINGS_TIMEOUT_S
    ) -> None:
        """Answer the HTTP authentication of one origin; `username=None` removes the credentials.

        Wrong credentials are not tried twice: the page is then the server's 401.
        """
        credentials = None if username is None else Credentials(username, password)
        async with self._operation(timeout_s) as op:
            await self._settings.set_credentials(op.attachment, origin, credentials, op.deadline)

    async def accept_certificate(self, host: str, *, timeout_s: float = SETTINGS_TIMEOUT_S) -> None:
        """Accept certificate errors (self-signed, expired) of one host. Those of other hosts stay errors."""
        async with self._operation(timeout_s) as op:
            await self._settings.certificates.accept(op.attachment, host, op.deadline)

    async def add_init_script(self, source: str, *, timeout_s: float = SETTINGS_TIMEOUT_S) -> int:
        """Run `source` in the main world at the start of every document, from the next one on; returns its number."""
        async with self._operation(timeout_s) as op:
            return await self._settings.add_script(op.attachment, source, op.deadline)

    async def remove_init_script(self, number: int, *, timeout_s: float = SETTINGS_TIMEOUT_S) -> None:
        """Remove an init script."""
        async with self._operation(timeout_s) as op:
            await self._settings.remove_script(op.attachment, number, op.deadline)

    # For the session and the surfaces

    def held(self, by: str) -> AbstractAsyncContextManager[None]:
        """Keep operations waiting while the block runs, as when a person uses the live view; see `OperationLock`."""
        return self._operations.lock.hold(by)

    def connect(self, timeout_s: float) -> AbstractAsyncContextManager[CdpConnection]:
        """A second CDP connection to the tab, for the length of the block."""
        return self._tab.connect(timeout_s)

    async def attached(self) -> Attachment:
        """The live attachment, outside of any operation. Reopens a tab that was closed after idling."""
        return await self._operations.attach()

    def _navigation_s(self, timeout_s: float | None) -> float:
        return self.timeouts.navigation_seconds(timeout_s, NAVIGATION_TIMEOUT_S)

    def _operation(self, timeout_s: float | None, *, revisit: bool = True) -> AbstractAsyncContextManager[Operation]:
        deadline = Deadline.after(self.timeouts.seconds(timeout_s, ACTION_TIMEOUT_S))
        return self._operations.begin(deadline, revisit=revisit)

    @asynccontextmanager
    async def _action(self, timeout_s: float | None, settle_s: float = 0.0) -> AsyncIterator[Operation]:
        """An operation that takes a ref."""
        checked_seconds("settle_s", settle_s)
        async with self._operation(timeout_s) as op:
            await self._operations.handlers.run(op.deadline, inside_operation=True)
            try:
                yield op
            except (RefNotFound, StaleRef) as error:
                if self.snapshot_on_dead_ref:
                    await op.add_snapshot(error)
                raise

    async def _emulate(self, name: str, wanted: Commands, timeout_s: float) -> None:
        async with self._operation(timeout_s) as op:
            await self._settings.emulate(op.attachment, name, wanted, op.deadline)

    async def _apply_settings(self, attachment: Attachment) -> None:
        await self._settings.apply(attachment, Deadline.after(SETTINGS_TIMEOUT_S))

    @property
    def _state(self) -> PageState | None:
        present = self._tab.present
        return present.state if present else None

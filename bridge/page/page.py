"""A page: what users hold. Every public method is one operation with one deadline and one cost."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

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
from bridge.page.files.downloads import MAX_DOWNLOAD_BYTES, Destination, DownloadResult, Downloads
from bridge.page.files.uploads import Uploads, checked_paths
from bridge.page.input import gestures
from bridge.page.input.actions import checked_input_kind, option_values
from bridge.page.input.drag_and_drop import drag
from bridge.page.input.keyboard import checked_text, press_key, type_text
from bridge.page.input.query import QueryKind, QueryResult, query
from bridge.page.input.scroll import scroll
from bridge.page.input.set_checked import set_checked
from bridge.page.input.touch import Direction
from bridge.page.instrumentation import Observer, instrumented
from bridge.page.interception.fetch_messages import Credentials
from bridge.page.interception.routes import RouteHandler
from bridge.page.locators.finder import Finder
from bridge.page.locators.locators import Locator, Text
from bridge.page.logs.console import ConsoleLog
from bridge.page.logs.request_log import RequestLog
from bridge.page.navigation import navigate
from bridge.page.navigation.history import current_entry
from bridge.page.navigation.navigate import WaitUntil
from bridge.page.navigation.url import checked_url
from bridge.page.navigation.wait_for import WaitCondition, wait_for
from bridge.page.operation import Operation, Operations
from bridge.page.popups import ExpectedPopup, expected_popup
from bridge.page.results import ActionResult, NavigationResult, PageLocation, Screenshot, WaitResult
from bridge.page.snapshots.read import ReadRequest, ReadResult, read
from bridge.page.snapshots.refs import RefTable
from bridge.page.snapshots.take import SnapshotRequest
from bridge.page.tab_handle import TabHandle
from bridge.page.target.attachment import Attachment
from bridge.page.target.dialogs import DialogAnswer
from bridge.snapshot import SnapshotResult
from bridge.snapshot.escape import quoted

if TYPE_CHECKING:
    from bridge.page.target.page_state import PageState
    from bridge.reading.main_content import Mode
    from bridge.reading.markdown import LinkStyle

ACTION_TIMEOUT_S = 5.0
DOWNLOAD_TIMEOUT_S = 60.0
NAVIGATION_TIMEOUT_S = 30.0
READ_TIMEOUT_S = 10.0
SETTINGS_TIMEOUT_S = 5.0
UPLOAD_TIMEOUT_S = 30.0
_NAME_CHARS = 200


@instrumented(lambda page: page, lambda page: "")
class Page:
    """A tab of a session. Made by `session.new_tab()`.

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
    snapshot_on_dead_ref: bool = False

    def __init__(self, tab: TabHandle) -> None:
        self._tab = tab
        self._refs = RefTable()
        self._settings = PageSettings()
        self._operations = Operations(tab, self._refs)
        self.finder = Finder(self._operations, self._refs)
        tab.on_attach(self._apply_settings)

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
    def title(self) -> str:
        """The title in the last snapshot."""
        return self.last_snapshot.title if self.last_snapshot else ""

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
        self, url: str, *, wait_until: WaitUntil = "load", timeout_s: float = NAVIGATION_TIMEOUT_S
    ) -> NavigationResult:
        """Open an address and wait until it has reached `wait_until`.

        An HTTP error page is a page: the result has its status.

        Raises:
            UsageError: Not a valid URL.
            PolicyRefused: A rule forbids it; nothing was sent.
            NavigationFailed: DNS, TLS, connection refused, aborted: with Chromium's net error.
            DeadlineExceeded: Says how far the page came.
        """
        address = await self._tab.check_url(checked_url(url))
        async with self._operation(timeout_s, revisit=False) as op:
            return await navigate.goto(op, self._tab, address, wait_until)

    async def back(
        self, *, wait_until: WaitUntil = "load", timeout_s: float = NAVIGATION_TIMEOUT_S
    ) -> NavigationResult:
        """Go to the previous page in the tab's history. Raises as `goto`; UsageError if there is none."""
        async with self._operation(timeout_s) as op:
            return await navigate.travel(op, self._tab, -1, wait_until)

    async def forward(
        self, *, wait_until: WaitUntil = "load", timeout_s: float = NAVIGATION_TIMEOUT_S
    ) -> NavigationResult:
        """Go to the next page in the tab's history. Raises as `goto`; UsageError if there is none."""
        async with self._operation(timeout_s) as op:
            return await navigate.travel(op, self._tab, +1, wait_until)

    async def reload(
        self,
        *,
        ignore_cache: bool = False,
        wait_until: WaitUntil = "load",
        timeout_s: float = NAVIGATION_TIMEOUT_S,
    ) -> NavigationResult:
        """Load the document again. Raises as `goto`."""
        async with self._operation(timeout_s) as op:
            return await navigate.reload(op, self._tab, wait_until, ignore_cache=ignore_cache)

    async def get_state(self, *, timeout_s: float = ACTION_TIMEOUT_S) -> PageLocation:
        """Address and title from the browser's history; the DOM is not touched."""
        async with self._operation(timeout_s) as op:
            url, title = await current_entry(op.attachment, op.deadline)
            return PageLocation(url, title, op.cost())

    async def stop(self, *, timeout_s: float = ACTION_TIMEOUT_S) -> None:
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
        timeout_s: float = NAVIGATION_TIMEOUT_S,
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
        async with self._operation(timeout_s) as op:
            waited_ms = await wait_for(op.attachment, condition, op.deadline)
            return WaitResult(str(condition), waited_ms, op.cost())

    def expect_popup(self, *, timeout_s: float = NAVIGATION_TIMEOUT_S) -> AbstractAsyncContextManager[ExpectedPopup]:
        """`async with page.expect_popup() as popup: …click…`, then `popup.page`: the window that the block opened.

        Raises:
            DeadlineExceeded: The page opened no window.
            PolicyRefused: The policy forbids its address; the window was closed again.
        """
        return expected_popup(self._tab.popups, timeout_s=timeout_s)

    def on_dialog(self, answer: DialogAnswer) -> None:
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
        delta: bool = False,
        renumber: bool = False,
        redact: Callable[[str], str] | None = None,
        timeout_s: float = ACTION_TIMEOUT_S,
    ) -> SnapshotResult:
        """The page as a short tree of roles and names with refs. One round trip per frame, all at once.

        Args:
            scope: A CSS selector (in the main document) or a ref: only what is below it.
            more: The ref of a cut (`more=e7`): what was left out there.
            find: Only the lines with this text, in any case, and their ancestors.
            boxes: Add `[box=x,y,width,height]` in CSS pixels of the viewport. In frames that takes another round trip.
            controls_only: Only elements that can be acted on, without text, headings or structure. Similar ones share
                a line.
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
            redact: Applied to the text before it is cut: a cut in the middle of a secret would hide it from `redact`.

        Raises:
            UsageError: The selector matches nothing, or there is no such section.
        """
        request = ReadRequest(mode, max_length, selector, outline, section, links, comments, redact)
        async with self._operation(timeout_s) as op:
            result = await read(op.attachment, self._refs, request, op.deadline)
            notices = (*op.take_notices(), *result.notices)
            return replace(result, cost=op.cost(result.markdown), notices=notices)

    async def query(
        self, ref: str, kind: QueryKind, limit: int = 2_000, *, timeout_s: float = ACTION_TIMEOUT_S
    ) -> QueryResult:
        """The text, html, value, attrs, computed_styles or box of an element: one round trip.

        Raises:
            RefNotFound, StaleRef: The element is gone or has become another one.
        """
        async with self._action(timeout_s) as op:
            return await query(op.actions, ref, kind, limit, op.deadline)

    # Locators

    def locator(self, css: str) -> Locator:
        """Elements by a CSS selector, in all frames and open shadow roots."""
        return Locator(self, (), "").locator(css)

    def get_by_role(self, role: str, *, name: Text | None = None, exact: bool = False) -> Locator:
        """Perceivable elements with an ARIA role; `name` is part of their accessible name."""
        return Locator(self, (), "").get_by_role(role, name=name, exact=exact)

    def get_by_text(self, text: Text, *, exact: bool = False) -> Locator:
        """The innermost elements with this text."""
        return Locator(self, (), "").get_by_text(text, exact=exact)

    def get_by_label(self, text: Text, *, exact: bool = False) -> Locator:
        """Controls by their label, `aria-label` or `aria-labelledby`."""
        return Locator(self, (), "").get_by_label(text, exact=exact)

    def get_by_placeholder(self, text: Text, *, exact: bool = False) -> Locator:
        """Inputs by their placeholder."""
        return Locator(self, (), "").get_by_placeholder(text, exact=exact)

    def get_by_test_id(self, test_id: str) -> Locator:
        """Elements by the attribute `data-testid`."""
        return Locator(self, (), "").get_by_test_id(test_id)

    # Actions

    async def click(
        self,
        ref: str,
        *,
        timeout_s: float = ACTION_TIMEOUT_S,
        settle_s: float = 1.0,
        input: Literal["touch", "script"] = "touch",
    ) -> ActionResult:
        """Tap an element and report what changed.

        Args:
            input: "touch" taps as a finger does; "script" dispatches the events by script.
        """
        async with self._action(timeout_s, settle_s) as op:
            kind = checked_input_kind(input)
            return op.report(await op.actions.click(ref, op.deadline, settle_s=settle_s, input=kind))

    async def double_click(
        self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Tap an element twice in a row."""
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await gestures.double_click(op.actions, ref, op.deadline, settle_s=settle_s))

    async def long_press(self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0) -> ActionResult:
        """Hold a finger on an element for 0.7 s."""
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await gestures.long_press(op.actions, ref, op.deadline, settle_s=settle_s))

    async def hover(self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0) -> ActionResult:
        """Rest a mouse pointer on an element."""
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await gestures.hover(op.actions, ref, op.deadline, settle_s=settle_s))

    async def fill(
        self, ref: str, value: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Replace the content of a control, with the events that frameworks listen to: one round trip.

        Raises:
            NotEditable: The element takes no text.
            InvalidValue: It takes another format, which the message names (dates: 2026-02-28).
        """
        async with self._action(timeout_s, settle_s) as op:
            params = {"value": checked_text("value", value)}
            return op.report(await op.actions.scripted(ref, "fill", params, op.deadline, settle_s=settle_s))

    async def type(
        self, text: str, *, ref: str | None = None, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Type key by key at the end of `ref`, or where the focus is. `fill` replaces the content and is faster."""
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await type_text(op.actions, ref, text, op.deadline, settle_s=settle_s))

    async def press(
        self, key: str, *, ref: str | None = None, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Press a key (`Enter`, `a`) or chord (`Control+A`) where the focus is, or in `ref` after focusing it."""
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await press_key(op.actions, key, ref, op.deadline, settle_s=settle_s))

    async def clear(self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0) -> ActionResult:
        """Empty a control, with the events that frameworks listen to: one round trip."""
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await op.actions.scripted(ref, "clear", {}, op.deadline, settle_s=settle_s))

    async def check(self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0) -> ActionResult:
        """Tap a checkbox, radio button or switch unless it is checked, and verify that it is checked.

        Raises:
            NotCheckable: It is another kind of element, or stays unchecked.
        """
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await set_checked(op.actions, ref, True, op.deadline, settle_s=settle_s))

    async def uncheck(self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0) -> ActionResult:
        """Tap a checkbox or switch if it is checked, and verify that it is unchecked.

        Raises:
            NotUncheckable: It is another kind of element, or stays checked. To uncheck a radio button, check another.
        """
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await set_checked(op.actions, ref, False, op.deadline, settle_s=settle_s))

    async def select(
        self, ref: str, *values: str | Sequence[str], timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Select exactly these options of a `<select>`, by value or visible text, by script: one round trip.

        Raises:
            NotASelectElement: Click the options of custom list boxes instead.
            NoSuchOption: Names the options there are.
        """
        async with self._action(timeout_s, settle_s) as op:
            params = {"values": option_values(values)}
            return op.report(await op.actions.scripted(ref, "select", params, op.deadline, settle_s=settle_s))

    async def focus(self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0) -> ActionResult:
        """Focus an element: one round trip."""
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await op.actions.scripted(ref, "focus", {}, op.deadline, settle_s=settle_s))

    async def scroll_into_view(
        self, ref: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Scroll an element to the middle of its scroll containers: one round trip."""
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await op.actions.scripted(ref, "scroll_into_view", {}, op.deadline, settle_s=settle_s))

    async def drag(
        self,
        ref: str,
        to: str | None = None,
        *,
        by: tuple[float, float] | None = None,
        hold_s: float = 0.0,
        timeout_s: float = 2 * ACTION_TIMEOUT_S,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Drag an element onto another ref, or by (dx, dy) CSS pixels.

        A finger drags it. Elements with `draggable=true`, which touch does not move, get drag events by script.

        Args:
            hold_s: Hold the finger still for this long first, for lists that drag after a long press.
        """
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await drag(op.actions, ref, to, by, hold_s, op.deadline, settle_s=settle_s))

    async def swipe(
        self,
        direction: Direction,
        *,
        ref: str | None = None,
        distance_px: float = 300,
        timeout_s: float = ACTION_TIMEOUT_S,
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
        timeout_s: float = ACTION_TIMEOUT_S,
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
        timeout_s: float = ACTION_TIMEOUT_S,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Scroll by CSS pixels what scrolls around `ref` or in the middle of the page; reports if nothing moved.

        A script scrolls, and the page gets no touch events. `swipe` moves a finger.
        """
        async with self._action(timeout_s, settle_s) as op:
            return op.report(await scroll(op.actions, direction, amount, ref, op.deadline, settle_s=settle_s))

    # Files

    async def upload(
        self,
        ref: str,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
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
        wanted = checked_paths(paths)
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
        format: ImageFormat = "png",
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
        request = ScreenshotRequest(full_page, ref, format, quality, scale, annotate, max_height_px, strategy, redact)
        async with self._operation(timeout_s) as op:
            host, preferred = self._tab.host_services, self._tab.full_page_strategy
            shots = Screenshots(op.attachment, self._refs, op.snapshots, host, preferred)
            shot = await shots.take(request, op.deadline, on_progress=on_progress)
            return replace(shot, notices=(*op.take_notices(), *shot.notices))

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

    async def set_media(
        self,
        *,
        color_scheme: Literal["light", "dark"] | None = None,
        reduced_motion: bool | None = None,
        timeout_s: float = SETTINGS_TIMEOUT_S,
    ) -> None:
        """Set `prefers-color-scheme` and `prefers-reduced-motion`; None leaves them to the device."""
        await self._emulate("media", commands.media(color_scheme, reduced_motion), timeout_s)

    async def set_extra_headers(self, headers: Mapping[str, str], *, timeout_s: float = SETTINGS_TIMEOUT_S) -> None:
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

    async def attached(self) -> Attachment:
        """The live attachment, outside of any operation. Reopens a tab that was closed after idling."""
        return await self._operations.attach()

    def _operation(self, timeout_s: float, *, revisit: bool = True) -> AbstractAsyncContextManager[Operation]:
        deadline = Deadline.after(checked_seconds("timeout_s", timeout_s))
        return self._operations.begin(deadline, revisit=revisit)

    @asynccontextmanager
    async def _action(self, timeout_s: float, settle_s: float = 0.0) -> AsyncIterator[Operation]:
        """An operation that takes a ref."""
        checked_seconds("settle_s", settle_s)
        async with self._operation(timeout_s) as op:
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
        attached = self._operations.last_attached
        return attached.attachment.state if attached else None

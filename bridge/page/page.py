"""One page: what users call `page`. Every method is one operation with its own deadline and its own cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal, Protocol

from bridge.errors import UsageError
from bridge.page.actions import Actions, checked_input_kind
from bridge.page.attachment import Attachment
from bridge.page.console import ConsoleLog
from bridge.page.full_page import Progress, Strategy
from bridge.page.host_services import HostServices
from bridge.page.journal import Journal
from bridge.page.navigation import WaitUntil, checked_url, go
from bridge.page.network import NetworkLog
from bridge.page.picture import ImageFormat
from bridge.page.record import Recorder, Recording, RecordingFormat, RecordingRequest, record, recording
from bridge.page.refs import RefTable
from bridge.page.results import ActionResult, NavigationResult, Screenshot, WaitResult
from bridge.page.screenshots import ScreenshotRequest, Screenshots
from bridge.page.snapshots import SnapshotRequest, Snapshots
from bridge.page.waiting import Condition, wait_for
from bridge.snapshot import SnapshotResult

ACTION_TIMEOUT_S = 5.0
NAVIGATION_TIMEOUT_S = 30.0
_TITLE_S = 5.0


class Tab(Protocol):
    """What a page needs of its session."""

    @property
    def tab_id(self) -> str: ...

    @property
    def host_services(self) -> HostServices | None:
        """The host app's part, None for a tab of an app that is not ours."""
        ...

    @property
    def journal(self) -> Journal:
        """The session's logs."""
        ...

    @property
    def full_page(self) -> Strategy | None:
        """The strategy for whole pages that the capability probe found; None when it could not tell."""
        ...

    async def attachment(self) -> tuple[Attachment, tuple[str, ...]]:
        """A living attachment, and what had to be done to have one (such as reopening a tab that idled away)."""
        ...

    def judge(self, url: str) -> None:
        """Raise PolicyRefused when this address may not be opened."""
        ...


class Page:
    """A tab of a session. Not made directly: `session.new_tab()` gives one."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._refs = RefTable()
        self._attachment: Attachment | None = None
        self._snapshots: Snapshots | None = None
        self._actions: Actions | None = None
        # One operation at a time: two at once would tell each other's changes.
        self._turn = asyncio.Lock()

    @property
    def tab_id(self) -> str:
        """`t1`, `t2`, …: never used again in the session."""
        return self._tab.tab_id

    @property
    def url(self) -> str:
        """The address of the top document as last heard from the browser; no round trip."""
        main = self._attachment.state.main if self._attachment else None
        return main.url if main else "about:blank"

    @property
    def title(self) -> str:
        """The title as of the last snapshot; no round trip."""
        last = self._snapshots.last if self._snapshots else None
        return last.title if last else ""

    async def goto(
        self, url: str, *, wait_until: WaitUntil = "load", timeout_s: float = NAVIGATION_TIMEOUT_S
    ) -> NavigationResult:
        """Open an address and wait until it has come as far as `wait_until` says.

        An HTTP error page is a page: its status is in the result.

        Raises:
            UsageError: Not a URL.
            PolicyRefused: A rule forbids it; nothing was sent.
            NavigationFailed: DNS, TLS, refused, aborted: with Chromium's net error.
            DeadlineExceeded: Says how far the page came.
        """
        address = checked_url(url)
        self._tab.judge(address)
        async with self._turn:
            attachment, notices = await self._ready()
            with attachment.connection.measure() as meter:
                loader_id = await go(attachment, address, wait_until, timeout_s=timeout_s)
                title = await self._title(attachment)
            state = attachment.state
            answer = state.responses.get(loader_id) or state.responses.get(state.main.loader_id if state.main else "")
            return NavigationResult(
                url=self.url,
                title=title,
                status=answer.status if answer else None,
                waited_for=wait_until,
                cost=meter.cost(),
                notices=notices,
            )

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
        renumber: bool = False,
        timeout_s: float = ACTION_TIMEOUT_S,
    ) -> SnapshotResult:
        """The page as a short tree of roles and names with refs: one round trip per frame, all at once.

        Args:
            scope: A CSS selector (top document) or a ref: only what is below it.
            more: The ref of a cut (`more=e7`): what was left out there.
            renumber: Start again at e1; every earlier ref is dead then.

        Raises:
            UsageError: `scope` matches nothing.
            RefNotFound: `scope` or `more` is a ref that is gone.
        """
        if scope and more:
            raise UsageError("scope and more exclude each other")
        request = SnapshotRequest(
            interactive_only=interactive_only,
            cursor_interactive=cursor_interactive,
            max_chars=max_chars,
            max_nodes=max_nodes,
            max_depth=max_depth,
            scope=scope,
            more=more,
        )
        async with self._turn:
            attachment, _ = await self._ready()
            assert self._snapshots is not None
            if renumber:
                self._refs.forget_numbers()
            with attachment.connection.measure() as meter:
                result = await self._snapshots.take(request, timeout_s=timeout_s)
            return replace(result, cost=meter.cost())

    async def click(
        self,
        ref: str,
        *,
        timeout_s: float = ACTION_TIMEOUT_S,
        settle_s: float = 1.0,
        input: Literal["touch", "script"] = "touch",
    ) -> ActionResult:
        """Tap the element of `ref` and tell what changed.

        Args:
            input: "touch" taps as a finger does; "script" sends the synthetic event sequence instead.

        Raises:
            RefNotFound, StaleRef: The element is gone or has become something else; says what it was.
            NotVisible, ElementDisabled, Covered: It could not be tapped until the deadline.
            DeadlineExceeded: With what was in the way.
        """
        kind = checked_input_kind(input)
        return await self._act(lambda actions: actions.click(ref, timeout_s=timeout_s, settle_s=settle_s, input=kind))

    async def fill(
        self, ref: str, value: str, *, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Replace what the control holds by `value`, as frameworks notice it: one round trip.

        Raises:
            NotEditable: The element takes no text.
            InvalidValue: It takes another form, which the message names (dates: 2026-02-28).
        """
        return await self._scripted(ref, "fill", {"value": value}, timeout_s, settle_s)

    async def press(
        self, key: str, *, ref: str | None = None, timeout_s: float = ACTION_TIMEOUT_S, settle_s: float = 1.0
    ) -> ActionResult:
        """Press a key (`Enter`, `a`) or chord (`Control+A`) on the focused element, or on `ref` after focusing it."""
        return await self._act(lambda actions: actions.press(key, ref=ref, timeout_s=timeout_s, settle_s=settle_s))

    async def wait_for(
        self,
        *,
        selector: str | None = None,
        role: str | None = None,
        name: str | None = None,
        text: str | None = None,
        url: str | None = None,
        gone: str | None = None,
        timeout_s: float = NAVIGATION_TIMEOUT_S,
    ) -> WaitResult:
        """Wait in the page until the one condition given is met; survives navigations.

        Raises:
            DeadlineExceeded: Says what was there instead.
        """
        condition = Condition(selector=selector, role=role, name=name, text=text, url=url, gone=gone)
        async with self._turn:
            attachment, _ = await self._ready()
            with attachment.connection.measure() as meter:
                waited_ms = await wait_for(attachment, condition, timeout_s=timeout_s)
            return WaitResult(str(condition), waited_ms, meter.cost())

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
        timeout_s: float = 30.0,
        on_progress: Progress | None = None,
    ) -> Screenshot:
        """A picture of the viewport, of the whole page or of one element; the scroll position stays what it was.

        Args:
            scale: "css" gives one pixel per CSS pixel, "device" what the device draws.
            annotate: Draw numbered boxes equal to the refs of a snapshot taken with it.
            max_height_px: Of the picture; a longer page is cut there and `truncated` says so.
            strategy: How a whole page is captured; "auto" begins with what the capability probe found.
            on_progress: Told the rows that are done and all rows, during a long capture.

        Raises:
            CaptureFailed: The engine gave no picture, or none of the right size.
            RefNotFound, StaleRef, NotVisible: The element is gone, or cannot be seen.
        """
        request = ScreenshotRequest(full_page, ref, format, quality, scale, annotate, max_height_px, strategy)
        async with self._turn:
            attachment, notices = await self._ready()
            assert self._snapshots is not None
            shots = Screenshots(attachment, self._refs, self._snapshots, self._tab.host_services, self._tab.full_page)
            shot = await shots.take(request, timeout_s=timeout_s, on_progress=on_progress)
            return replace(shot, notices=(*notices, *shot.notices)) if notices else shot

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
        """What is drawn in the next `duration_s` seconds, as an animated WebP or GIF; see `recording` for a block."""
        request = RecordingRequest(format, max_frames, max_bytes, max(duration_s, 0.05), max_width_px, max_fps)
        attachment, _ = await self._ready()
        return await record(attachment, request, duration_s, timeout_s=timeout_s, on_frame=on_frame)

    @asynccontextmanager
    async def recording(
        self, *, timeout_s: float = 10.0, on_frame: Callable[[int, int], None] | None = None, **bounds: Any
    ) -> AsyncIterator[Recorder]:
        """Record what the block does: `async with page.recording() as recorder: …`, then `recorder.result`.

        Args:
            bounds: The fields of `RecordingRequest`.
        """
        attachment, _ = await self._ready()
        request = RecordingRequest(**bounds)
        async with recording(attachment, request, timeout_s=timeout_s, on_frame=on_frame) as recorder:
            yield recorder

    def console(
        self, *, level: str | None = None, text: str | None = None, after: int = 0, limit: int = 100
    ) -> ConsoleLog:
        """What this tab's pages have logged since it was opened, uncaught errors included; costs nothing.

        Args:
            level: The least severe that is wanted: debug, info, warning or error.
            after: Only entries with a higher number, such as `last` of an earlier log.
        """
        return self._tab.journal.console(tab_id=self.tab_id, level=level, text=text, after=after, limit=limit)

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
    ) -> NetworkLog:
        """The requests of this tab since it was opened; costs nothing.

        Args:
            url: A part of the address, or a glob where it has a `*`.
            status: A number, or a class such as "4xx".
        """
        return self._tab.journal.network(
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
        """The requests of this tab as HAR 1.2; credentials in headers are left out unless `redact` is off."""
        return self._tab.journal.har(tab_id=self.tab_id, redact=redact)

    async def _scripted(
        self, ref: str, action: str, params: Mapping[str, Any], timeout_s: float, settle_s: float
    ) -> ActionResult:
        return await self._act(
            lambda actions: actions.scripted(ref, action, params, timeout_s=timeout_s, settle_s=settle_s)
        )

    async def _act(self, run: Callable[[Actions], Awaitable[ActionResult]]) -> ActionResult:
        async with self._turn:
            _, notices = await self._ready()
            assert self._actions is not None
            result = await run(self._actions)
            return replace(result, notices=notices) if notices else result

    async def _ready(self) -> tuple[Attachment, tuple[str, ...]]:
        attachment, notices = await self._tab.attachment()
        if attachment is not self._attachment:
            self._attachment = attachment
            self._snapshots = Snapshots(attachment, self._refs)
            self._actions = Actions(attachment, self._refs, self._snapshots)
        return attachment, notices

    async def _title(self, attachment: Attachment) -> str:
        main = attachment.state.main
        found = await attachment.evaluate(main.frame_id if main else "", "document.title", timeout_s=_TITLE_S)
        return str(found or "")

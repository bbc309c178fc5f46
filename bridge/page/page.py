"""One page: what users call `page`. Every method is one operation with its own deadline and its own cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from bridge.errors import BridgeError, UsageError
from bridge.page.acting import ACTION_TIMEOUT_S
from bridge.page.actions import Actions
from bridge.page.asides import Asides
from bridge.page.attachment import Attachment
from bridge.page.dialogs import DialogAnswer
from bridge.page.emulated import SETUP_TIMEOUT_S, EmulatedPage
from bridge.page.emulation import PageSetup
from bridge.page.filed import FiledPage, FiledTab
from bridge.page.locating import LocatingPage
from bridge.page.navigating import NAVIGATION_TIMEOUT_S, NavigatedTab, NavigatingPage
from bridge.page.observed import ObservedPage, ObservedTab
from bridge.page.operations import observable
from bridge.page.popups import ExpectedPopup, OpenedPages, expected_popup
from bridge.page.reading import ReadRequest, ReadResult, read
from bridge.page.refs import RefTable
from bridge.page.results import ActionResult, WaitResult
from bridge.page.snapshots import SnapshotRequest, Snapshots
from bridge.page.turn import Budget, Turn
from bridge.page.waiting import Condition, wait_for
from bridge.snapshot import SnapshotResult, snapshot_delta
from bridge.snapshot.escape import quoted

if TYPE_CHECKING:
    from bridge.reading.main_content import Mode
    from bridge.reading.markdown import LinkStyle

READ_TIMEOUT_S = 10.0
_UNTOLD_KEPT = 5
_NAME_CHARS = 200


class Tab(NavigatedTab, ObservedTab, FiledTab, Protocol):
    """What a page needs of its session."""

    @property
    def tab_id(self) -> str: ...

    async def attachment(
        self, *, revisit: bool = True, budget: Budget | None = None
    ) -> tuple[Attachment, tuple[str, ...]]:
        """A living attachment, and what had to be done to have one (such as reopening a tab that idled away).

        A tab that had to be opened again is at its address again, without `revisit` at a blank page; `budget` gives
        what that may take, and is told whether device or app had to come back first."""
        ...

    @property
    def asides(self) -> Asides:
        """What happens beside the page."""
        ...

    def popups(self) -> AbstractContextManager[OpenedPages]:
        """Windows that this tab opens inside the block."""
        ...

    def on_attach(self, prepare: Callable[[Attachment], Awaitable[None]]) -> None:
        """Await `prepare` with every fresh attachment, before any address is loaded in it."""
        ...

    async def look_into(self, error: BridgeError) -> BridgeError:
        """What stands behind an operation's error, after what could be done about it."""
        ...


@observable(lambda page: page, lambda page: "")
class Page(NavigatingPage, LocatingPage, ObservedPage, FiledPage, EmulatedPage):
    """A tab of a session. Not made directly: `session.new_tab()` gives one.

    Attributes:
        observer: Sees every operation on this page, its locators and what is expected of them (bridge.page.operations).
    """

    _turn: Turn

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._refs = RefTable()
        self._untold: tuple[str, ...] = ()
        self._attachment: Attachment | None = None
        self._snapshots: Snapshots | None = None
        self._actions: Actions | None = None
        self._setup = PageSetup()
        self._turn = Turn(tab.look_into)
        self.observer = None
        tab.on_attach(self._prepare)

    @property
    def tab_id(self) -> str:
        """`t1`, `t2`, …: never used again in the session."""
        return self._tab.tab_id

    def __repr__(self) -> str:
        return f"<Page {self.tab_id}>"

    @property
    def _navigated(self) -> NavigatedTab:
        return self._tab

    @property
    def _observed(self) -> ObservedTab:
        return self._tab

    @property
    def _filed(self) -> FiledTab:
        return self._tab

    @property
    def url(self) -> str:
        """The address of the top document as last heard from the browser; no round trip."""
        main = self._attachment.state.main if self._attachment else None
        return main.url if main else "about:blank"

    @property
    def title(self) -> str:
        """The title as of the last snapshot; no round trip."""
        last = self.last_snapshot
        return last.title if last else ""

    @property
    def last_snapshot(self) -> SnapshotResult | None:
        """What was shown last, by a snapshot or by an action's delta; no round trip."""
        return self._snapshots.last if self._snapshots else None

    def document_url(self, ref: str) -> str:
        """Where the document is, perhaps a frame's, that a ref was shown in; "" when it is gone. No round trip."""
        state = self._attachment.state if self._attachment else None
        entry = self._refs.shown_as(ref)
        frame = state.frames.get(entry.frame_id) if state and entry else None
        return frame.url if frame else ""

    def described(self, ref: str) -> str:
        """`button "Pay"`: what a ref was when it was shown, on one line; "" for one that was not. No round trip."""
        entry = self._refs.shown_as(ref)
        return f"{entry.role} {quoted(entry.name, _NAME_CHARS)}" if entry else ""

    def on_dialog(self, answer: DialogAnswer) -> None:
        """How dialogs are answered from now on.

        Args:
            answer: "default" accepts alert and beforeunload and dismisses confirm and prompt; "accept"; "dismiss"; or
                a function of the Dialog that gives True, False, the text for a prompt, or None for the default. It may
                be a coroutine function, has two seconds, and must not call the page.

        Whatever the answer, the dialog is told with the next result (`changes.dialogs`, or its notices).
        """
        self._setup.dialogs.set_answer(answer)

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
        """The page as a short tree of roles and names with refs: one round trip per frame, all at once.

        Args:
            scope: A CSS selector (top document) or a ref: only what is below it.
            more: The ref of a cut (`more=e7`): what was left out there.
            find: Only the lines with these words (in any case), and what they stand in.
            boxes: With `[box=x,y,width,height]` in CSS pixels of the page's viewport, also in frames, for each of which
                that takes a round trip more.
            controls_only: Only what can be acted on: no texts, no headings, no structure; alike ones share a line.
            delta: `text` tells what changed since the last snapshot of the whole page; the whole where that is not
                longer, or there was none.
            renumber: Start again at e1: a ref of an earlier result is refused then, also where its number is given
                out again; a ref written as text means what is shown from here on.
            redact: Applied to the words in which `find` looks: finding a part of a secret would tell it.

        Raises:
            UsageError: `scope` matches nothing.
            RefNotFound: `scope` or `more` is a ref that is gone.
        """
        if scope and more:
            raise UsageError("scope and more exclude each other")
        if delta and (scope or more or find or controls_only):
            raise UsageError("delta tells about the whole page; scope, more, find and controls_only show a part of it")
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
        async with self._turn.within(timeout_s) as timeout_s:
            attachment = await self._here()
            timeout_s = self._turn.left(timeout_s)
            assert self._snapshots is not None
            if renumber:
                self._refs.number_anew()
                self._snapshots.last = None
            before = self._snapshots.last if delta else None
            with attachment.connection.measure() as meter:
                result = await self._snapshots.take(request, timeout_s=timeout_s)
                if before is not None:
                    alive = await self._snapshots.alive(before, timeout_s=timeout_s)
                    delta_text = snapshot_delta(before, result, max_chars=max_chars, alive=alive).text
                    result = replace(result, text=delta_text)
            return replace(result, cost=meter.cost(result.text))

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
        """Wait until the one condition given is met; survives navigations.

        Args:
            url: A glob over the whole address: `**/checkout`.
            gone: A selector that must match nothing visible.
            function: JavaScript of yours, an expression or a function, run in the page's own world until it gives
                something truthy.
            redact: Applied to the page's words and addresses before `text`, `name` and `url` are compared with them.

        Raises:
            DeadlineExceeded: Says what was there instead.
        """
        condition = Condition(selector, role, name, text, url, gone, function, redact)
        async with self._turn.within(timeout_s) as timeout_s:
            attachment = await self._here()
            timeout_s = self._turn.left(timeout_s)
            with attachment.connection.measure() as meter:
                waited_ms = await wait_for(attachment, condition, timeout_s=timeout_s)
            return WaitResult(str(condition), waited_ms, meter.cost())

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
        """The page as Markdown, of what is laid out and seen: one round trip. A page that is still empty is waited for.

        Args:
            mode: "main_content" leaves out what surrounds the text, "article" also where the page looks like a list,
                "raw" is the whole body.
            max_length: Characters at most; 0 is no limit. What is cut is said at the end.
            selector: Only what is below the first element that this finds.
            outline: Only the headings, with their anchors.
            section: Only what is below the heading with these words or this anchor.
            links: "inline" with addresses, "ref" with refs that can be clicked (`[Next](e7)`), "none" without.
            comments: The readers' comments too.
            redact: Applied to the text before it is cut: a cut in the middle of a secret would hide it.

        Raises:
            UsageError: The selector matches nothing, or there is no such section.
        """
        request = ReadRequest(mode, max_length, selector, outline, section, links, comments, redact)
        async with self._turn.within(timeout_s) as timeout_s:
            attachment, notices = await self._ready()
            timeout_s = self._turn.left(timeout_s)
            with attachment.connection.measure() as meter:
                result = await read(attachment, self._refs, request, timeout_s=timeout_s)
            return replace(result, cost=meter.cost(result.markdown), notices=(*notices, *result.notices))

    def expect_popup(self, *, timeout_s: float = NAVIGATION_TIMEOUT_S) -> AbstractAsyncContextManager[ExpectedPopup]:
        """`async with page.expect_popup() as popup: …click…`, then `popup.page`: the window that the block opened.

        Raises:
            DeadlineExceeded: None was opened.
            PolicyRefused: Its address may not be opened; it is closed again.
        """
        return expected_popup(self._tab.popups, timeout_s=timeout_s)

    def held(self, by: str) -> AbstractAsyncContextManager[None]:
        """Keep operations waiting while the block runs, as a person's hands are on the page; see `Turn.held`."""
        return self._turn.held(by)

    async def attached(self) -> Attachment:
        """The living attachment, for what stands between page and session; opens a tab again that idled away."""
        return await self._here()

    def _asides(self) -> tuple[str, ...]:
        schemes = self._attachment.state.take_schemes_for_apps() if self._attachment else ()
        return self._tab.asides.take_untold(schemes)

    async def _tap(self, ref: str, timeout_s: float) -> ActionResult:
        assert self._actions is not None
        return await self._actions.click(ref, timeout_s=timeout_s, settle_s=0.0)

    async def _prepare(self, attachment: Attachment) -> None:
        await self._setup.apply(attachment, timeout_s=SETUP_TIMEOUT_S)

    async def _ready(self, *, revisit: bool = True) -> tuple[Attachment, tuple[str, ...]]:
        attachment, notices = await self._tab.attachment(revisit=revisit, budget=self._turn.budget)
        if attachment is not self._attachment:
            self._attachment = attachment
            self._snapshots = Snapshots(attachment, self._refs)
            self._actions = Actions(attachment, self._refs, self._snapshots, self._tab.asides)
        opened = notices
        notices = (*self._untold, *self._turn.take_waited(), *opened)
        self._untold = notices[-_UNTOLD_KEPT:]
        if opened:
            self._turn.check_left(opened[-1])  # what is told then is untold yet
        self._untold = ()
        return attachment, notices

    async def _here(self) -> Attachment:
        """As `_ready`, for what tells no notices: they wait for the next result that does."""
        attachment, notices = await self._ready()
        self._untold = notices[-_UNTOLD_KEPT:]
        return attachment

"""What each kind of operation does with a page, and the shape it answers in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from bridge.cost import Cost
from bridge.errors import BridgeError, TabLost
from bridge.ops import models, results
from bridge.ops.secrets import Secrets
from bridge.page.input.side_effects import window_opened
from bridge.snapshot.escape import cut, plain, quoted

if TYPE_CHECKING:
    from bridge.page.logs.console import ConsoleLog
    from bridge.page.logs.request_log import RequestLog
    from bridge.page.navigation.navigate import WaitUntil
    from bridge.page.page import Page
    from bridge.page.results import ActionResult, NavigationResult
    from bridge.session.session import Session

_LINE_CHARS = 1_000
_NAME_CHARS = 200
_EVERYTHING = 1_000_000


@dataclass(frozen=True, slots=True)
class HandlerResult:
    """An operation that went well.

    Attributes:
        cost: None where the page's own method did not measure it.
        notices: What a person should know, perhaps with an address or a word of the page in it.
        own_notices: The same, in words of ours.
    """

    result: results.Result
    cost: Cost | None = None
    notices: tuple[str, ...] = ()
    own_notices: tuple[str, ...] = ()
    image_bytes: bytes | None = None


class Handlers:
    """The operations on tabs of a session, the last of which is the current one.

    They are those that operations have opened, and the windows that their pages have; a session may have others.
    A window becomes current when it appears, because no operation could reach it otherwise. What an operation wants
    forgotten of a log is only left out from then on: the session's own logs stay whole for traces and failure bundles.
    """

    def __init__(self, session: Session, secrets: Secrets) -> None:
        self._session = session
        self._secrets = secrets
        self._tabs: list[Page] = []
        self._cleared: dict[tuple[str, str], int] = {}

    async def close(self) -> None:
        """Close the tabs."""
        await self._session.wait_for_popups()
        self._take_windows()
        for page in self._tabs:
            await self._session.close_tab(page)
        self._tabs.clear()

    async def run(self, operation: models.Operation) -> HandlerResult:
        await self._session.wait_for_popups()
        before = self._tabs[-1:]
        self._take_windows()
        if not set(before) <= set(self._tabs):
            # It was asked for with the other page in mind.
            raise TabLost(f"{before[0].tab_id} is gone: its page closed its own window.", hint=self._current_now())
        done = await self._carry_out(operation)
        await self._session.wait_for_popups()
        before = self._tabs[-1:]
        opened = self._take_windows()
        notices = tuple(f"the page opened a window: {page.tab_id}, which is the current tab now" for page in opened)
        if not opened and not set(before) <= set(self._tabs):
            notices = (f"{before[0].tab_id} has closed itself. {self._current_now()}",)
        told = {window_opened(page.tab_id) for page in opened}
        rest = tuple(notice for notice in done.notices if notice not in told)
        return replace(done, notices=rest, own_notices=notices) if notices else done

    async def _carry_out(self, operation: models.Operation) -> HandlerResult:
        match operation:
            case models.Navigate():
                return await self._navigate(operation)
            case models.Snapshot():
                return await self._snapshot(operation)
            case models.Read():
                return await self._read(operation)
            case models.Click():
                return self._acted(await self._page().click(operation.ref))
            case models.Fill():
                return await self._fill(operation)
            case models.Press():
                return self._acted(await self._page().press(operation.key))
            case models.Select():
                return self._acted(await self._page().select(operation.ref, operation.values))
            case models.Upload():
                return self._acted(await self._page().upload(operation.ref, operation.paths), files=operation.paths)
            case models.Download():
                return await self._download(operation)
            case models.Screenshot():
                return await self._screenshot(operation)
            case models.GetState():
                return await self._get_state()
            case models.WaitFor():
                return await self._wait_for(operation)
            case models.NetworkLog():
                return self._network_log(operation)
            case models.Console():
                return self._console(operation)
            case models.NewTab():
                return await self._new_tab(operation)
            case models.CloseTab():
                return await self._close_tab()
            case models.Back():
                return self._location(await self._page().back())
            case models.Forward():
                return self._location(await self._page().forward())
        assert_never(operation)

    @property
    def current(self) -> Page | None:
        return self._tabs[-1] if self._tabs else None

    @property
    def url(self) -> str:
        return self._tabs[-1].url if self._tabs else ""

    async def fresh_snapshot(self) -> tuple[str, str]:
        """The page as it is now and its address, for whoever named a ref that is no more; "" when it cannot be had."""
        if not self._tabs:
            return "", ""
        try:
            shot = await self._tabs[-1].snapshot()
        except BridgeError:
            return "", ""
        return shot.text, shot.url

    def _take_windows(self) -> list[Page]:
        """Leave out what has been closed, and put the windows that have been opened at the end; those windows."""
        there = self._session.pages
        self._tabs = [page for page in self._tabs if page in there]
        opened: list[Page] = []
        for page in there:  # oldest first, so the window of a window comes after its opener
            ours = {known.tab_id for known in (*self._tabs, *opened)}
            if page.tab_id not in ours and self._session.opener_of(page) in ours:
                opened.append(page)
        self._tabs += opened
        return opened

    def _current_now(self) -> str:
        tab = self._tabs[-1].tab_id if self._tabs else ""
        return f"The current tab is {tab} now." if tab else "No tab is open; navigate opens one."

    def _page(self) -> Page:
        if not self._tabs:
            raise TabLost("no tab is open.", hint="navigate opens one.")
        return self._tabs[-1]

    async def _navigate(self, operation: models.Navigate) -> HandlerResult:
        if not self._tabs:
            await self._session.check_url(operation.url)
            self._tabs.append(await self._session.new_tab())
        wait_until: WaitUntil = "load" if operation.wait_until_loaded else "commit"
        return self._location(await self._page().goto(operation.url, wait_until=wait_until))

    async def _get_state(self) -> HandlerResult:
        page = self._page()
        state = await page.get_state()
        return HandlerResult(results.Location(tab=page.tab_id, url=state.url, title=plain(state.title)), state.cost)

    async def _new_tab(self, operation: models.NewTab) -> HandlerResult:
        """A tab whose address does not open is closed again: a failed operation leaves nothing."""
        page = await self._session.new_tab(operation.url)
        self._tabs.append(page)
        state = await page.get_state()
        return HandlerResult(results.Location(tab=page.tab_id, url=state.url, title=plain(state.title)))

    async def _close_tab(self) -> HandlerResult:
        page = self._page()
        await self._session.close_tab(page)
        self._take_windows()
        return HandlerResult(results.Closed(closed=page.tab_id, current=self._tabs[-1].tab_id if self._tabs else None))

    async def _snapshot(self, operation: models.Snapshot) -> HandlerResult:
        shot = await self._page().snapshot(
            interactive_only=operation.interactive_only,
            scope=self._secrets.checked_selector(operation.scope),
            delta=operation.delta,
        )
        text = results.PageText(
            text=shot.text,
            url=shot.url,
            title=plain(shot.title),
            truncated=shot.stats.truncated,
            truncate_reasons=list(shot.stats.truncate_reasons),
            hidden_text_removed=int(shot.stats.js_stats.get("hiddenTextRemoved", 0)),
            refs=len(shot.refs),
        )
        return HandlerResult(text, shot.cost)

    async def _read(self, operation: models.Read) -> HandlerResult:
        read = await self._page().read(
            mode=operation.mode, max_length=operation.max_length, redact=self._secrets.redact
        )
        text = results.PageText(
            text=read.markdown,
            url=read.url,
            title=plain(read.title),
            truncated=read.truncated,
            hidden_text_removed=read.hidden_text_removed,
        )
        return HandlerResult(text, read.cost, read.notices)

    async def _fill(self, operation: models.Fill) -> HandlerResult:
        page = self._page()
        value = self._secrets.revealed_at(operation.value, page, operation.ref)
        return self._acted(await page.fill(operation.ref, value))

    async def _download(self, operation: models.Download) -> HandlerResult:
        # A page may make its own data: and blob: addresses; a model's are judged like any other.
        url = await self._session.check_url(operation.url)
        saved = await self._page().download(url=url, dest_path=operation.dest_path)
        shown = results.FileSaved(path=operation.dest_path, bytes=saved.size_bytes, mime=saved.mime or None)
        return HandlerResult(shown, saved.cost, saved.notices)

    async def _screenshot(self, operation: models.Screenshot) -> HandlerResult:
        picture = await self._page().screenshot(
            full_page=operation.full_page,
            ref=operation.ref,
            annotate=operation.annotate,
            redact=self._secrets.redactor,
        )
        legend = "\n".join(f"{box.ref}: {box.role} {quoted(box.name, _NAME_CHARS)}" for box in picture.legend)
        shown = results.Picture(
            format=picture.format,
            width_px=picture.width_px,
            height_px=picture.height_px,
            scale=picture.scale,
            strategy=picture.strategy,
            truncated=picture.truncated,
            legend=legend,
        )
        return HandlerResult(shown, picture.cost, image_bytes=picture.image_bytes)

    async def _wait_for(self, operation: models.WaitFor) -> HandlerResult:
        waited = await self._page().wait_for(
            selector=self._secrets.checked_selector(operation.selector),
            role=operation.role,
            timeout_s=operation.timeout_ms / 1000,
        )
        return HandlerResult(results.Waited(awaited=waited.awaited, waited_ms=waited.waited_ms), waited.cost)

    def _network_log(self, operation: models.NetworkLog) -> HandlerResult:
        key = (self._page().tab_id, "network")
        return self._log(self._page().network(after=self._cleared.get(key, 0), limit=_EVERYTHING), key, operation)

    def _console(self, operation: models.Console) -> HandlerResult:
        key = (self._page().tab_id, "console")
        return self._log(self._page().console(after=self._cleared.get(key, 0), limit=_EVERYTHING), key, operation)

    def _log(
        self, log: RequestLog | ConsoleLog, key: tuple[str, str], operation: models.NetworkLog | models.Console
    ) -> HandlerResult:
        if operation.clear:
            self._cleared[key] = log.last
        # Redacted before they are filtered and cut: neither may tell what a secret begins with.
        lines = [self._secrets.redact_line(str(entry)) for entry in log.entries]
        wanted = (operation.filter or "").casefold()
        fitting = [line for line in lines if wanted in line.casefold()]
        shown = [cut(line, _LINE_CHARS) for line in fitting[-operation.limit :]]
        older = len(fitting) - len(shown)
        return HandlerResult(
            results.LogLines(text="\n".join(shown), entries=len(shown), older=older, dropped=log.dropped)
        )

    def _location(self, found: NavigationResult) -> HandlerResult:
        where = results.Location(tab=self._page().tab_id, url=found.url, title=plain(found.title), status=found.status)
        return HandlerResult(where, found.cost, found.notices)

    def _acted(self, outcome: ActionResult, files: list[str] | None = None) -> HandlerResult:
        shown = results.ActionOutcome(
            action=outcome.action,
            ref=outcome.ref,
            changes=outcome.changes.text,
            settled=outcome.changes.settled,
            value=outcome.value,
            values=list(outcome.values) if outcome.values is not None else None,
            checked=outcome.checked,
            files=files,
        )
        return HandlerResult(shown, outcome.cost, outcome.notices)

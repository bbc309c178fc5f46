"""Runs each kind of operation on the current tab and shapes its result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from bridge.cost import Cost
from bridge.errors import BridgeError, TabLost
from bridge.ops import models, results
from bridge.ops.acting import act
from bridge.ops.secrets import Secrets
from bridge.page.input.side_effects import window_opened
from bridge.page.verbs import VERBS
from bridge.session import TabCursor
from bridge.snapshot.escape import cut, plain, quoted

if TYPE_CHECKING:
    from bridge.page.logs.console import ConsoleLog
    from bridge.page.logs.request_log import RequestLog
    from bridge.page.navigation.navigate import WaitUntil
    from bridge.page.page import Page
    from bridge.page.results import NavigationResult
    from bridge.session import Session

_LINE_CHARS = 1_000
_NAME_CHARS = 200
_EVERYTHING = 1_000_000


@dataclass(frozen=True, slots=True)
class HandlerResult:
    """The result of an operation that succeeded.

    Attributes:
        cost: None if the page's method did not measure it.
        notices: Sentences for a person that may quote an address or the page.
        own_notices: Sentences in the bridge's own words.
    """

    result: results.Result
    cost: Cost | None = None
    notices: tuple[str, ...] = ()
    own_notices: tuple[str, ...] = ()
    image_bytes: bytes | None = None


class Handlers:
    """Runs each kind of operation on the tabs that operations have opened and on their popups.

    A popup becomes the current tab, because no operation could reach it otherwise. Clearing a log hides its entries
    from later operations; the session's log stays whole for traces and failure bundles.
    """

    def __init__(self, session: Session, secrets: Secrets) -> None:
        self._session = session
        self._secrets = secrets
        self._tabs = TabCursor(session, owns="opened", popups="follow", open_hint="navigate opens one.")
        self._cleared: dict[tuple[str, str], int] = {}

    async def close(self) -> None:
        """Close the tabs."""
        await self._tabs.close_all()

    async def run(self, operation: models.Operation) -> HandlerResult:
        await self._tabs.adopt_popups()
        self._tabs.check_current()
        done = await self._dispatch(operation)
        opened, closed = await self._tabs.adopt_popups(), self._tabs.take_closed()
        notices = tuple(f"the page opened a window: {page.tab_id}, which is the current tab now" for page in opened)
        if not opened and closed is not None:
            notices = (f"{closed.tab_id} has closed itself. {self._tabs.describe_current()}",)
        noted = {window_opened(page.tab_id) for page in opened}
        rest = tuple(notice for notice in done.notices if notice not in noted)
        return replace(done, notices=rest, own_notices=notices) if notices else done

    async def _dispatch(self, operation: models.Operation) -> HandlerResult:
        match operation:
            case models.Navigate():
                return await self._navigate(operation)
            case models.Snapshot():
                return await self._snapshot(operation)
            case models.Read():
                return await self._read(operation)
            case models.Click() | models.Fill() | models.Press() | models.Select() | models.Upload():
                return await self._act(operation)
            case models.DownloadFile():
                return await self._download(operation)
            case models.CaptureScreenshot():
                return await self._screenshot(operation)
            case models.GetState():
                return await self._get_state()
            case models.WaitFor():
                return await self._wait_for(operation)
            case models.NetworkLog():
                return self._log(self._session.logs.network(limit=_EVERYTHING), operation)
            case models.Console():
                return self._log(self._session.logs.console(limit=_EVERYTHING), operation)
            case models.NewTab():
                return await self._new_tab(operation)
            case models.CloseTab():
                return await self._close_tab()
            case models.Back():
                return self._location(await self._tabs.page().go_back())
            case models.Forward():
                return self._location(await self._tabs.page().go_forward())
        assert_never(operation)

    @property
    def current(self) -> Page | None:
        return self._tabs.current

    @property
    def url(self) -> str:
        return self._tabs.current.url if self._tabs.current is not None else ""

    async def fresh_snapshot(self) -> tuple[str, str]:
        """A snapshot of the current page and its address, after a stale ref; ("", "") if it fails."""
        if self._tabs.current is None:
            return "", ""
        try:
            shot = await self._tabs.current.snapshot()
        except BridgeError:
            return "", ""
        return shot.text, shot.url

    async def _navigate(self, operation: models.Navigate) -> HandlerResult:
        if self._tabs.current is None:
            await self._session.check_url(operation.url)
            self._tabs.add(await self._session.new_page())
        wait_until: WaitUntil = "load" if operation.wait_until_loaded else "commit"
        return self._location(await self._tabs.page().goto(operation.url, wait_until=wait_until))

    async def _get_state(self) -> HandlerResult:
        page = self._tabs.page()
        state = await page.get_state()
        return HandlerResult(results.Location(tab=page.tab_id, url=state.url, title=plain(state.title)), state.cost)

    async def _new_tab(self, operation: models.NewTab) -> HandlerResult:
        page = await self._session.new_page(operation.url)  # closes the tab again if the address does not load
        self._tabs.add(page)
        state = await page.get_state()
        return HandlerResult(results.Location(tab=page.tab_id, url=state.url, title=plain(state.title)))

    async def _close_tab(self) -> HandlerResult:
        page = self._tabs.page()
        await self._tabs.close(page)
        self._tabs.sync()
        current = self._tabs.current
        return HandlerResult(results.Closed(closed=page.tab_id, current=current.tab_id if current else None))

    async def _snapshot(self, operation: models.Snapshot) -> HandlerResult:
        shot = await self._tabs.page().snapshot(
            interactive_only=operation.interactive_only,
            text=operation.delta or not operation.interactive_only,
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
        read = await self._tabs.page().read(
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

    async def _act(
        self, operation: models.Click | models.Fill | models.Press | models.Select | models.Upload
    ) -> HandlerResult:
        page, given = self._tabs.page(), operation.model_dump()
        ref = given.pop("ref", None)
        outcome = await act(page, VERBS[operation.kind], ref, given, self._secrets)
        shown = results.ActionOutcome(
            action=outcome.action,
            ref=outcome.ref,
            changes=outcome.changes.text,
            settled=outcome.changes.settled,
            value=outcome.value,
            values=list(outcome.values) if outcome.values is not None else None,
            checked=outcome.checked,
            files=given.get("paths"),
        )
        return HandlerResult(shown, outcome.cost, outcome.notices)

    async def _download(self, operation: models.DownloadFile) -> HandlerResult:
        # A page may create data: and blob: addresses; an address from a model is subject to the policy.
        url = await self._session.check_url(operation.url)
        saved = await self._tabs.page().download(url=url, dest_path=operation.dest_path)
        shown = results.FileSaved(path=operation.dest_path, bytes=saved.size_bytes, mime=saved.mime or None)
        return HandlerResult(shown, saved.cost, saved.notices)

    async def _screenshot(self, operation: models.CaptureScreenshot) -> HandlerResult:
        screenshot = await self._tabs.page().screenshot(
            full_page=operation.full_page,
            ref=operation.ref,
            annotate=operation.annotate,
            redact=self._secrets.redactor,
        )
        legend = "\n".join(f"{box.ref}: {box.role} {quoted(box.name, _NAME_CHARS)}" for box in screenshot.legend)
        shown = results.CapturedImage(
            format=screenshot.format,
            width_px=screenshot.width_px,
            height_px=screenshot.height_px,
            scale=screenshot.scale,
            strategy=screenshot.strategy,
            truncated=screenshot.truncated,
            legend=legend,
        )
        return HandlerResult(shown, screenshot.cost, image_bytes=screenshot.image_bytes)

    async def _wait_for(self, operation: models.WaitFor) -> HandlerResult:
        waited = await self._tabs.page().wait_for(
            selector=self._secrets.checked_selector(operation.selector),
            role=operation.role,
            timeout_s=operation.timeout_ms / 1000,
        )
        return HandlerResult(results.Waited(awaited=waited.awaited, waited_ms=waited.waited_ms), waited.cost)

    def _log(self, log: RequestLog | ConsoleLog, operation: models.NetworkLog | models.Console) -> HandlerResult:
        tab_ids = self._tabs_of(operation)
        shows_tab = operation.tab == "all"
        # Redacted before filtering and cutting, so that neither reveals how a secret begins.
        lines = [
            self._secrets.redact_line(f"{entry.tab_id} {entry}" if shows_tab else str(entry))
            for entry in log.entries
            if entry.tab_id in tab_ids and entry.number > self._cleared.get((operation.kind, entry.tab_id), 0)
        ]
        if operation.clear:
            self._cleared.update({(operation.kind, tab_id): log.last for tab_id in tab_ids})
        wanted = (operation.filter or "").casefold()
        fitting = [line for line in lines if wanted in line.casefold()]
        shown = [cut(line, _LINE_CHARS) for line in fitting[-operation.limit :]]
        older = len(fitting) - len(shown)
        return HandlerResult(
            results.LogLines(text="\n".join(shown), entries=len(shown), older=older, dropped=log.dropped)
        )

    def _tabs_of(self, operation: models.NetworkLog | models.Console) -> frozenset[str]:
        """The tabs whose log is asked for; only those of this client, open or closed.

        Raises:
            TabLost: No tab is open and none is named, or the named one is not this client's.
        """
        if operation.tab == "all":
            return self._tabs.all_tab_ids
        tab_id = operation.tab or self._tabs.page().tab_id
        if tab_id not in self._tabs.all_tab_ids:
            there = ", ".join(sorted(self._tabs.all_tab_ids, key=lambda tab: int(tab[1:]))) or "none"
            raise TabLost(f"unknown tab {tab_id} (open or closed: {there}).")
        return frozenset({tab_id})

    def _location(self, found: NavigationResult) -> HandlerResult:
        where = results.Location(
            tab=self._tabs.page().tab_id, url=found.url, title=plain(found.title), status=found.status
        )
        return HandlerResult(where, found.cost, found.notices)

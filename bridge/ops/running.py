"""What each kind of operation does with a page, and the shape it answers in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bridge.cdp import Cost
from bridge.errors import BridgeError, TabLost
from bridge.ops import models, results
from bridge.ops.fence import Fence
from bridge.ops.secrets import Secrets
from bridge.snapshot.escape import clean, cut

if TYPE_CHECKING:
    from bridge.page.console import ConsoleLog
    from bridge.page.network import NetworkLog
    from bridge.page.page import Page
    from bridge.page.results import ActionResult, NavigationResult
    from bridge.session.session import Session
    from bridge.snapshot import SnapshotResult

_LINE_CHARS = 1_000
_NOTHING = Cost(0.0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Done:
    """An operation that went well."""

    result: results.Result
    cost: Cost
    notices: tuple[str, ...] = ()
    image_bytes: bytes | None = None


class Steps:
    """The operations on a session whose tabs were opened by operations; the last of `tabs` is the current one.

    `cleared` holds, by tab and log, the number of the last entry that an operation wanted forgotten: the session's own
    logs stay whole for traces and failure bundles.
    """

    def __init__(
        self, session: Session, tabs: list[Page], cleared: dict[tuple[str, str], int], secrets: Secrets, fence: Fence
    ) -> None:
        self._session = session
        self._cleared = cleared
        self._tabs = tabs
        self._secrets = secrets
        self._fence = fence

    async def run(self, operation: models.Operation) -> Done:
        run: Callable[[Any], Awaitable[Done]] = getattr(self, f"_{operation.kind}")
        return await run(operation)

    @property
    def url(self) -> str:
        return self._tabs[-1].url if self._tabs else ""

    async def fresh_snapshot(self) -> str | None:
        """The page as it is now, fenced, for whoever named a ref that is no more; None when it cannot be had."""
        if not self._tabs:
            return None
        try:
            shot = await self._tabs[-1].snapshot()
        except BridgeError:
            return None
        return self._fence.around(shot.text, shot.url)

    def _page(self) -> Page:
        if not self._tabs:
            raise TabLost("no tab is open.", hint="navigate opens one.")
        return self._tabs[-1]

    async def _navigate(self, operation: models.Navigate) -> Done:
        if not self._tabs:
            await self._session.check_url(operation.url)
            self._tabs.append(await self._session.new_tab())
        wait_until = "load" if operation.wait_until_loaded else "commit"
        return self._location(await self._page().goto(operation.url, wait_until=wait_until))  # type: ignore[arg-type]

    async def _back(self, operation: models.Back) -> Done:
        return self._location(await self._page().back())

    async def _forward(self, operation: models.Forward) -> Done:
        return self._location(await self._page().forward())

    async def _get_state(self, operation: models.GetState) -> Done:
        page = self._page()
        state = await page.get_state()
        return Done(results.Location(tab=page.tab_id, url=state.url, title=state.title), state.cost)

    async def _new_tab(self, operation: models.NewTab) -> Done:
        if operation.url is not None:
            await self._session.check_url(operation.url)
        page = await self._session.new_tab()
        self._tabs.append(page)
        if operation.url is None:
            return Done(results.Location(tab=page.tab_id, url=page.url, title=""), _NOTHING)
        return self._location(await page.goto(operation.url))

    async def _close_tab(self, operation: models.CloseTab) -> Done:
        page = self._page()
        await self._session.close_tab(page)
        self._tabs.remove(page)
        current = self._tabs[-1].tab_id if self._tabs else None
        return Done(results.Closed(closed=page.tab_id, current=current), _NOTHING)

    async def _snapshot(self, operation: models.Snapshot) -> Done:
        page = self._page()
        if operation.delta:
            shot = await page.snapshot(interactive_only=operation.interactive_only, scope=operation.scope, delta=True)
        else:
            shot = await page.snapshot(interactive_only=operation.interactive_only, scope=operation.scope)
        return self._shown(shot)

    async def _read(self, operation: models.Read) -> Done:
        page = self._page()
        read = await page.read(mode=operation.mode, max_length=operation.max_length)
        text = results.PageText(
            text=self._fence.around(read.markdown, read.url),
            url=read.url,
            title=read.title,
            truncated=read.truncated,
            hidden_text_removed=read.hidden_text_removed,
        )
        return Done(text, read.cost)

    async def _click(self, operation: models.Click) -> Done:
        return self._acted(await self._page().click(operation.ref))

    async def _fill(self, operation: models.Fill) -> Done:
        page = self._page()
        return self._acted(await page.fill(operation.ref, self._secrets.revealed(operation.value, page.url)))

    async def _press(self, operation: models.Press) -> Done:
        return self._acted(await self._page().press(operation.key))

    async def _select(self, operation: models.Select) -> Done:
        return self._acted(await self._page().select(operation.ref, operation.values))

    async def _upload(self, operation: models.Upload) -> Done:
        return self._acted(await self._page().upload(operation.ref, operation.paths), files=operation.paths)

    async def _download(self, operation: models.Download) -> Done:
        saved = await self._page().download(url=operation.url, dest_path=operation.dest_path)
        return Done(
            results.FileSaved(path=operation.dest_path, bytes=saved.size_bytes, mime=saved.mime or None), saved.cost
        )

    async def _screenshot(self, operation: models.Screenshot) -> Done:
        picture = await self._page().screenshot(
            full_page=operation.full_page, ref=operation.ref, annotate=operation.annotate
        )
        legend = "\n".join(f"{box.ref}: {box.role} {box.name!r}" for box in picture.legend)
        shown = results.Picture(
            format=picture.format,
            width_px=picture.width_px,
            height_px=picture.height_px,
            scale=picture.scale,
            strategy=picture.strategy,
            truncated=picture.truncated,
            legend=self._fence.around(legend, self.url) if legend else "",
        )
        return Done(shown, picture.cost, image_bytes=picture.image_bytes)

    async def _wait_for(self, operation: models.WaitFor) -> Done:
        waited = await self._page().wait_for(
            selector=operation.selector, role=operation.role, timeout_s=operation.timeout_ms / 1000
        )
        return Done(results.Waited(awaited=waited.awaited, waited_ms=waited.waited_ms), waited.cost)

    async def _network_log(self, operation: models.NetworkLog) -> Done:
        page = self._page()
        key = (page.tab_id, "network")
        log = page.network(url=operation.filter, after=self._cleared.get(key, 0), limit=operation.limit)
        return self._log(log, key, operation.clear)

    async def _console(self, operation: models.Console) -> Done:
        page = self._page()
        key = (page.tab_id, "console")
        log = page.console(text=operation.filter, after=self._cleared.get(key, 0), limit=operation.limit)
        return self._log(log, key, operation.clear)

    def _log(self, log: NetworkLog | ConsoleLog, key: tuple[str, str], clear: bool) -> Done:
        if clear:
            self._cleared[key] = log.last
        lines = "\n".join(cut(clean(str(entry)), _LINE_CHARS) for entry in log.entries)
        text = self._fence.around(lines, self.url) if lines else ""
        return Done(
            results.LogLines(text=text, entries=len(log.entries), older=log.more, dropped=log.dropped), _NOTHING
        )

    def _location(self, found: NavigationResult) -> Done:
        where = results.Location(tab=self._page().tab_id, url=found.url, title=found.title, status=found.status)
        return Done(where, found.cost, found.notices)

    def _shown(self, shot: SnapshotResult) -> Done:
        text = results.PageText(
            text=self._fence.around(shot.text, shot.url),
            url=shot.url,
            title=shot.title,
            truncated=shot.stats.truncated,
            truncate_reasons=list(shot.stats.truncate_reasons),
            hidden_text_removed=int(shot.stats.js_stats.get("hiddenTextRemoved", 0)),
            refs=len(shot.refs),
        )
        return Done(text, shot.cost if isinstance(shot.cost, Cost) else _NOTHING)

    def _acted(self, outcome: ActionResult, files: list[str] | None = None) -> Done:
        shown = results.ActionOutcome(
            action=outcome.action,
            ref=outcome.ref,
            changes=self._fence.around(outcome.changes.text, self.url),
            settled=outcome.changes.settled,
            value=outcome.value,
            values=list(outcome.values) if outcome.values is not None else None,
            checked=outcome.checked,
            files=files,
        )
        return Done(shown, outcome.cost, outcome.notices)

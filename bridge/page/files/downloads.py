"""Downloads from a page into the operator's folder.

The browser fetches a URL itself (`Network.loadNetworkResource`), with the page's cookies, proxy and origin. The
download that a tap starts is intercepted (`response_interception`); if that is not possible, the host app reports its
URL, which is fetched again. `blob:` and `data:` URLs exist only in the page and are read there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from bridge.cdp.meter import measure
from bridge.cost import Cost
from bridge.deadline import Deadline
from bridge.errors import NavigationFailed, UsageError
from bridge.json_record import JsonRecord
from bridge.page.fetch_messages import PausedResponse
from bridge.page.files.download_body import (
    DownloadBody,
    ReceiveLimit,
    blob_chunks,
    browser_body,
    data_url_body,
    intercepted_body,
    suggested_name,
)
from bridge.page.files.host_services import NextDownload, ReportedDownload
from bridge.page.files.response_interception import first_download
from bridge.page.logs.headers import body_bytes
from bridge.page.tab_handle import TabHandle
from bridge.page.target.attachment import Attachment

MAX_DOWNLOAD_BYTES = 100 * 1024 * 1024

_FETCHED_TWICE = (
    "The download could not be intercepted, and WebView reports only its URL, so the URL was requested a second time. "
    "That fails if the server responds only once, or only to a submitted form."
)
_LENGTH_UNKNOWN = "the server sent no length, so the file may be incomplete"


@dataclass(frozen=True, slots=True)
class DownloadResult(JsonRecord):
    """A downloaded file.

    Attributes:
        url: The URL that the bytes came from.
        path: Path of the file on this machine.
        suggested_name: The name that the server or the page suggests, as a base name, or "".
    """

    url: str
    path: str
    size_bytes: int
    suggested_name: str
    mime: str
    status: int | None
    cost: Cost
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**JsonRecord.to_json(self), "url": self.url[:2000]}


@dataclass(frozen=True, slots=True)
class Destination:
    """A path below the downloads folder and the maximum size of the file."""

    path: str | os.PathLike[str]
    overwrite: bool
    max_bytes: int

    def __post_init__(self) -> None:
        if isinstance(self.max_bytes, bool) or self.max_bytes < 1:
            raise UsageError(f"max_bytes must be 1 or more, not {self.max_bytes}")


class Downloads:
    """Downloads of one attachment."""

    def __init__(self, attachment: Attachment, tab: TabHandle) -> None:
        self._attachment = attachment
        self._tab = tab
        self._target = tab.downloads

    async def by_url(self, url: str, destination: Destination, deadline: Deadline) -> DownloadResult:
        """Download a URL as the page would, with its cookies. A failed download leaves no file.

        Raises:
            PolicyRefused: The URL may not be opened, the path leads out of the downloads folder, or no folder is set.
            UsageError: The file exists, or is larger than `max_bytes`.
            NavigationFailed: The server could not be reached, broke off, or responded with an error status.
        """
        self._target.parts(destination.path)
        if url.partition(":")[0].lower() not in ("blob", "data"):
            url = await self._tab.check_url(url)
        return await self._save(url, self._body(url, destination.max_bytes, deadline), destination, deadline)

    async def started_by(
        self, act: Coroutine[Any, Any, Any], destination: Destination, deadline: Deadline
    ) -> DownloadResult:
        """Save what `act` makes the page download, with a single request if the engine allows interception.

        Raises:
            DeadlineExceeded: Nothing was downloaded.
        """
        self._target.parts(destination.path)
        host = self._tab.host_services
        with measure() as meter, host.downloads() if host else nullcontext() as reported:
            async with first_download(self._attachment, deadline, may_fetch_again=host is not None) as intercepted:
                begun = await _first(act, intercepted, reported, deadline)
                if isinstance(begun, PausedResponse):
                    await self._tab.check_url(begun.url)
                    found = await self._save(begun.url, self._intercepted(begun, deadline), destination, deadline)
                    if body_bytes(begun.headers) is None:
                        found = replace(found, notices=(_LENGTH_UNKNOWN,))
                else:
                    found = await self._fetch_again(begun, destination, deadline)
        self._tab.side_effects.kept_download()
        return replace(found, cost=meter.cost())

    async def _fetch_again(
        self, begun: ReportedDownload, destination: Destination, deadline: Deadline
    ) -> DownloadResult:
        try:
            found = await self.by_url(begun.url, destination, deadline)
        except NavigationFailed as error:
            raise NavigationFailed(begun.url, error.net_error, hint=_FETCHED_TWICE) from error
        return replace(found, suggested_name=suggested_name(begun.disposition) or found.suggested_name)

    async def _save(
        self, url: str, opening: AbstractAsyncContextManager[DownloadBody], destination: Destination, deadline: Deadline
    ) -> DownloadResult:
        path, overwrite, max_bytes = destination.path, destination.overwrite, destination.max_bytes
        with measure() as meter, self._target.write(path, overwrite=overwrite, max_bytes=max_bytes) as incoming:
            async with (
                deadline.bound(f"downloading {url[:200]}", lambda: f"{incoming.size_bytes} bytes received"),
                opening as body,
            ):
                if body.length_bytes is not None and body.length_bytes > max_bytes:
                    raise UsageError(f"{url[:200]} has {body.length_bytes} bytes, more than max_bytes ({max_bytes})")
                async for chunk in body.chunks:
                    incoming.write(chunk)
                if body.length_bytes is not None and body.length_bytes != incoming.size_bytes:
                    raise NavigationFailed(url, "net::ERR_CONTENT_LENGTH_MISMATCH")
        assert self._target.folder is not None
        return DownloadResult(
            url=url,
            path=str(self._target.folder.joinpath(*self._target.parts(path))),
            size_bytes=incoming.size_bytes,
            suggested_name=body.suggested_name,
            mime=body.mime,
            status=body.status,
            cost=meter.cost(),
        )

    @asynccontextmanager
    async def _body(self, url: str, max_bytes: int, deadline: Deadline) -> AsyncIterator[DownloadBody]:
        scheme = url.partition(":")[0].lower()
        if scheme == "data":
            yield data_url_body(url)
        elif scheme == "blob":
            yield DownloadBody(blob_chunks(self._attachment, url, deadline))
        else:
            main = self._attachment.state.main
            # The fetch ends with its connection, so a cancelled one does not go on filling the device's disk.
            async with self._tab.connect(deadline.remaining_s) as connection:
                limit = ReceiveLimit(max_bytes, self._tab.watch_received())
                yield await browser_body(connection, main.frame_id if main else "", url, limit, deadline)

    @asynccontextmanager
    async def _intercepted(self, response: PausedResponse, deadline: Deadline) -> AsyncIterator[DownloadBody]:
        yield await intercepted_body(self._attachment.connection, response, deadline)


async def _first(
    act: Coroutine[Any, Any, Any],
    intercepted: asyncio.Future[PausedResponse],
    next_reported: NextDownload | None,
    deadline: Deadline,
) -> PausedResponse | ReportedDownload:
    """The download that `act` starts: an intercepted response, or one that the host app reports.

    `act` is not awaited then: while a response for its frame is paused, the old document does not respond.
    """
    acting: asyncio.Future[Any] = asyncio.ensure_future(act)
    reported: asyncio.Future[Any] = asyncio.ensure_future(_reported(next_reported, deadline))
    try:
        await asyncio.wait([acting, intercepted, reported], return_when=asyncio.FIRST_COMPLETED)
        if acting.done() and not intercepted.done():
            acting.result()
            await asyncio.wait([intercepted, reported], return_when=asyncio.FIRST_COMPLETED)
        first: PausedResponse | ReportedDownload = intercepted.result() if intercepted.done() else reported.result()
        return first
    finally:
        acting.cancel()
        reported.cancel()
        await asyncio.gather(acting, reported, return_exceptions=True)


async def _reported(next_reported: NextDownload | None, deadline: Deadline) -> ReportedDownload:
    """The next download that the host app reports; without a host app, DeadlineExceeded."""
    if next_reported is not None:
        return await next_reported(deadline)
    async with deadline.bound("waiting for a download", lambda: "no download was intercepted"):
        await asyncio.get_running_loop().create_future()
    raise AssertionError("the future above has no result")

"""What a page offers for download, brought into the operator's folder.

By address the bytes are fetched by the browser itself (`Network.loadNetworkResource`), so cookies, proxy and addresses
are the page's. What a tap starts is taken from the browser as it comes (`taken_answers`); where that is not possible,
the device's listener tells the address, which is asked for again. `blob:` and `data:` addresses exist only in the page,
and are read there.
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
from bridge.page.files.download_body import (
    DownloadBody,
    ReceiveLimit,
    blob_chunks,
    browser_body,
    data_url_body,
    intercepted_body,
    suggested_name,
)
from bridge.page.files.host_services import DownloadStart, DownloadStarts
from bridge.page.files.response_interception import first_download
from bridge.page.interception.fetch_messages import PausedResponse
from bridge.page.logs.headers import body_bytes
from bridge.page.tab_handle import TabHandle
from bridge.page.target.attachment import Attachment

MAX_DOWNLOAD_BYTES = 100 * 1024 * 1024

_ASKED_TWICE = (
    "It could not be taken from the browser as it came, and WebView only tells the address of a download, so it was "
    "asked for a second time: what answers once, or only to a form that is sent, cannot be brought this way."
)
_LENGTH_UNKNOWN = "the server did not say how long the file is, so it cannot be seen whether it came whole"


@dataclass(frozen=True, slots=True)
class DownloadResult:
    """A file that was brought.

    Attributes:
        url: The address that the bytes came from.
        path: Where they are now.
        suggested_name: The name that the server or the page proposed, as a base name, or "".
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
        return {
            "url": self.url[:2000],
            "path": self.path,
            "size_bytes": self.size_bytes,
            "suggested_name": self.suggested_name,
            "mime": self.mime,
            "status": self.status,
            "cost": self.cost.to_json(),
            **({"notices": list(self.notices)} if self.notices else {}),
        }


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the file is to be: its name below the downloads folder, and at most how large it may get."""

    path: str | os.PathLike[str]
    overwrite: bool
    max_bytes: int

    def __post_init__(self) -> None:
        if isinstance(self.max_bytes, bool) or self.max_bytes < 1:
            raise UsageError(f"max_bytes={self.max_bytes}", hint="1 or more.")


class Downloads:
    """Downloads of one attachment."""

    def __init__(self, attachment: Attachment, tab: TabHandle) -> None:
        self._attachment = attachment
        self._tab = tab
        self._target = tab.downloads

    async def by_url(self, url: str, destination: Destination, *, timeout_s: float) -> DownloadResult:
        """Fetch an address as the page would, with its cookies.

        Raises:
            PolicyRefused: The address may not be opened, the path leads out of the downloads folder, or none is set.
            UsageError: There is such a file, or more than `max_bytes` came; nothing is left then.
            NavigationFailed: The server could not be reached or broke off, or it answered with an error status.
        """
        deadline = Deadline.after(timeout_s)
        self._target.parts(destination.path)
        if url.partition(":")[0].lower() not in ("blob", "data"):
            url = await self._tab.check_url(url)
        return await self._save(url, self._source(url, destination.max_bytes, deadline), destination, deadline)

    async def started_by(
        self, act: Coroutine[Any, Any, Any], destination: Destination, *, timeout_s: float
    ) -> DownloadResult:
        """Bring what `act` makes the page download: one request, where the engine lets it be taken.

        Raises:
            DeadlineExceeded: Nothing was downloaded.
        """
        deadline = Deadline.after(timeout_s)
        self._target.parts(destination.path)
        host = self._tab.host_services
        with measure() as meter, host.downloads() if host else nullcontext() as told:
            async with first_download(self._attachment, deadline, asks_again=host is not None) as taken:
                begun = await _first(act, taken, told, deadline)
                if isinstance(begun, PausedResponse):
                    await self._tab.check_url(begun.url)
                    found = await self._save(begun.url, self._taken(begun, deadline), destination, deadline)
                    if body_bytes(begun.headers) is None:
                        found = replace(found, notices=(_LENGTH_UNKNOWN,))
                else:
                    found = await self._asked_again(begun, destination, deadline)
        return replace(found, cost=meter.cost())

    async def _asked_again(self, begun: DownloadStart, destination: Destination, deadline: Deadline) -> DownloadResult:
        try:
            found = await self.by_url(begun.url, destination, timeout_s=deadline.remaining_s)
        except NavigationFailed as error:
            raise NavigationFailed(begun.url, error.net_error, hint=_ASKED_TWICE) from error
        return replace(found, suggested_name=suggested_name(begun.disposition) or found.suggested_name)

    async def _save(
        self, url: str, opening: AbstractAsyncContextManager[DownloadBody], destination: Destination, deadline: Deadline
    ) -> DownloadResult:
        path, overwrite, max_bytes = destination.path, destination.overwrite, destination.max_bytes
        with measure() as meter, self._target.write(path, overwrite=overwrite, max_bytes=max_bytes) as incoming:
            async with (
                deadline.bound(f"downloading {url[:200]}", lambda: f"{incoming.size_bytes} bytes have come"),
                opening as source,
            ):
                if source.length_bytes is not None and source.length_bytes > max_bytes:
                    raise UsageError(f"{url[:200]} has {source.length_bytes} bytes, and at most {max_bytes} are wanted")
                async for piece in source.pieces:
                    incoming.write(piece)
                if source.length_bytes is not None and source.length_bytes != incoming.size_bytes:
                    raise NavigationFailed(url, "net::ERR_CONTENT_LENGTH_MISMATCH")
        assert self._target.folder is not None
        return DownloadResult(
            url=url,
            path=str(self._target.folder.joinpath(*self._target.parts(path))),
            size_bytes=incoming.size_bytes,
            suggested_name=source.suggested_name,
            mime=source.mime,
            status=source.status,
            cost=meter.cost(),
        )

    @asynccontextmanager
    async def _source(self, url: str, max_bytes: int, deadline: Deadline) -> AsyncIterator[DownloadBody]:
        scheme = url.partition(":")[0].lower()
        if scheme == "data":
            yield data_url_body(url)
        elif scheme == "blob":
            yield DownloadBody(blob_chunks(self._attachment, url, deadline))
        else:
            main = self._attachment.state.main
            # What is being loaded ends with its connection: broken off, nothing goes on filling the device's disk.
            async with self._tab.connect(deadline.remaining_s) as connection:
                bound = ReceiveLimit(max_bytes, self._tab.watch_received())
                yield await browser_body(connection, main.frame_id if main else "", url, bound, deadline)

    @asynccontextmanager
    async def _taken(self, answer: PausedResponse, deadline: Deadline) -> AsyncIterator[DownloadBody]:
        yield await intercepted_body(self._attachment.connection, answer, deadline)


async def _first(
    act: Coroutine[Any, Any, Any],
    taken: asyncio.Future[PausedResponse],
    told: DownloadStarts | None,
    deadline: Deadline,
) -> PausedResponse | DownloadStart:
    """What comes first of `act`: an answer that was taken, or the news of a download that could not be.

    Nobody waits for the end of `act` then: the old document answers nothing while an answer for its frame is held.
    """
    acting: asyncio.Future[Any] = asyncio.ensure_future(act)
    news: asyncio.Future[Any] = asyncio.ensure_future(_news(told, deadline))
    try:
        await asyncio.wait([acting, taken, news], return_when=asyncio.FIRST_COMPLETED)
        if acting.done() and not taken.done():
            acting.result()
            await asyncio.wait([taken, news], return_when=asyncio.FIRST_COMPLETED)
        first: PausedResponse | DownloadStart = taken.result() if taken.done() else news.result()
        return first
    finally:
        acting.cancel()
        news.cancel()
        await asyncio.gather(acting, news, return_exceptions=True)


async def _news(told: DownloadStarts | None, deadline: Deadline) -> DownloadStart:
    if told is not None:
        return await told.next(timeout_s=deadline.remaining_s)
    async with deadline.bound("waiting for a download", lambda: "nothing was downloaded that could be taken"):
        await asyncio.get_running_loop().create_future()
    raise AssertionError("nobody ends that future")

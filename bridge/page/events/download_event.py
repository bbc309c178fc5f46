"""A download that `page.expect_download()` waited for, kept until the session ends."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.deadline import Deadline
from bridge.page.events.listeners import EventInfo
from bridge.page.files.downloads import MAX_DOWNLOAD_BYTES, Destination, DownloadResult, Downloads

if TYPE_CHECKING:
    from bridge.page.files.safe_folder import SafeFolder
    from bridge.page.page import Page

_DEFAULT_NAME = "download"


class Download:
    """A complete file that the page has downloaded, under a name of its own in the session's `downloads_root`.

    `save_as` copies it; it is deleted when the session ends.
    """

    def __init__(self, page: Page, folder: SafeFolder, result: DownloadResult) -> None:
        self._page = page
        self._folder = folder
        self._result = result

    def __repr__(self) -> str:
        return f"<Download {self.suggested_filename} from {self.url[:200]}>"

    @property
    def page(self) -> Page:
        return self._page

    @property
    def url(self) -> str:
        """The URL that the bytes came from."""
        return self._result.url

    @property
    def suggested_filename(self) -> str:
        """The name that the server or the page suggests, as a base name."""
        return self._result.suggested_name or _DEFAULT_NAME

    async def path(self) -> Path:
        """The present path of the file."""
        return Path(self._result.path)

    async def save_as(self, path: str | os.PathLike[str]) -> None:
        """Copy the file to a path below `downloads_root`; a file of that name is replaced.

        Raises:
            PolicyRefused: The path leads out of that folder.
            UsageError: The file was deleted, or cannot be written.
        """
        await asyncio.to_thread(self._copy, path)

    def _copy(self, path: str | os.PathLike[str]) -> None:
        size_bytes = max(1, self._result.size_bytes)
        _, content = self._folder.read(self._result.path, max_bytes=size_bytes)
        with self._folder.write(path, overwrite=True, max_bytes=size_bytes) as file:
            file.write(content)

    async def delete(self) -> None:
        """Delete the file; does nothing if it is deleted already."""
        self._folder.delete_temporary(Path(self._result.path).name)


@asynccontextmanager
async def expected_download(
    page: Page, downloads: Downloads, folder: SafeFolder, timeout_s: float
) -> AsyncIterator[EventInfo[Download]]:
    """Run the block, then wait for the download that it started.

    The file is received while the block runs: until a response is received, the document that requested it does not
    answer, and the action that started it cannot end.

    Raises:
        PolicyRefused: No `downloads_root` is set, or the policy forbids the address.
        DeadlineExceeded: Nothing was downloaded.
        NavigationFailed: The download failed.
    """
    deadline = Deadline.after(timeout_s)
    coming: asyncio.Future[Download] = asyncio.get_running_loop().create_future()
    listening, is_over = asyncio.Event(), asyncio.Event()

    async def block() -> None:
        listening.set()
        await is_over.wait()

    name = folder.temporary_name()
    destination = Destination(name, False, MAX_DOWNLOAD_BYTES)
    receiving = asyncio.ensure_future(downloads.started_by(block(), destination, deadline))
    ready = asyncio.ensure_future(listening.wait())
    try:
        await asyncio.wait([receiving, ready], return_when=asyncio.FIRST_COMPLETED)
        if receiving.done():
            receiving.result()
        yield EventInfo(coming)
        is_over.set()
        coming.set_result(Download(page, folder, await receiving))
    finally:
        for task in (receiving, ready):
            task.cancel()
        await asyncio.gather(receiving, ready, return_exceptions=True)
        if coming.cancel():  # nobody gets the file
            folder.delete_temporary(name)

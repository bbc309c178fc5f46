"""The methods of a page that move files, between the operator's folders and the page."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from bridge.errors import UsageError
from bridge.page.files.downloads import MAX_DOWNLOAD_BYTES, Destination, DownloadResult, Downloads
from bridge.page.files.uploads import Uploads, checked_paths
from bridge.page.results import ActionResult
from bridge.page.snapshots.refs import RefTable
from bridge.page.snapshots.take import Snapshots
from bridge.page.tab_handle import TabHandle
from bridge.page.target.attachment import Attachment
from bridge.page.turn import Turn

UPLOAD_TIMEOUT_S = 30.0
DOWNLOAD_TIMEOUT_S = 60.0


class FiledPage(ABC):
    """Files come from and go to folders that the operator has named, and nowhere else."""

    _refs: RefTable
    _snapshots: Snapshots | None
    _tab: TabHandle
    _turn: Turn

    @abstractmethod
    async def _ready(self) -> tuple[Attachment, tuple[str, ...]]: ...

    @abstractmethod
    async def _tap(self, ref: str, timeout_s: float) -> ActionResult:
        """Tap the element without waiting for what comes of it; whoever calls has the turn."""

    async def upload(
        self,
        ref: str,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        timeout_s: float = UPLOAD_TIMEOUT_S,
        settle_s: float = 1.0,
    ) -> ActionResult:
        """Give files below the session's `uploads_root` to a file input (or its label), or drop them on the element;
        tells what changed.

        Raises:
            PolicyRefused: A path leads out of that folder, over a link or to no regular file; or none is set.
            UsageError: A file is not there or too large, or the input takes only one.
            RefNotFound, StaleRef, ActionFailed: The element is gone, is disabled, or takes no files.
        """
        wanted = checked_paths(paths)
        async with self._turn.within(timeout_s) as timeout_s:
            attachment, notices = await self._ready()
            timeout_s = self._turn.left(timeout_s)
            assert self._snapshots is not None
            tab = self._tab
            uploads = Uploads(attachment, self._refs, self._snapshots, tab.host_services, tab.uploads)
            result = await uploads.give(ref, wanted, timeout_s=timeout_s, settle_s=settle_s)
            return replace(result, notices=(*notices, *result.notices)) if notices else result

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
        """Bring a file into the session's `downloads_root`: from `url` with the page's cookies, or what tapping `ref`
        starts. It appears under its name when it is whole.

        Raises:
            PolicyRefused: The address may not be opened, or the path leads out of that folder; or none is set.
            UsageError: There is such a file and `overwrite` is off, or more than `max_bytes` came. The engine gives
                nothing of what it fetches by `url` before it has all: an endless body ends when the gate has seen 16 MB
                more than that, and where traffic takes no gate (attach mode) with the deadline.
            NavigationFailed: It could not be fetched.
            DeadlineExceeded: Tapping the element started no download, or it did not end in time.
        """
        if (url is None) == (ref is None):
            raise UsageError("download takes either url or ref")
        async with self._turn.within(timeout_s) as timeout_s:
            destination = Destination(dest_path, overwrite, max_bytes)
            attachment, notices = await self._ready()
            timeout_s = self._turn.left(timeout_s)
            tab = self._tab
            downloads = Downloads(attachment, tab)
            if url is not None:
                result = await downloads.by_url(url, destination, timeout_s=timeout_s)
            else:
                assert ref is not None
                result = await downloads.started_by(self._tap(ref, timeout_s), destination, timeout_s=timeout_s)
                tab.side_effects.kept_download()
            return replace(result, notices=(*notices, *result.notices)) if notices else result

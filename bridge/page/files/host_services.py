"""What a page asks of the host app on the device, beside CDP."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class DownloadStarts(Protocol):
    """Downloads that the tab has begun since, in the host app's words; nothing of them has been fetched."""

    async def next(self, *, timeout_s: float) -> DownloadStart:
        """The next one; DeadlineExceeded when none comes."""
        ...


class DownloadStart(Protocol):
    """What the WebView's DownloadListener was told."""

    @property
    def url(self) -> str: ...
    @property
    def disposition(self) -> str: ...
    @property
    def mime(self) -> str: ...


class HostServices(Protocol):
    """The host app's part in capture and files, for one tab."""

    async def draw(self, max_height_px: int, timeout_s: float) -> bytes:
        """A PNG of the whole document from its top, drawn by the WebView itself, at most so many device px high."""
        ...

    async def put_file(self, name: str, content: bytes, *, timeout_s: float) -> str:
        """The path on the device of a file with that content, which goes with the tab."""
        ...

    async def delete_file(self, path: str, *, timeout_s: float) -> None: ...

    def downloads(self) -> AbstractContextManager[DownloadStarts]:
        """Downloads that begin inside the block."""
        ...

"""The host app's services for a page, apart from CDP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from bridge.deadline import Deadline


@dataclass(frozen=True, slots=True)
class ReportedDownload:
    """A call of the WebView's DownloadListener. Nothing has been fetched yet."""

    url: str
    disposition: str
    mime: str


#: Waits for the next download that the tab begins; DeadlineExceeded if none does.
NextDownload: TypeAlias = Callable[[Deadline], Awaitable[ReportedDownload]]


class HostServices(Protocol):
    """The host app's part in captures and files of one tab."""

    async def draw(self, max_height_px: int, timeout_s: float) -> bytes:
        """A PNG of the document from its top, drawn by the WebView, at most `max_height_px` device pixels high."""
        ...

    async def put_file(self, name: str, content: bytes, *, timeout_s: float) -> str:
        """Write a file on the device and return its path there. The host app deletes it when the tab closes."""
        ...

    async def delete_file(self, path: str, *, timeout_s: float) -> None: ...

    def downloads(self) -> AbstractContextManager[NextDownload]:
        """Report downloads that the tab begins inside the block."""
        ...

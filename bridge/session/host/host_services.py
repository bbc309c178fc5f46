"""The host app's part in a tab's screenshots, uploads and downloads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bridge.deadline import Deadline
from bridge.errors import CaptureFailed, HostFailed, TabLost
from bridge.host.client import HostClient
from bridge.page.files.host_services import NextDownload, ReportedDownload


class HostTabServices:
    """One tab's, over the control protocol; implements `HostServices` of the page layer."""

    def __init__(self, host: HostClient, host_tab: str) -> None:
        self._host = host
        self._host_tab = host_tab

    async def draw(self, max_height_px: int, timeout_s: float) -> bytes:
        limit_px = max(1, min(max_height_px, self._host.hello.max_capture_height_px))
        if max_height_px > limit_px + 1:  # rounding may add a pixel
            raise CaptureFailed(f"the host app draws at most {limit_px} device px of height, not {max_height_px}")
        try:
            reply = await self._host.capture(
                self._host_tab, full_page=True, max_height_px=limit_px, timeout_s=timeout_s
            )
        except HostFailed as error:
            raise CaptureFailed(error.message) from error
        if not reply.body:
            raise CaptureFailed("the host app replied without an image")
        return reply.body

    async def put_file(self, name: str, content: bytes, *, timeout_s: float) -> str:
        return await self._host.put_file(name, content, tab=self._host_tab, timeout_s=timeout_s)

    async def delete_file(self, path: str, *, timeout_s: float) -> None:
        await self._host.delete_file(path, timeout_s=timeout_s)

    @contextmanager
    def downloads(self) -> Iterator[NextDownload]:
        with self._host.events("download") as events:

            async def next_download(deadline: Deadline) -> ReportedDownload:
                async with deadline.bound("waiting for a download", lambda: "nothing was downloaded"):
                    async for event in events:
                        if event.fields.get("tab") == self._host_tab:
                            url, disposition, mime = (
                                str(event.fields.get(name) or "") for name in ("url", "disposition", "mime")
                            )
                            return ReportedDownload(url, disposition, mime)
                raise TabLost("the connection to the host app ended while waiting for a download")

            yield next_download

"""The methods of a page that look at it from outside: pictures, recordings, console and network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal

from bridge.page.capture.full_page import Progress, Strategy
from bridge.page.capture.image import ImageFormat
from bridge.page.capture.screencast import (
    LONGEST_S,
    Recording,
    RecordingFormat,
    RecordingRequest,
    ScreencastRecorder,
    record,
    recording,
)
from bridge.page.capture.screenshots import ScreenshotRequest, Screenshots
from bridge.page.logs.console import ConsoleLog
from bridge.page.logs.request_log import RequestLog
from bridge.page.results import Screenshot
from bridge.page.snapshots.refs import RefTable
from bridge.page.snapshots.take import Snapshots
from bridge.page.tab_handle import TabHandle
from bridge.page.target.attachment import Attachment
from bridge.page.turn import Turn


class ObservedPage(ABC):
    """Looks and does not touch."""

    _refs: RefTable
    _snapshots: Snapshots | None
    _tab: TabHandle
    _turn: Turn

    @property
    @abstractmethod
    def tab_id(self) -> str: ...

    @abstractmethod
    async def _ready(self) -> tuple[Attachment, tuple[str, ...]]: ...

    @abstractmethod
    async def _here(self) -> Attachment: ...

    async def screenshot(
        self,
        *,
        full_page: bool = False,
        ref: str | None = None,
        format: ImageFormat = "png",
        quality: int | None = None,
        scale: Literal["css", "device"] = "css",
        annotate: bool = False,
        max_height_px: int = 10_000,
        strategy: Strategy | Literal["auto"] = "auto",
        redact: Callable[[str], str] | None = None,
        timeout_s: float = 30.0,
        on_progress: Progress | None = None,
    ) -> Screenshot:
        """A picture of the viewport, of the whole page or of one element; the scroll position stays what it was.

        Args:
            scale: "css" gives one pixel per CSS pixel, "device" what the device draws.
            annotate: Draw numbered boxes equal to the refs of a snapshot taken with it.
            max_height_px: Of the picture; a longer page is cut there and `truncated` says so.
            strategy: How a whole page is captured; "auto" begins with what the capability probe found.
            redact: Fields and texts that it changes are painted over in a picture of the viewport; one of more than
                that is refused where the page shows any.
            on_progress: Told the rows that are done and all rows, during a long capture.

        Raises:
            CaptureFailed: The engine gave no picture, or none of the right size, or what is to be hidden cannot be.
            RefNotFound, StaleRef, NotVisible: The element is gone, or cannot be seen.
        """
        request = ScreenshotRequest(full_page, ref, format, quality, scale, annotate, max_height_px, strategy, redact)
        async with self._turn.within(timeout_s) as timeout_s:
            attachment, notices = await self._ready()
            timeout_s = self._turn.left(timeout_s)
            assert self._snapshots is not None
            shots = Screenshots(
                attachment, self._refs, self._snapshots, self._tab.host_services, self._tab.full_page_strategy
            )
            shot = await shots.take(request, timeout_s=timeout_s, on_progress=on_progress)
            return replace(shot, notices=(*notices, *shot.notices)) if notices else shot

    async def record(
        self,
        duration_s: float = 3.0,
        *,
        format: RecordingFormat = "webp",
        max_frames: int = 300,
        max_bytes: int = 16 * 1024 * 1024,
        max_width_px: int = 412,
        max_fps: float = 12.0,
        timeout_s: float = 10.0,
        on_frame: Callable[[int, int], None] | None = None,
    ) -> Recording:
        """What is drawn in the next `duration_s` seconds, as an animated WebP or GIF; see `recording` for a block."""
        request = RecordingRequest(
            format, max_frames, max_bytes, min(max(duration_s, 0.05), LONGEST_S), max_width_px, max_fps
        )
        attachment = await self._here()
        return await record(attachment, request, duration_s, timeout_s=timeout_s, on_frame=on_frame)

    @asynccontextmanager
    async def recording(
        self, *, timeout_s: float = 10.0, on_frame: Callable[[int, int], None] | None = None, **bounds: Any
    ) -> AsyncIterator[ScreencastRecorder]:
        """Record what the block does: `async with page.recording() as recorder: …`, then `recorder.result`.

        Args:
            bounds: The fields of `RecordingRequest`.
        """
        attachment = await self._here()
        request = RecordingRequest(**bounds)
        async with recording(attachment, request, timeout_s=timeout_s, on_frame=on_frame) as recorder:
            yield recorder

    def console(
        self, *, level: str | None = None, text: str | None = None, after: int = 0, limit: int = 100
    ) -> ConsoleLog:
        """What this tab's pages have logged since it was opened, uncaught errors included; costs nothing.

        Args:
            level: The least severe that is wanted: debug, info, warning or error.
            after: Only entries with a higher number, such as `last` of an earlier log.
        """
        return self._tab.logs.console(tab_id=self.tab_id, level=level, text=text, after=after, limit=limit)

    def network(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        status: int | str | None = None,
        resource_type: str | None = None,
        failed: bool | None = None,
        after: int = 0,
        limit: int = 100,
    ) -> RequestLog:
        """The requests of this tab since it was opened; costs nothing.

        Args:
            url: A part of the address, or a glob where it has a `*`.
            status: A number, or a class such as "4xx".
        """
        return self._tab.logs.network(
            tab_id=self.tab_id,
            url=url,
            method=method,
            status=status,
            resource_type=resource_type,
            failed=failed,
            after=after,
            limit=limit,
        )

    def har(self, *, redact: bool = True) -> dict[str, Any]:
        """The requests of this tab as HAR 1.2; credentials in headers are left out unless `redact` is off."""
        return self._tab.logs.har(tab_id=self.tab_id, redact=redact)

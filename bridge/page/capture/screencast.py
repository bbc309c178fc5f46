"""Records the screen as an animated image from screencast frames, bounded in number, bytes and time."""

from __future__ import annotations

import asyncio
import base64
import binascii
import io
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from bridge.cdp.meter import measure
from bridge.cost import Cost
from bridge.deadline import finish
from bridge.errors import BridgeError, CaptureFailed, TransportError, UsageError
from bridge.json_record import JsonRecord
from bridge.page.target.attachment import Attachment

RecordingFormat = Literal["webp", "gif"]
# The encoded frames kept in memory until the end: about a minute of a busy page.
_HELD_BYTES = 96 * 1024 * 1024
_STOP_S = 2.0
_QUALITY = 70
# GIF players slow down shorter frames.
_SHORTEST_MS = 20
_SMALLEST_FRAMES = 2
LONGEST_S = 600.0


@dataclass(frozen=True, slots=True)
class RecordingRequest:
    """The validated bounds of a recording.

    Raises:
        UsageError: A value is out of range.
    """

    format: RecordingFormat = "webp"
    max_frames: int = 300
    max_bytes: int = 16 * 1024 * 1024
    max_duration_s: float = 30.0
    max_width_px: int = 412
    max_fps: float = 12.0

    def __post_init__(self) -> None:
        if self.format not in get_args(RecordingFormat):
            raise UsageError(f"format={self.format!r}", hint="Use webp or gif.")
        for name, least, most in (
            ("max_frames", 1, 5_000),
            ("max_bytes", 1_000, 256 * 1024 * 1024),
            ("max_duration_s", 0.05, LONGEST_S),
            ("max_width_px", 16, 4_096),
            ("max_fps", 0.1, 60),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
                raise UsageError(f"{name}={value!r}", hint=f"Use {least:g} to {most:g}.")

    @classmethod
    def lasting(
        cls,
        duration_s: float,
        format: RecordingFormat,
        max_frames: int,
        max_bytes: int,
        max_width_px: int,
        max_fps: float,
    ) -> RecordingRequest:
        """A recording of `duration_s` seconds, within the limits."""
        return cls(format, max_frames, max_bytes, min(max(duration_s, 0.05), LONGEST_S), max_width_px, max_fps)


@dataclass(frozen=True, slots=True)
class Recording(JsonRecord):
    """An animated image.

    Attributes:
        duration_ms: From start to end; the first frame shows the page at the start.
        notices: The bounds that cut the recording.
    """

    image_bytes: bytes = field(repr=False)
    format: str
    frames: int
    duration_ms: int
    width_px: int
    height_px: int
    cost: Cost
    notices: tuple[str, ...] = ()

    @property
    def truncated(self) -> bool:
        return bool(self.notices)

    def to_json(self) -> dict[str, Any]:
        """Everything but the bytes."""
        size_bytes = len(self.image_bytes)
        return {**JsonRecord.to_json(self), "size_bytes": size_bytes, "truncated": self.truncated}


class ScreencastRecorder:
    """Collects frames while the block of `recording` runs; `result` is available after it."""

    def __init__(self, request: RecordingRequest, on_frame: Callable[[int, int], None] | None) -> None:
        self.request = request
        self.full = asyncio.Event()
        self._frames: list[tuple[float, bytes]] = []
        self._held_bytes = 0
        self._notices: list[str] = []
        self._on_frame = on_frame
        self._result: Recording | None = None
        self._started_at = time.monotonic()
        self._ended_at = self._started_at

    @property
    def result(self) -> Recording:
        if self._result is None:
            raise UsageError("the recording has not ended", hint="Read the result after the block.")
        return self._result

    def take(self, frame_bytes: bytes) -> None:
        """Add a frame. One that exceeds `max_fps` replaces the one before; a bound ends the recording."""
        now = time.monotonic()
        if self.full.is_set():
            return
        if self._frames and now - self._frames[-1][0] < 1 / self.request.max_fps:
            self._held_bytes += len(frame_bytes) - len(self._frames[-1][1])
            self._frames[-1] = (self._frames[-1][0], frame_bytes)
            return
        if len(self._frames) >= self.request.max_frames:
            self._stop(f"the recording ended after {self.request.max_frames} frames (max_frames)")
        elif self._held_bytes + len(frame_bytes) > _HELD_BYTES:
            self._stop(f"the recording ended after {_HELD_BYTES >> 20} MiB of frames")
        else:
            self._frames.append((now, frame_bytes))
            self._held_bytes += len(frame_bytes)
            if self._on_frame is not None:
                self._on_frame(len(self._frames), self.request.max_frames)

    def begin(self) -> None:
        """Start the clock. The first frame may arrive later, and shows the page as it was now."""
        self._started_at = time.monotonic()

    def end(self) -> None:
        """Stop the clock, unless a bound has ended the recording."""
        if not self.full.is_set():
            self._ended_at = time.monotonic()

    def out_of_time(self) -> None:
        self._stop(f"the recording ended after {self.request.max_duration_s:g} s (max_duration_s)")

    def _stop(self, notice: str) -> None:
        if not self.full.is_set():
            self._notices.append(notice)
            self._ended_at = time.monotonic()
            self.full.set()

    def finish(self, cost: Cost) -> None:
        """Encode the collected frames."""
        if not self._frames:
            raise CaptureFailed("the engine sent no frame during the recording", hint="Is the tab's view attached?")
        starts = [min(self._started_at, self._frames[0][0]), *(at for at, _ in self._frames[1:])]
        ends = [*starts[1:], max(self._ended_at, starts[-1] + _SHORTEST_MS / 1000)]
        # A page without changes sends no frames, so the last frame lasts until the end.
        durations = [max(_SHORTEST_MS, round((end - start) * 1000)) for start, end in zip(starts, ends, strict=True)]
        frames = [frame_bytes for _, frame_bytes in self._frames]
        while True:
            image, size = _animation(frames, durations, self.request)
            if len(image) <= self.request.max_bytes or len(frames) < _SMALLEST_FRAMES:
                break
            frames, durations = _halved(frames, durations)
        if len(frames) < len(self._frames):
            self._notices.append(
                f"{len(frames)} of {len(self._frames)} frames are kept, to fit {self.request.max_bytes} bytes"
            )
        if len(image) > self.request.max_bytes:
            raise CaptureFailed(
                f"one frame alone takes {len(image)} bytes", hint="Raise max_bytes or lower max_width_px."
            )
        self._result = Recording(
            image, self.request.format, len(frames), sum(durations), *size, cost, tuple(self._notices)
        )


def _halved(frames: list[bytes], durations: list[int]) -> tuple[list[bytes], list[int]]:
    """Every second frame, each with the duration of the one that it replaces."""
    return frames[::2], [sum(durations[at : at + 2]) for at in range(0, len(durations), 2)]


def _animation(frames: list[bytes], durations: list[int], request: RecordingRequest) -> tuple[bytes, tuple[int, int]]:
    """The animation and its size. Frames are decoded one at a time."""
    from PIL import Image

    with Image.open(io.BytesIO(frames[0])) as first:
        width_px = min(first.width, request.max_width_px)
        size = (width_px, max(1, round(first.height * width_px / first.width)))

    def frame(frame_bytes: bytes) -> Image.Image:
        with Image.open(io.BytesIO(frame_bytes)) as image:
            shown = image.convert("RGB")
        return shown if shown.size == size else shown.resize(size, Image.Resampling.LANCZOS)

    out = io.BytesIO()
    rest = (frame(frame_bytes) for frame_bytes in frames[1:])
    if request.format == "webp":
        frame(frames[0]).save(
            out, "WEBP", save_all=True, append_images=rest, duration=durations, loop=0, quality=_QUALITY, method=2
        )
    else:
        frame(frames[0]).save(out, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
    return out.getvalue(), size


@asynccontextmanager
async def recording(
    attachment: Attachment,
    request: RecordingRequest,
    *,
    timeout_s: float,
    on_frame: Callable[[int, int], None] | None = None,
) -> AsyncIterator[ScreencastRecorder]:
    """Record the screen while the block runs; `recorder.result` is the animation after it.

    Raises:
        CaptureFailed: The engine has no screencast, or sent no frame.
    """
    recorder = ScreencastRecorder(request, on_frame)

    def take(method: str, params: Mapping[str, Any], _session_id: str | None) -> None:
        if method != "Page.screencastFrame":
            return
        # The engine holds frames back until earlier ones are acknowledged.
        with suppress(TransportError):
            attachment.connection.send("Page.screencastFrameAck", {"sessionId": params.get("sessionId", 0)}).abandon()
        with suppress(KeyError, TypeError, binascii.Error):
            recorder.take(base64.b64decode(params["data"], validate=True))

    remove = attachment.connection.on_event(take)
    timer: asyncio.TimerHandle | None = None
    with measure() as meter:
        try:
            try:
                # The engine sends the first frame at once, even if nothing is drawn.
                start = {"format": "jpeg", "quality": 80, "everyNthFrame": 1}
                await attachment.call("Page.startScreencast", start, timeout_s=timeout_s)
            except BridgeError as error:
                raise CaptureFailed(f"the engine cannot record: {error.message}") from error
            recorder.begin()
            timer = asyncio.get_running_loop().call_later(request.max_duration_s, recorder.out_of_time)
            yield recorder
            recorder.end()
        finally:
            if timer is not None:
                timer.cancel()
            remove()
            await finish(_stop(attachment), at_most_s=_STOP_S, what="ending the screencast")
        await asyncio.to_thread(recorder.finish, meter.cost())


async def _stop(attachment: Attachment) -> None:
    with suppress(TransportError):
        await attachment.call("Page.stopScreencast", timeout_s=_STOP_S)


async def record(
    attachment: Attachment,
    request: RecordingRequest,
    duration_s: float,
    *,
    timeout_s: float,
    on_frame: Callable[[int, int], None] | None = None,
) -> Recording:
    """Record the screen for `duration_s` seconds."""
    if not 0 < duration_s <= request.max_duration_s:
        raise UsageError(f"duration_s={duration_s:g}", hint=f"Use more than 0 and at most {request.max_duration_s:g}.")
    async with recording(attachment, request, timeout_s=timeout_s, on_frame=on_frame) as recorder:
        with suppress(TimeoutError):
            async with asyncio.timeout(duration_s):
                await recorder.full.wait()
    return recorder.result

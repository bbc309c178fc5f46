"""Captures the viewport over CDP."""

from __future__ import annotations

import asyncio
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import CaptureFailed, DeadlineExceeded, ProtocolError
from bridge.page.capture.image import ImageFormat, image_bytes_of
from bridge.page.target.attachment import Attachment

# A capture waits for a frame. Without one it would wait forever.
_TRY_S = 3.0
_TRIES = 2


async def override_view(attachment: Attachment, width: float, height: float, dpr: float, *, timeout_s: float) -> None:
    """Override the size of the view (CSS pixels at zoom 1) and the pixel ratio, for as long as the bridge is attached.

    Desktop Chromium draws content beyond the view with the metrics of the client that captures it, and afterwards has
    lost those that another client (a virtual device) had set.
    """
    metrics = {"width": round(width), "height": round(height), "deviceScaleFactor": dpr, "mobile": True}
    metrics |= {"screenWidth": metrics["width"], "screenHeight": metrics["height"]}
    await attachment.call("Emulation.setDeviceMetricsOverride", metrics, timeout_s=timeout_s)


async def capture_viewport(
    attachment: Attachment,
    image_format: ImageFormat,
    quality: int | None,
    deadline: Deadline,
    *,
    clip: dict[str, float] | None = None,
    is_fast: bool = False,
) -> bytes:
    """Capture the view in device pixels: one round trip.

    Args:
        clip: Capture this part of the document instead, beyond the viewport. WebView repeats the view there.
        is_fast: A larger PNG in less time.

    Raises:
        CaptureFailed: The engine refused, or sent an empty image.
        DeadlineExceeded: The engine drew no frame in time, in several tries.
    """
    params: dict[str, Any] = {"format": image_format}
    if quality is not None:
        params["quality"] = quality
    if is_fast:
        params["optimizeForSpeed"] = True
    if clip is not None:
        params |= {"clip": clip, "captureBeyondViewport": True}
    for attempt in range(1, _TRIES + 1):
        try:
            step_s = deadline.remaining_s if attempt == _TRIES or clip else min(_TRY_S, deadline.remaining_s)
            reply = await attachment.call("Page.captureScreenshot", params, timeout_s=step_s)
            return image_bytes_of(reply)
        except ProtocolError as error:
            raise CaptureFailed(f"the engine refused to capture: {error.reason}") from error
        except DeadlineExceeded:
            if attempt == _TRIES or deadline.passed:
                raise DeadlineExceeded("a screenshot", deadline.timeout_s, "the engine drew no frame") from None
            await asyncio.sleep(0)
    raise AssertionError("unreachable")

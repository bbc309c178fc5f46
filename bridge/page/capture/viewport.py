"""The viewport as the engine renders it, over CDP."""

from __future__ import annotations

import asyncio
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import CaptureFailed, DeadlineExceeded, ProtocolError
from bridge.page.capture.image import ImageFormat, picture_bytes
from bridge.page.target.attachment import Attachment

# A capture waits for a frame; where nothing draws it would wait for ever.
_TRY_S = 3.0
_TRIES = 2


async def pretend_view(attachment: Attachment, width: float, height: float, dpr: float, *, timeout_s: float) -> None:
    """Have the engine show a view of so many CSS px (at zoom 1) at that pixel ratio, as long as we are attached.

    Desktop Chromium draws what is beyond the view as the client that asks for it pretends the screen to be, and then
    has forgotten what another client (a virtual device) pretended.
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
    """The bytes of the picture, as large as the view is in device pixels: one round trip.

    Args:
        clip: Ask for this part of the document instead, beyond the viewport. WebView answers with the view, repeated.
        is_fast: Spend more bytes and less time on a PNG.

    Raises:
        CaptureFailed: The engine refused, or gave an empty picture.
        DeadlineExceeded: Nothing was drawn in time, in several tries.
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
            return picture_bytes(reply)
        except ProtocolError as error:
            raise CaptureFailed(f"the engine refused to capture: {error.reason}") from error
        except DeadlineExceeded:
            if attempt == _TRIES or deadline.passed:
                raise DeadlineExceeded("a screenshot", deadline.timeout_s, "the engine drew no frame") from None
            await asyncio.sleep(0)
    raise AssertionError("unreachable")

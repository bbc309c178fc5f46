"""Pictures of the viewport, as the engine renders it, checked for what they claim to be."""

from __future__ import annotations

import asyncio
import base64
import binascii
import io
from collections.abc import Mapping
from typing import Any, Literal, get_args

from bridge.deadline import Deadline
from bridge.errors import CaptureFailed, DeadlineExceeded, ProtocolError, UsageError
from bridge.page.attachment import Attachment

ImageFormat = Literal["png", "jpeg", "webp"]
# A capture waits for a frame; where nothing draws it would wait for ever.
_TRY_S = 3.0
_TRIES = 2


def checked_format(name: str, quality: int | None) -> None:
    if name not in get_args(ImageFormat):
        raise UsageError(f"format={name!r}", hint=f"One of {', '.join(get_args(ImageFormat))}.")
    if quality is not None and (name == "png" or not 0 <= quality <= 100):
        raise UsageError(f"quality={quality} with {name}", hint="0 to 100, for jpeg and webp.")


async def capture_viewport(
    attachment: Attachment, image_format: ImageFormat, quality: int | None, *, timeout_s: float
) -> bytes:
    """The bytes of the picture, as large as the view is in device pixels: one round trip.

    Raises:
        CaptureFailed: The engine refused, or gave an empty picture.
        DeadlineExceeded: Nothing was drawn in time, in several tries.
    """
    deadline = Deadline.after(timeout_s)
    params: dict[str, Any] = {"format": image_format}
    if quality is not None:
        params["quality"] = quality
    for attempt in range(1, _TRIES + 1):
        try:
            step_s = deadline.remaining_s if attempt == _TRIES else min(_TRY_S, deadline.remaining_s)
            reply = await attachment.call("Page.captureScreenshot", params, timeout_s=step_s)
            return _decoded(reply)
        except ProtocolError as error:
            raise CaptureFailed(f"the engine refused to capture: {error.reason}") from error
        except DeadlineExceeded:
            if attempt == _TRIES or deadline.passed:
                raise DeadlineExceeded("a screenshot", timeout_s, "the engine drew no frame") from None
            await asyncio.sleep(0)
    raise AssertionError("unreachable")


def _decoded(reply: Mapping[str, Any]) -> bytes:
    try:
        image = base64.b64decode(reply["data"], validate=True)
    except (KeyError, TypeError, binascii.Error) as error:
        raise CaptureFailed("the engine answered without a picture") from error
    if not image:
        raise CaptureFailed("the engine answered with an empty picture", hint="Is the view attached and larger than 0?")
    return image


def picture_size(image_bytes: bytes) -> tuple[int, int]:
    """Width and height in pixels, read from the picture itself.

    Raises:
        CaptureFailed: The bytes are no picture, or it has no area.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(image_bytes)) as image:
            width_px, height_px = image.size
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise CaptureFailed(f"what the engine sent is no picture: {error}") from error
    if width_px < 1 or height_px < 1:
        raise CaptureFailed(f"the picture is {width_px} x {height_px} px")
    return width_px, height_px


def resized(image_bytes: bytes, width_px: int, height_px: int, image_format: ImageFormat, quality: int | None) -> bytes:
    """The same picture at another size, in the same format."""
    from PIL import Image

    with Image.open(io.BytesIO(image_bytes)) as image:
        smaller = image.resize((width_px, height_px), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    if quality is None:
        smaller.save(out, image_format.upper())
    else:
        smaller.save(out, image_format.upper(), quality=quality)
    return out.getvalue()

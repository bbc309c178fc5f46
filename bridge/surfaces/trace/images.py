"""The screenshots of a trace: small, deduplicated and bounded in total."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from bridge.errors import BridgeError, UsageError
from bridge.page.capture.image import decoded, encoded, resized

MAX_SCREENSHOT_BYTES = 32_000
MAX_TOTAL_BYTES = 9_000_000  # a third more as Base64; the whole file stays under 20 MB
WIDTH_PX = 412
QUALITY = 45
_LAST_QUALITY = 25


class TraceImages:
    """WebP screenshots by number."""

    def __init__(self, max_total_bytes: int = MAX_TOTAL_BYTES) -> None:
        self._kept: list[bytes] = []
        self._numbers: dict[bytes, int] = {}
        self._left = max_total_bytes
        self.dropped = 0

    def add(self, webp: bytes) -> int | None:
        """Add a screenshot; returns its number, or that of an equal one, or None if it does not fit."""
        digest = hashlib.sha256(webp).digest()
        number = self._numbers.get(digest)
        if number is not None:
            return number
        small = compact(webp)
        if len(small) > self._left:
            self.dropped += 1
            return None
        self._left -= len(small)
        self._kept.append(small)
        self._numbers[digest] = len(self._kept) - 1
        return len(self._kept) - 1

    def to_json(self) -> list[str]:
        return [base64.b64encode(screenshot).decode("ascii") for screenshot in self._kept]


def compact(webp: bytes) -> bytes:
    """Reduce a screenshot to MAX_SCREENSHOT_BYTES: first width, then quality, then half the width."""
    if len(webp) <= MAX_SCREENSHOT_BYTES:
        return webp
    try:
        bitmap = decoded(webp)
    except BridgeError:
        return b""
    smaller = webp
    for width, quality in ((WIDTH_PX, QUALITY), (WIDTH_PX, _LAST_QUALITY), (WIDTH_PX // 2, _LAST_QUALITY)):
        if bitmap.width > width:
            bitmap = resized(bitmap, width, max(1, round(bitmap.height * width / bitmap.width)))
        smaller = encoded(bitmap, "webp", quality)
        if len(smaller) <= MAX_SCREENSHOT_BYTES:
            break
    return smaller


def write_screenshots(screenshots: Sequence[str], folder: Path) -> list[str]:
    """Write the screenshots of a trace as `0.webp`, …; returns the file names.

    Raises:
        UsageError: The folder cannot be created or written to, or a screenshot is not valid.
    """
    names = [f"{number}.webp" for number in range(len(screenshots))]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, screenshot in zip(names, screenshots, strict=True):
            (folder / name).write_bytes(base64.b64decode(screenshot, validate=True))
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from error
    except (ValueError, TypeError) as error:
        raise UsageError(f"the trace's images are not valid: {error}") from error
    return names

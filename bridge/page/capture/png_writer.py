"""A PNG that is written while its rows become known (W3C PNG, third edition, §9 filtering, §10 compression).

A tall picture is made of views that come one after the other; compressing each while the next one is drawn leaves
nothing to wait for at the end. One filter per band instead of one per row: choosing costs more than it saves.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image as Bitmap

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB, _BITS = 2, 8
_LEVEL = 3
_NONE, _SUB, _UP = 0, 1, 2
# So many rows of a band are compressed in each way to see which is the best for it.
_SAMPLE_ROWS = 24


class PngWriter:
    """Bands of rows from the top down, as RGB bitmaps of the picture's whole width."""

    def __init__(self, width_px: int, height_px: int) -> None:
        header = struct.pack(">IIBBBBB", width_px, height_px, _BITS, _RGB, 0, 0, 0)
        self._chunks = [_SIGNATURE, _chunk(b"IHDR", header)]
        self._zlib = zlib.compressobj(_LEVEL)
        self._rows_left = height_px
        self._above: Bitmap | None = None

    def add(self, band: Bitmap) -> None:
        """The rows that follow."""
        self._rows_left -= band.height
        middle = max(0, (band.height - _SAMPLE_ROWS) // 2)
        sample = band.crop((0, middle, band.width, min(band.height, middle + _SAMPLE_ROWS)))
        best = min((_NONE, _SUB, _UP), key=lambda kind: len(zlib.compress(_filtered(sample, kind, None), 1)))
        compressed = self._zlib.compress(_filtered(band, best, self._above))
        if compressed:
            self._chunks.append(_chunk(b"IDAT", compressed))
        self._above = band.crop((0, band.height - 1, band.width, band.height))

    def finish(self) -> bytes:
        """The file.

        Raises:
            ValueError: There were more rows than announced, or fewer.
        """
        if self._rows_left:
            raise ValueError(f"{self._rows_left} rows of the picture are missing")
        return b"".join((*self._chunks, _chunk(b"IDAT", self._zlib.flush()), _chunk(b"IEND", b"")))


def _filtered(band: Bitmap, kind: int, above: Bitmap | None) -> bytes:
    """Every row with its filter's number before it; modulo 256, byte by byte."""
    from PIL import Image, ImageChops

    width, height = band.size
    changed = band
    if kind != _NONE:
        # What each pixel is compared with: the one on its left, or above; where there is none, black.
        beside = Image.new("RGB", band.size)
        if kind == _SUB:
            beside.paste(band.crop((0, 0, width - 1, height)), (1, 0))
        else:
            beside.paste(band.crop((0, 0, width, height - 1)), (0, 1))
            if above is not None:
                beside.paste(above, (0, 0))
        changed = ImageChops.subtract_modulo(band, beside)
    content, stride, prefix = changed.tobytes(), 3 * width, bytes([kind])
    return prefix + prefix.join(content[at : at + stride] for at in range(0, len(content), stride))


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

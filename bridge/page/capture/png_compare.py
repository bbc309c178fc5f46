"""What the rows of a PNG say without decoding all of it (W3C PNG, third edition, §5 chunks, §9 filtering).

Decoding a tall picture takes longer than everything else that is done to it here, and a look at its first views is
enough to see that it does not show the same view twice.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">IIBBBBB")
# Samples per pixel of each colour type.
_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# Most pages show something else in the first rows already.
_FEW_ROWS = 100


def surely_differs(png: bytes, period_px: int) -> bool:
    """Whether some row of the first `period_px` certainly is another one `period_px` below; False: look at the pixels.

    False too for what is no whole PNG, or one that is written in another way than engines write theirs.
    """
    try:
        return _differs(png, period_px)
    except (struct.error, zlib.error, KeyError, ValueError):
        return False


def _differs(png: bytes, period_px: int) -> bool:
    chunks = list(_chunks(png))
    if not chunks or chunks[0][0] != b"IHDR" or chunks[-1][0] != b"IEND":
        return False
    width_px, height_px, depth, colour, _, _, is_interlaced = _HEADER.unpack(chunks[0][1])
    if is_interlaced or height_px <= period_px:
        return False
    stride = 1 + (width_px * depth * _SAMPLES[colour] + 7) // 8
    compressed = b"".join(content for name, content in chunks if name == b"IDAT")
    return any(
        _differ(compressed, stride, period_px, min(height_px, period_px + compared))
        for compared in (min(_FEW_ROWS, period_px), period_px)
    )


def _differ(compressed: bytes, stride: int, period_px: int, rows: int) -> bool:
    """What a filter makes of a row follows from that row and the one above it: where the same filter has made something
    else of it further down, one of the two is another one there. The first row has none above it.
    """
    content = memoryview(zlib.decompressobj().decompress(compressed, rows * stride))
    if len(content) < rows * stride:
        return False
    first, below = content[stride : (rows - period_px) * stride], content[(period_px + 1) * stride :]
    return any(
        first[at] == below[at] and first[at : at + stride] != below[at : at + stride]
        for at in range(0, len(first), stride)
    )


def _chunks(png: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """Name and content of each; ValueError where the file ends inside of one."""
    if not png.startswith(_SIGNATURE):
        return
    view, at = memoryview(png), len(_SIGNATURE)
    while at < len(png):
        length, name = struct.unpack_from(">I4s", png, at)
        if at + 12 + length > len(png):
            raise ValueError("a chunk is cut")
        yield name, view[at + 8 : at + 8 + length]
        at += 12 + length

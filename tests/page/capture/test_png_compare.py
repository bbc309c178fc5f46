"""What is certain about the rows of a PNG before it is decoded."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from bridge.page.capture.png_compare import surely_differs
from bridge.page.capture.png_writer import PngWriter

VIEW_PX = 120


def by_pillow(bitmap: Image.Image) -> bytes:
    out = io.BytesIO()
    bitmap.save(out, "PNG")
    return out.getvalue()


def by_bands(bitmap: Image.Image) -> bytes:
    rows = PngWriter(*bitmap.size)
    rows.add(bitmap)
    return rows.finish()


def picture(colours: list[int]) -> Image.Image:
    """A row per colour, with a slope in it so that every filter has something to do."""
    out = Image.new("RGB", (16, len(colours)))
    for y, colour in enumerate(colours):
        for x in range(16):
            out.putpixel((x, y), ((x * 9 + colour) & 255, colour & 255, x))
    return out


def view(seed: int) -> list[int]:
    return [(row * seed) % 251 for row in range(VIEW_PX)]


@pytest.mark.parametrize("encode", [by_pillow, by_bands])
def test_another_view_below_the_first_is_seen(encode: Callable[[Image.Image], bytes]) -> None:
    assert surely_differs(encode(picture(view(3) + view(5))), VIEW_PX)


@pytest.mark.parametrize("row", [1, 60, VIEW_PX - 1])
def test_one_other_row_is_enough(row: int) -> None:
    below = view(3)
    below[row] += 100
    assert surely_differs(by_bands(picture(view(3) + below)), VIEW_PX)


@pytest.mark.parametrize("encode", [by_pillow, by_bands])
@pytest.mark.parametrize("height_px", [VIEW_PX + 1, VIEW_PX + 2, 2 * VIEW_PX, 3 * VIEW_PX + 7])
def test_the_same_view_again_is_never_called_another(encode: Callable[[Image.Image], bytes], height_px: int) -> None:
    assert not surely_differs(encode(picture((view(3) * 4)[:height_px])), VIEW_PX)


@given(st.lists(st.integers(0, 255), min_size=1, max_size=20), st.integers(1, 12), st.integers(1, 40))
@settings(deadline=None)
def test_what_is_said_to_differ_does(block: list[int], period_px: int, repeated: int) -> None:
    bitmap = picture(block * repeated)
    below = min(bitmap.height, 2 * period_px)
    same = below <= period_px or (
        bitmap.crop((0, 0, 16, below - period_px)).tobytes() == bitmap.crop((0, period_px, 16, below)).tobytes()
    )
    assert not (surely_differs(by_pillow(bitmap), period_px) and same)


def test_nothing_is_certain_of_what_is_no_whole_picture() -> None:
    whole = by_pillow(picture(view(3) + view(5)))
    assert not surely_differs(b"", VIEW_PX)
    assert not surely_differs(whole[:-1], VIEW_PX)
    assert not surely_differs(whole[: len(whole) // 2], VIEW_PX)
    assert not surely_differs(whole[:40] + bytes(20) + whole[60:], VIEW_PX)
    assert not surely_differs(b"GIF89a" + whole, VIEW_PX)
    assert not surely_differs(whole, 10**9)

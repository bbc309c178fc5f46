"""Differences between images: how many pixels, and where."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from bridge.errors import UsageError
from bridge.page.capture.compare import diff


def image(size: tuple[int, int], *patches: tuple[tuple[int, int, int, int], str], format: str = "PNG") -> bytes:
    image = Image.new("RGB", size, "white")
    for box, colour in patches:
        image.paste(colour, box)
    out = io.BytesIO()
    image.save(out, format)
    return out.getvalue()


def test_equal_images_do_not_differ() -> None:
    one = image((30, 20), ((3, 3, 9, 9), "blue"))
    same = diff(one, one)
    assert (same.ratio, same.boxes, same.differing_px) == (0, (), 0)


def test_each_place_that_differs_has_a_tight_box_of_its_own() -> None:
    changed = diff(image((100, 80)), image((100, 80), ((10, 12, 15, 20), "red"), ((70, 60, 100, 80), "black")))
    assert changed.boxes == ((10, 12, 5, 8), (70, 60, 30, 20))
    assert changed.differing_px == 5 * 8 + 30 * 20
    assert changed.ratio == pytest.approx(640 / 8000)
    shown = Image.open(io.BytesIO(changed.image_bytes))
    assert shown.getpixel((12, 15)) == (220, 0, 0)
    assert shown.getpixel((50, 50)) == (255, 255, 255)


def test_pixels_of_only_one_image_differ() -> None:
    taller = diff(image((10, 10)), image((10, 15)))
    assert (taller.width_px, taller.height_px, taller.differing_px) == (10, 15, 50)


def test_the_threshold_says_how_far_apart_colours_must_be() -> None:
    grey = image((10, 10), ((0, 0, 10, 10), "rgb(240,255,255)"))
    assert diff(image((10, 10)), grey, threshold=0.1).ratio == 0
    assert diff(image((10, 10)), grey, threshold=0.05).ratio == 1


@given(st.integers(0, 59), st.integers(0, 39))
def test_a_single_pixel_is_never_overlooked(x: int, y: int) -> None:
    found = diff(image((60, 40)), image((60, 40), ((x, y, x + 1, y + 1), "black")), threshold=0)
    assert found.boxes == ((x, y, 1, 1),)


def test_an_invalid_image_or_threshold_is_bad_usage() -> None:
    with pytest.raises(UsageError):
        diff(b"not an image", image((1, 1)))
    for threshold in (-0.1, 1.0, float("nan")):
        with pytest.raises(UsageError):
            diff(image((1, 1)), image((1, 1)), threshold)

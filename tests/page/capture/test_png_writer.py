"""Pictures that are compressed band by band are, read again, what was put in."""

from __future__ import annotations

import io
import random

import pytest
from PIL import Image

from bridge.page.capture.png_writer import PngWriter


def noise(width: int, height: int) -> Image.Image:
    choose = random.Random(width * height)  # noqa: S311 - a repeatable picture
    return Image.frombytes("RGB", (width, height), choose.randbytes(3 * width * height))


def gradient(width: int, height: int) -> Image.Image:
    return Image.linear_gradient("L").resize((width, height)).convert("RGB")


@pytest.mark.parametrize("picture", [noise(1, 1), noise(37, 90), gradient(50, 300), gradient(300, 50).rotate(90)])
@pytest.mark.parametrize("band_px", [1, 7, 1000])
def test_every_pixel_comes_back(picture: Image.Image, band_px: int) -> None:
    rows = PngWriter(*picture.size)
    for top in range(0, picture.height, band_px):
        rows.add(picture.crop((0, top, picture.width, min(picture.height, top + band_px))))
    with Image.open(io.BytesIO(rows.finish())) as read:
        assert read.mode == "RGB"
        assert read.tobytes() == picture.tobytes()


def test_a_filter_is_chosen_that_suits_the_picture() -> None:
    picture = gradient(400, 400)
    rows = PngWriter(*picture.size)
    rows.add(picture)
    assert len(rows.finish()) < 10_000 < len(picture.tobytes())


def test_a_picture_that_is_not_whole_is_not_given_out() -> None:
    rows = PngWriter(4, 3)
    rows.add(noise(4, 2))
    with pytest.raises(ValueError, match="1 rows of the picture are missing"):
        rows.finish()

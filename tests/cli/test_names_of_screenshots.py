"""The suffix of a file name decides the format of a screenshot, unless --format is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.surfaces.cli.commands.pages.capture import _format_of

FORMATS = ("png", "jpeg", "webp")


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("a.png", "png"),
        ("a.jpg", "jpeg"),
        ("a.JPEG", "jpeg"),
        ("a.webp", "webp"),
        ("a.tar.webp", "webp"),
        ("a.bmp", "png"),
        ("jpg", "png"),
        ("webp/a", "png"),
    ],
)
def test_the_suffix_decides_the_format_and_png_is_the_default(name: str, held: str) -> None:
    assert _format_of(Path(name), FORMATS) == held


def test_without_a_file_it_is_the_first_format() -> None:
    assert _format_of(None, FORMATS) == "png"
    assert _format_of(None, ("webp", "gif")) == "webp"
    assert _format_of(Path("a.gif"), ("webp", "gif")) == "gif"

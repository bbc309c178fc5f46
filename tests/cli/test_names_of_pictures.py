"""A picture holds what the name of its file says, unless somebody says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.surfaces.cli.commands.capture import _format_of

PICTURES = ("png", "jpeg", "webp")


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
def test_the_suffix_tells_the_format_and_what_it_does_not_tell_is_a_png(name: str, held: str) -> None:
    assert _format_of(Path(name), PICTURES) == held


def test_without_a_file_it_is_the_first_format() -> None:
    assert _format_of(None, PICTURES) == "png"
    assert _format_of(None, ("webp", "gif")) == "webp"
    assert _format_of(Path("a.gif"), ("webp", "gif")) == "gif"

"""The images of README and docs are the ones that tools/screenshots takes."""

from __future__ import annotations

import re
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / ".github" / "images"


def names() -> set[str]:
    found = re.search(r"^NAMES = \(([^)]*)\)$", (ROOT / "tools" / "screenshots.py").read_text(), re.MULTILINE)
    assert found
    return set(re.findall(r'"([^"]+)"', found[1]))


def test_every_image_is_made_by_the_script_and_none_is_left_over() -> None:
    assert {path.name for path in IMAGES.glob("*.png")} == names()


def test_images_are_real_and_small() -> None:
    for name in names():
        with Image.open(IMAGES / name) as image:
            assert image.width >= 400
            assert len(image.convert("RGB").getcolors(1 << 24) or ()) > 8
        assert (IMAGES / name).stat().st_size < 150_000

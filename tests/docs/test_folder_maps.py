"""The READMEs of the packages: what they name exists, and each package is described."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "bridge"
MAPS = sorted(PACKAGE.glob("**/README.md"))
FOLDERS = sorted({path.parent for path in PACKAGE.glob("**/*.py")})
_MODULE = re.compile(r"`([\w*]+(?:/[\w*]+)*\.(?:py|js))`")


@pytest.mark.parametrize("readme", MAPS, ids=lambda readme: str(readme.parent.relative_to(PACKAGE)))
def test_every_module_that_a_map_names_is_there(readme: Path) -> None:
    named = _MODULE.findall(readme.read_text(encoding="utf-8"))
    places = (readme.parent, PACKAGE, PACKAGE.parent)
    missing = [name for name in named if not any(list(place.glob(name)) for place in places)]
    missing = [name for name in missing if not list(readme.parent.glob(f"*/{name}"))]
    assert missing == []
    assert named


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(PACKAGE)))
def test_every_package_has_a_short_readme_or_is_described_above(folder: Path) -> None:
    if (folder / "README.md").exists():
        return
    above = next(place / "README.md" for place in folder.parents if (place / "README.md").exists())
    assert f"`{folder.relative_to(above.parent)}/" in above.read_text(encoding="utf-8")

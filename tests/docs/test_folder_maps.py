"""The READMEs of the package's folders are maps: what they name is there, and what is there they name."""

from __future__ import annotations

import re
from fnmatch import fnmatch
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
def test_every_module_of_a_folder_is_on_its_map_or_on_the_one_above(folder: Path) -> None:
    above = next(place for place in (folder, *folder.parents) if (place / "README.md").exists())
    named = _MODULE.findall((above / "README.md").read_text(encoding="utf-8"))
    unnamed = [
        path.name
        for path in folder.glob("[!_]*.py")
        if not any(fnmatch(path.name, name) or fnmatch(str(path.relative_to(above)), name) for name in named)
    ]
    assert unnamed == []

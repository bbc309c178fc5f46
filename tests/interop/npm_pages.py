"""Pages that are built from npm packages, once for each state of their sources."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bridge.surfaces.pytest_plugin.local_server import serving
from tests.conftest import LocalServer

_CACHE = Path(__file__).parents[2] / ".cache"


@contextmanager
def built_pages(sources: Path) -> Iterator[LocalServer]:
    """A server of the pages of a folder with `package.json`, `build.mjs` and `src`; skips the test where npm fails."""
    files = sorted(path for path in sources.rglob("*") if path.is_file())
    wanted = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    cache = _CACHE / sources.name
    stamp, pages = cache / "stamp", cache / "pages"
    if not stamp.exists() or stamp.read_text() != wanted:
        if not shutil.which("npm"):
            pytest.skip("npm builds the pages, and it is not there")
        cache.mkdir(parents=True, exist_ok=True)
        shutil.copy(sources / "package.json", cache)
        install = ("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
        for command in (install, ("node", str(sources / "build.mjs"), str(cache / "node_modules"), str(pages))):
            done = subprocess.run(command, cwd=cache, capture_output=True, text=True, timeout=500, check=False)
            if done.returncode:
                pytest.skip(f"{' '.join(command[:2])} ended with {done.returncode}: {done.stderr[-800:]}")
        stamp.write_text(wanted)
    with serving(pages) as server:
        yield server

"""The framework pages, built from npm packages into `.cache` where that is not done yet."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "tests" / "pages" / "frameworks"
CACHE = ROOT / ".cache" / "frameworks"
FRAMEWORKS = ("react", "vue", "svelte", "lit")


class CannotBuild(Exception):
    """No npm, or no registry."""


def built_pages() -> Path:
    """The folder with `react.html`, `vue.html`, `svelte.html` and `lit.html`; `npm install` runs once per change.

    Raises:
        CannotBuild: With what the tool said.
    """
    sources = sorted(path for path in SOURCES.rglob("*") if path.is_file())
    text = b"".join(path.name.encode() + b"\0" + path.read_bytes() for path in sources)
    stamp, wanted = CACHE / "stamp", hashlib.sha256(text).hexdigest()
    output = CACHE / "pages"
    if stamp.exists() and stamp.read_text() == wanted:
        return output
    if not shutil.which("npm") or not shutil.which("node"):
        raise CannotBuild("npm and node build the framework pages, and they are not there")
    CACHE.mkdir(parents=True, exist_ok=True)
    shutil.copy(SOURCES / "package.json", CACHE / "package.json")
    _run("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
    _run("node", str(SOURCES / "build.mjs"), str(CACHE / "node_modules"), str(output))
    stamp.write_text(wanted)
    return output


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise CannotBuild(f"{' '.join(command[:2])} ended with {done.returncode}: {done.stderr[-800:]}")

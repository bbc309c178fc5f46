"""Old Chromium builds in the cache, by their major version; `tools/engines` fetches them."""

from __future__ import annotations

import os
from pathlib import Path

from bridge.errors import ChromiumMissing


def engines_folder() -> Path:
    """The folder of all cached engines."""
    if named := os.environ.get("WEBVIEW_BRIDGE_CACHE"):
        return Path(named) / "engines"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "webview-bridge" / "engines"


def engine_program(version: int) -> Path:
    """The program of an engine in the cache, whether or not it has been fetched."""
    return engines_folder() / str(version) / "chromium"


def require_engine(version: int) -> Path:
    """The program of a fetched engine.

    Raises:
        ChromiumMissing: The engine is not in the cache; the hint lists those that are.
    """
    program = engine_program(version)
    if not program.is_file():
        cached = ", ".join(str(found) for found in cached_engines()) or "none"
        raise ChromiumMissing(
            f"Chromium {version} is not in {engines_folder()}.",
            hint=f"Run tools/engines {version} in a checkout. Cached engines: {cached}.",
        )
    return program


def cached_engines() -> list[int]:
    """The major versions of the fetched engines, oldest first."""
    folders = engines_folder().glob("*/chromium")
    return sorted(int(program.parent.name) for program in folders if program.parent.name.isdecimal())

"""Old Chromium builds in the cache, by their major version; `tools/engines` fetches them."""

from __future__ import annotations

import os
from pathlib import Path


def engines_folder() -> Path:
    """The folder of all cached engines."""
    if named := os.environ.get("WEBVIEW_BRIDGE_CACHE"):
        return Path(named) / "engines"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "webview-bridge" / "engines"


def engine_program(version: int) -> Path:
    """The program of a cached engine, which may not exist."""
    return engines_folder() / str(version) / "chromium"

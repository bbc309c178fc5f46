"""The injected script as packaged: built from `injected_js/`, one file for both ways to run it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def source() -> str:
    """The script for the page's own world; evaluating it installs `__agentBrowser`."""
    return files("bridge.snapshot").joinpath("injected.min.js").read_text("utf-8")


@cache
def isolated_source() -> str:
    """The script for an isolated world, where refs live in a map and the page's DOM is never written to."""
    return f"globalThis.__agentBrowserIsolated=1;{source()}"

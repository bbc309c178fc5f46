"""The injected script as packaged, built from `injected_js/`: one file for both ways to run it, one for the bridge."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def source() -> str:
    """The script for the page's own world; evaluating it installs `__agentBrowser`."""
    return _packaged("injected.min.js")


@cache
def isolated_source() -> str:
    """The script for an isolated world, where refs live in a map and the page's DOM is never written to.

    What only the bridge calls (checks, the guard, settling, waiting) follows in the same evaluation.
    """
    return f"globalThis.__agentBrowserIsolated=1;{source()}{_packaged('checks.min.js')}"


def _packaged(name: str) -> str:
    return files("bridge.snapshot").joinpath(name).read_text("utf-8")

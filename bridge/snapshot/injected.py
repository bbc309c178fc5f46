"""The injected script as packaged, built from `injected_js/`: for pages' own worlds and for the bridge."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files


@cache
def source(*, replies: bool = True) -> str:
    """The script for the page's own world; evaluating it installs `__agentBrowser`, with `replies` that explain
    themselves."""
    names = ("standalone.min.js", "standalone_actions.min.js", *(("standalone_replies.min.js",) if replies else ()))
    return "".join(packaged_script("bridge.snapshot", name) for name in names)


@cache
def isolated_source() -> str:
    """The script for an isolated world, where refs live in a map and the page's DOM is never written to.

    What mends old engines comes first, for the world's own prototypes. What only the bridge calls (checks, the guard,
    settling, waiting) follows in the same evaluation.
    """
    names = ("css_zoom.min.js", "injected.min.js", "actions.min.js", "checks.min.js")
    parts = (packaged_script("bridge.snapshot", name) for name in names)
    return f"globalThis.__agentBrowserIsolated=1;{''.join(parts)}"


def packaged_script(package: str, name: str) -> str:
    """A script that `tools/build-injected` writes into a package."""
    return files(package).joinpath(name).read_text("utf-8")


def method_of_script(function: str) -> str:
    """A declaration for `Runtime.callFunctionOn`: one of the script's functions, of `this` and the arguments."""
    return f"function(...a){{return __agentBrowser.{function}(this,...a)}}"


def script_call(function: str, *arguments: object) -> str:
    """A call of one of the script's functions."""
    return f"__agentBrowser.{function}({','.join(map(json.dumps, arguments))})"

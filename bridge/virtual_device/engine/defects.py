"""Defects that a phone or a WebView may have, for `fault("defect", what=…)`: each makes a check of the doctor fail."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from types import MappingProxyType

from bridge.snapshot.injected import packaged_script

# In pages, by a script before theirs: injected_js/src/webview/defects.js.
IN_PAGES = frozenset(
    {
        "bare_clicks",
        "blank_page",
        "crashing_pickers",
        "flat_canvas",
        "no_alerts",
        "no_beforeunload",
        "no_context_menu",
        "no_date",
        "no_double_click",
        "no_downloads",
        "no_files",
        "no_frames",
        "no_keys",
        "no_select",
        "no_service_worker",
        "no_third_party_cookies",
        "no_windows",
    }
)
# Commands that this engine refuses as unknown.
REFUSED_COMMANDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "no_captures": frozenset({"Page.captureScreenshot"}),
        "no_interception": frozenset({"Fetch.enable"}),
        "no_navigation": frozenset({"Page.navigate"}),
    }
)
# In the app: who may use it, what it reports, and what the system does to its process.
IN_APP = frozenset(
    {
        "any_owner",
        "never_idle",
        "no_devtools_in_apps",
        "shared_profiles",
        "silent_crashes",
        "sleeps_in_doze",
        "sleeps_in_the_dark",
    }
)
DEFECTS = IN_PAGES | IN_APP | set(REFUSED_COMMANDS)


def defects_script(names: Collection[str], secret: str) -> str:
    """The script for every document of a tab; "" if no defect is one of pages. `secret` marks opened pickers."""
    chosen = sorted(IN_PAGES.intersection(names))
    if not chosen:
        return ""
    script = packaged_script("bridge.virtual_device.engine", "defects.min.js")
    return f"{script}({json.dumps(chosen)},{json.dumps(secret)})"


def is_refused(method: str, names: Collection[str]) -> bool:
    """True if one of the defects makes the engine refuse a command."""
    return any(method in refused for name, refused in REFUSED_COMMANDS.items() if name in names)

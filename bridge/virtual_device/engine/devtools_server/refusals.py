"""CDP commands that WebView refuses and Chromium does not."""

from __future__ import annotations

from typing import TypeAlias

Refusal: TypeAlias = tuple[int, str]
"""The code and the message of a JSON-RPC error."""

_NOT_SUPPORTED: Refusal = (-32000, "Not supported")
_NO_CONTEXTS: Refusal = (-32000, "Browser context management is not supported")
_NOT_ALLOWED: Refusal = (-32000, "Not allowed")
NO_TARGET: Refusal = (-32602, "No target with given id found")
_NOT_FOUND = -32601

_CONTEXT_METHODS = frozenset(
    {
        "Target.createBrowserContext",
        "Target.getBrowserContexts",
        "Target.disposeBrowserContext",
        "Browser.setDownloadBehavior",
        "Browser.cancelDownload",
        "Browser.grantPermissions",
        "Browser.resetPermissions",
        "Browser.setPermission",
        "Page.setDownloadBehavior",
    }
)
_ABSENT_METHODS = frozenset(
    {
        "Browser.close",
        "Browser.getWindowBounds",
        "Browser.getWindowForTarget",
        "Browser.setContentsSize",
        "Browser.setDockTile",
        "Browser.setWindowBounds",
        "Browser.executeBrowserCommand",
        "Page.printToPDF",
    }
)
NAMING_A_TARGET = frozenset(
    {"Target.attachToTarget", "Target.getTargetInfo", "Target.closeTarget", "Target.activateTarget"}
)


def refused(method: str, *, at_browser: bool) -> Refusal | None:
    """The error for a refused command; None if Chromium serves it.

    Args:
        at_browser: Whether the command is for the browser and not for a target.
    """
    if method == "Target.createTarget":
        return _NOT_SUPPORTED
    if method in _CONTEXT_METHODS or (at_browser and method.startswith("Storage.")):
        return _NO_CONTEXTS
    if method in _ABSENT_METHODS:
        return _NOT_FOUND, f"'{method}' wasn't found"
    if method in ("Target.attachToBrowserTarget", "Target.exposeDevToolsProtocol"):
        return _NOT_ALLOWED
    return None

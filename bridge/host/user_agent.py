"""The user agent of the host app's tabs, for requests and engines that imitate them. Pure."""

from __future__ import annotations

#: The newest WebView that the project has been tested on; docs/verification.md names it too.
NEWEST_WEBVIEW = 156


def mobile_user_agent(chromium_version: str = str(NEWEST_WEBVIEW)) -> str:
    """The reduced user agent of mobile Chrome (developer.chrome.com/docs/privacy-security/user-agent-reduction)."""
    major = chromium_version.partition(".")[0]
    return (
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{major}.0.0.0 Mobile Safari/537.36"
    )

"""Errors of navigations."""

from __future__ import annotations

from bridge.errors import BridgeError, NavigationFailed, PolicyRefused
from bridge.page.target.attachment import Attachment

_HINTS = {
    "net::ERR_NAME_NOT_RESOLVED": "Check the host name; the device itself resolves it.",
    "net::ERR_CONNECTION_REFUSED": "No server listens there on the device. One on this machine needs --local PORT.",
    "net::ERR_INTERNET_DISCONNECTED": "The device has no network.",
    "net::ERR_CLEARTEXT_NOT_PERMITTED": "The installed host app does not allow plain http: reinstall it.",
    "net::ERR_INVALID_AUTH_CREDENTIALS": "The server asks for credentials; set them with set_http_credentials.",
    "net::ERR_ABORTED": "The address may start a download, open another app, or return no content.",
}


class CommitTimedOut(BridgeError):
    """The response for `loader_id` arrived, but the script of the old document keeps the main thread busy."""

    code = "commit_timed_out"

    def __init__(self, url: str, loader_id: str) -> None:
        super().__init__(f"a script of the previous document keeps the main thread busy, so {url} cannot be shown")
        self.url = url
        self.loader_id = loader_id


class EndlessDialogs(Exception):
    """The old document opens dialog after dialog, and nothing stops its script: its renderer has to be killed.

    Leaving it with a dialog open makes Chromium 156 abort (`bad_variant_access`) when its tab closes or detaches.
    """


def navigation_failed(url: str, net_error: str) -> NavigationFailed:
    """The error with the hint for Chromium's net error."""
    return NavigationFailed(url, net_error, hint=_HINTS.get(net_error, ""))


def refused_navigation(error: PolicyRefused) -> str:
    """The notice about a navigation that the page started and the policy refused."""
    return f"the page tried to navigate, and stays open: {error.message}"


def check_arrived(attachment: Attachment) -> None:
    """Raise if the browser shows its own error page: the document that was opened has navigated on.

    Raises:
        PolicyRefused: It went to an address that the policy forbids.
        NavigationFailed: The address that it went to cannot be loaded.
    """
    state = attachment.state
    if state.main is None or not state.main.unreachable_url:
        return
    attachment.check_shown(state.main.address)
    raise navigation_failed(state.main.unreachable_url, state.failures.get(state.main.loader_id, "net::ERR_FAILED"))

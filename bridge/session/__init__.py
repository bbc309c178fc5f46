"""A session on a device: its tabs, how its traffic leaves, and the WebViews of other apps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.lazy_names import lazy_names

if TYPE_CHECKING:
    from bridge.session.attached.devtools_sockets import devtools_sockets, pages_of
    from bridge.session.attached.session import AttachedSession
    from bridge.session.capabilities import OLDEST_WEBVIEW, Capabilities
    from bridge.session.devices import SelectedDevice, VirtualDevices, select_device
    from bridge.session.session import Session
    from bridge.session.storage.isolated import PROFILE
    from bridge.session.tab_cursor import TabCursor
    from bridge.session.tab_host import View
    from bridge.session.tracing import TracedSession, check_writable

__all__ = [
    "OLDEST_WEBVIEW",
    "PROFILE",
    "AttachedSession",
    "Capabilities",
    "SelectedDevice",
    "Session",
    "TabCursor",
    "TracedSession",
    "View",
    "VirtualDevices",
    "check_writable",
    "devtools_sockets",
    "pages_of",
    "select_device",
]

__getattr__ = lazy_names(
    __name__,
    {
        "AttachedSession": "bridge.session.attached.session",
        "Capabilities": "bridge.session.capabilities",
        "OLDEST_WEBVIEW": "bridge.session.capabilities",
        "PROFILE": "bridge.session.storage.isolated",
        "SelectedDevice": "bridge.session.devices",
        "Session": "bridge.session.session",
        "TabCursor": "bridge.session.tab_cursor",
        "TracedSession": "bridge.session.tracing",
        "View": "bridge.session.tab_host",
        "VirtualDevices": "bridge.session.devices",
        "check_writable": "bridge.session.tracing",
        "devtools_sockets": "bridge.session.attached.devtools_sockets",
        "pages_of": "bridge.session.attached.devtools_sockets",
        "select_device": "bridge.session.devices",
    },
)

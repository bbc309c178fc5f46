"""The host app seen from Python: its control protocol and the client of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.lazy_names import lazy_names

if TYPE_CHECKING:
    from bridge.host.client import HostClient, HostEvents, HostHello, HostReply, HostTab, connect_host
    from bridge.host.protocol import Event

__all__ = [
    "Event",
    "HostClient",
    "HostEvents",
    "HostHello",
    "HostReply",
    "HostTab",
    "connect_host",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Event": "bridge.host.protocol",
        "HostClient": "bridge.host.client",
        "HostEvents": "bridge.host.client",
        "HostHello": "bridge.host.client",
        "HostReply": "bridge.host.client",
        "HostTab": "bridge.host.client",
        "connect_host": "bridge.host.client",
    },
)

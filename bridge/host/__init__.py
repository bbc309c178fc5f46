"""The host app seen from Python: its control protocol and the client of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.lazy_names import lazy_names

if TYPE_CHECKING:
    from bridge.host.client import HostClient, connect_host
    from bridge.host.events import HostEvents
    from bridge.host.protocol import Event
    from bridge.host.replies import HostHello, HostReply, HostTab

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
        "HostEvents": "bridge.host.events",
        "HostHello": "bridge.host.replies",
        "HostReply": "bridge.host.replies",
        "HostTab": "bridge.host.replies",
        "connect_host": "bridge.host.client",
    },
)

"""The client of the host app's control protocol, and the host app's installation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.lazy_names import lazy_names

if TYPE_CHECKING:
    from bridge.host.client import HostClient, connect_host
    from bridge.host.event_queue import HostEventQueue
    from bridge.host.protocol import HostEvent
    from bridge.host.replies import HostHello, HostReply, HostTab

__all__ = [
    "HostClient",
    "HostEvent",
    "HostEventQueue",
    "HostHello",
    "HostReply",
    "HostTab",
    "connect_host",
]

__getattr__ = lazy_names(
    __name__,
    {
        "HostEvent": "bridge.host.protocol",
        "HostClient": "bridge.host.client",
        "HostEventQueue": "bridge.host.event_queue",
        "HostHello": "bridge.host.replies",
        "HostReply": "bridge.host.replies",
        "HostTab": "bridge.host.replies",
        "connect_host": "bridge.host.client",
    },
)

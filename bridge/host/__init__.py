"""The host app seen from Python: its control protocol and the client of it."""

from __future__ import annotations

from bridge.host.client import HostClient, HostEvents, HostHello, HostReply, HostTab, connect_host
from bridge.host.protocol import Event

__all__ = ["Event", "HostClient", "HostEvents", "HostHello", "HostReply", "HostTab", "connect_host"]

"""The Chrome DevTools Protocol over a connected socket."""

from bridge.cdp.connection import CdpConnection, PendingCall, open_cdp
from bridge.cdp.events import EventStream
from bridge.cdp.meter import Meter, measure
from bridge.cdp.protocol import CdpEvent, CdpProtocol

__all__ = ["CdpConnection", "CdpEvent", "CdpProtocol", "EventStream", "Meter", "PendingCall", "measure", "open_cdp"]

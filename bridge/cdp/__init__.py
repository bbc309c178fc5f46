"""The Chrome DevTools Protocol over a connected socket."""

from bridge.cdp.connection import CdpConnection, ChannelClosed, MessageChannel, PendingCall, open_cdp, run_cdp
from bridge.cdp.events import EventStream
from bridge.cdp.meter import Meter, measure
from bridge.cdp.protocol import CdpEvent, CdpProtocol

__all__ = [
    "CdpConnection",
    "CdpEvent",
    "CdpProtocol",
    "ChannelClosed",
    "EventStream",
    "MessageChannel",
    "Meter",
    "PendingCall",
    "measure",
    "open_cdp",
    "run_cdp",
]

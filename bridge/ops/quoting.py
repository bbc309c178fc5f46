"""Identifies errors that may quote a page or a server, so that they belong inside the markers."""

from __future__ import annotations

from bridge.errors import BridgeError, DeviceError, HostError, PolicyRefused, TabLost, TransportError
from bridge.ops.models import InvalidOperation
from bridge.policy.address import parse_address

# Any other error may name an element, or quote an exception, a heading or an address that a server chose.
_OURS = (InvalidOperation, DeviceError, HostError, TransportError, TabLost)
_OUR_REFUSALS = frozenset({"effect", "secret"})


def quotes_a_page(error: BridgeError) -> bool:
    """True if the message may contain text from a page."""
    if isinstance(error, PolicyRefused):
        return _OUR_REFUSALS.isdisjoint(error.details)
    return not isinstance(error, _OURS)


def hint_quotes_a_page(error: BridgeError, requested_url: object) -> bool:
    """True if the hint may name a host that a redirect or a page chose, rather than the caller by `requested_url`.

    A hint that says how to allow an address names its host; all other hints are fixed text.
    """
    named = error.details.get("host") or parse_address(str(error.details.get("url", ""))).host
    if not error.hint or not quotes_a_page(error) or named is None:
        return False
    return not isinstance(requested_url, str) or parse_address(requested_url).host != named

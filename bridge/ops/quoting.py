"""Which errors say words of a page or of a server: those belong inside the fence."""

from __future__ import annotations

from bridge.errors import BridgeError, DeviceError, HostError, PolicyRefused, TabLost, TransportError
from bridge.ops.models import InvalidOperation
from bridge.policy.address import parse_address

# Of the rest any may name an element, quote an exception, a heading or an address that a server chose.
_OURS = (InvalidOperation, DeviceError, HostError, TransportError, TabLost)
_OUR_REFUSALS = frozenset({"effect", "secret"})


def quotes_a_page(error: BridgeError) -> bool:
    """Whether a page may have written in the message."""
    if isinstance(error, PolicyRefused):
        return _OUR_REFUSALS.isdisjoint(error.details)
    return not isinstance(error, _OURS)


def hint_quotes_a_page(error: BridgeError, asked_url: object) -> bool:
    """Whether the hint may name a host that a redirect or a page has chosen, and not whoever asked for `asked_url`.

    What would allow an address names its host; of the other hints every word is ours.
    """
    named = error.details.get("host") or parse_address(str(error.details.get("url", ""))).host
    if not error.hint or not quotes_a_page(error) or named is None:
        return False
    return not isinstance(asked_url, str) or parse_address(asked_url).host != named

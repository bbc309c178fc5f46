"""Which errors say words of a page or of a server: their messages belong inside the fence."""

from __future__ import annotations

from bridge.errors import BridgeError, DeviceError, HostError, PolicyRefused, TabLost, TransportError
from bridge.model_tools.declaration import InvalidArguments
from bridge.ops import InvalidOperation

# Of the rest any may name an element, quote an exception, a heading or an address that a server chose.
_OURS = (InvalidArguments, InvalidOperation, DeviceError, HostError, TransportError, TabLost)
_OUR_REFUSALS = frozenset({"effect", "secret"})


def quotes_a_page(error: BridgeError) -> bool:
    """Whether a page may have written in the message."""
    if isinstance(error, PolicyRefused):
        return _OUR_REFUSALS.isdisjoint(error.details)
    return not isinstance(error, _OURS)


def may_quote(code: str) -> bool:
    """Whether an error of this code may quote a page."""
    return code not in _OUR_CODES


def _codes(kinds: tuple[type[BridgeError], ...]) -> frozenset[str]:
    below = (_codes(tuple(kind.__subclasses__())) for kind in kinds)
    return frozenset(kind.code for kind in kinds).union(*below)


_OUR_CODES = _codes(_OURS)

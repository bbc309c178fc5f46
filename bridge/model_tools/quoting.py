"""Which errors say words of a page or of a server: their messages belong inside the fence."""

from __future__ import annotations

from collections.abc import Iterator

from bridge.errors import BridgeError, DeadlineExceeded, FetchFailed, PageError, TabLost

# Names of elements, what covers them, what scripts threw, what the page was last seen as, how a server put it.
_QUOTING = (PageError, DeadlineExceeded, FetchFailed)


def quotes_a_page(error: BridgeError) -> bool:
    """Whether a page may have written in the message."""
    return isinstance(error, _QUOTING) and not isinstance(error, TabLost)


def quoting_codes() -> frozenset[str]:
    """The codes of such errors."""
    codes = {found.code for kind in _QUOTING for found in _with_subclasses(kind)}
    return frozenset(codes - {TabLost.code})


def _with_subclasses(kind: type[BridgeError]) -> Iterator[type[BridgeError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _with_subclasses(below)

"""May this address be opened? The rules for the operator's own surfaces: Python code and the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bridge.policy.address import is_loopback, parse_address
from bridge.policy.grant import TestServerGrant


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict about one URL: `reason` completes "it is refused: …", `hint` names what would allow it, or is ""."""

    allowed: bool
    reason: str = ""
    hint: str = ""


ALLOWED = Decision(True)


def decide(url: str, grants: Iterable[TestServerGrant] = ()) -> Decision:
    """The public web is allowed, this machine's loopback only where a grant names its host and port.

    Names are judged as they are written; nothing is resolved.
    """
    address = parse_address(url)
    if not address.scheme:
        return Decision(False, "it is not an absolute URL", "Write it with http:// or https:// in front.")
    if address.scheme not in ("http", "https"):
        return Decision(False, f"{address.scheme}: addresses are never opened", "Only http and https are.")
    if address.host is None or address.port is None:
        return Decision(False, "no host and port can be read out of it")
    if not is_loopback(address.host):
        return ALLOWED
    if any(grant.host == address.host and grant.port == address.port for grant in grants):
        return ALLOWED
    return Decision(
        False,
        f"{address.host} is this machine's loopback",
        f"If the server there is yours, allow it with --local {address.port}"
        f' (in Python: grants=[TestServerGrant("{address.host}", {address.port})]).',
    )

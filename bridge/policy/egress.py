"""The interface through which webfetch, downloads and the gate connect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from bridge.policy.dialling import StreamPair


class Egress(Protocol):
    """Enforces the policy where connections are made. Implemented by `PinnedEgress`."""

    async def check_url(self, url: str) -> str:
        """The canonical URL, which is the one to open. Asks a person if the policy says `ask`.

        Raises:
            PolicyRefused: A rule forbids it, or there was no person to ask.
        """
        ...

    async def addresses(self, host: str, port: int, *, timeout_s: float) -> tuple[str, ...]:
        """The IP addresses of a host, checked and pinned: later calls return the same ones. In the order to try them.

        Raises:
            PolicyRefused: The host, the port or one of its addresses is forbidden.
            NameNotResolved: The name has no address.
            DeadlineExceeded: The name was not resolved in time.
        """
        ...

    async def open(self, host: str, port: int, *, timeout_s: float) -> tuple[str, StreamPair]:
        """A connection to one of `addresses`, with that address.

        If none of them connects, the name is resolved once more; an answer outside the pin is refused.

        Raises:
            PolicyRefused, NameNotResolved, DeadlineExceeded: As `addresses`.
            OSError: No connection could be made.
        """
        ...

    def record(self, host: str, port: int, address: str, *, bytes_sent: int, bytes_received: int) -> None:
        """Record a connection that has ended."""
        ...

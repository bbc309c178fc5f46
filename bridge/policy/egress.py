"""What everything that connects for us dials through: webfetch, downloads and the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from bridge.policy.dialling import StreamPair


class Egress(Protocol):
    """The policy at the point where a connection is made. `PinnedEgress` is the one there is."""

    async def check_url(self, url: str) -> str:
        """The URL in its canonical spelling, which is the one to open; where the policy says `ask`, it has been asked.

        Raises:
            PolicyRefused: A rule forbids it, or nobody was there to ask.
        """
        ...

    async def addresses(self, host: str, port: int, *, timeout_s: float) -> tuple[str, ...]:
        """The IP literals to try, in order: judged, and from the second call on the same ones.

        Raises:
            PolicyRefused: The host, the port or one of its addresses is forbidden.
            NameNotResolved: The name has no address.
            DeadlineExceeded: No name server answered in time.
        """
        ...

    async def open(self, host: str, port: int, *, timeout_s: float) -> tuple[str, StreamPair]:
        """A connection to one of `addresses`, and which one it is.

        When none of them connects, the name is asked once more; an answer outside the pin is refused.

        Raises:
            PolicyRefused, NameNotResolved, DeadlineExceeded: As `addresses`.
            OSError: Nothing answers there.
        """
        ...

    def record(self, host: str, port: int, address: str, *, bytes_sent: int, bytes_received: int) -> None:
        """Note a connection that has ended."""
        ...

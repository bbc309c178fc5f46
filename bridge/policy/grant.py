"""The one way to open a page on this machine's loopback: somebody who writes code or a command names its port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bridge.errors import UsageError
from bridge.policy.address import is_loopback, parse_host


@dataclass(frozen=True, slots=True)
class TestServerGrant:
    """A developer's own test server: one host and one port, both exactly as the URLs will name them.

    Built in Python code or by the operator on the command line (`--local PORT`); never from a configuration file, the
    environment, a page or a model.

    Attributes:
        host: A name of this machine's loopback: `127.0.0.1`, `localhost`, `::1`, `app.localhost`. Kept canonical.
        port: 1 to 65535.

    Raises:
        UsageError: A host that is not loopback, or not a port.
    """

    __test__: ClassVar[bool] = False  # pytest would collect a class of this name

    host: str
    port: int

    def __post_init__(self) -> None:
        host = parse_host(f"[{self.host}]" if ":" in self.host else self.host) if isinstance(self.host, str) else None
        if host is None or not is_loopback(host):
            raise UsageError(
                f"a test server grant is for this machine's loopback, not for {self.host!r}",
                hint='Use "127.0.0.1" or "localhost".',
            )
        if type(self.port) is not int or not 1 <= self.port <= 65535:
            raise UsageError(f"{self.port!r} is not a port: it is a whole number from 1 to 65535")
        object.__setattr__(self, "host", host)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

"""The ways around the always-refused list: somebody who writes code or a command names what is theirs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from bridge.errors import UsageError
from bridge.policy.address import is_loopback, parse_address, parse_host

_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+")


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

    def permits(self, scheme: str, host: str | None, port: int | None, url: str) -> bool:
        """Whether this grant is for that address."""
        return scheme in ("http", "https", "ws", "wss") and host == self.host and port == self.port

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class AppGrant:
    """One's own app in attach mode: the origins that it serves to itself and that mean nothing outside of it.

    Attributes:
        package: The app's package name.
        origins: `https://localhost`, `file:///android_asset/`, `content://com.example.provider/`: a URL of such a
            scheme is granted where it starts like one of these; of https and http, scheme, host and port count.

    Raises:
        UsageError: No package name, or an origin that is not the app's own.
    """

    package: str
    origins: tuple[str, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.package, str) or not _PACKAGE.fullmatch(self.package):
            raise UsageError(f"{self.package!r} is not the name of a package", hint='Such as "com.example.app".')
        origins: object = self.origins
        if not isinstance(origins, list | tuple) or not origins:
            raise UsageError("an app grant names its origins in a list")
        object.__setattr__(self, "origins", tuple(_app_origin(origin) for origin in origins))

    def permits(self, scheme: str, host: str | None, port: int | None, url: str) -> bool:
        """Whether this grant is for that address."""
        for origin in self.origins:
            granted = parse_address(origin)
            if granted.host is not None:
                if (granted.scheme, granted.host, granted.port) == (scheme, host, port):
                    return True
            elif url.startswith(origin):
                return True
        return False

    def __str__(self) -> str:
        return f"{self.package} {' '.join(self.origins)}"


Grant = TestServerGrant | AppGrant


def _app_origin(text: object) -> str:
    address = parse_address(text if isinstance(text, str) else "")
    if address.host is not None and address.scheme in ("http", "https") and is_loopback(address.host):
        return address.url
    if address.scheme in ("file", "content") and address.url.endswith("/"):
        allowed = ("file:///android_asset/", "file:///android_res/", "content://")
        if address.url.startswith(allowed) and address.url != "content://":
            return address.url
    raise UsageError(
        f"an app grant is for what an app serves to itself, not for {text!r}",
        hint="Such as https://localhost, file:///android_asset/ or content://com.example.provider/.",
    )

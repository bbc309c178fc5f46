"""Grants: exceptions from what is always refused, made in code or on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from bridge.errors import UsageError
from bridge.policy.address import DEFAULT_PORTS, Address, is_loopback, parse_address, parse_host

_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+")


@dataclass(frozen=True, slots=True)
class TestServerGrant:
    """A developer's own test server: one host and one port, both exactly as the URLs name them.

    Made in Python code or by the operator on the command line (`--local PORT`), never from a configuration file, the
    environment, a page or a model.

    Attributes:
        host: A name of this machine's loopback: `127.0.0.1`, `localhost`, `::1`, `app.localhost`. Kept canonical.
        port: 1 to 65535.

    Raises:
        UsageError: A host that is not loopback, or not a port.
    """

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class

    host: str
    port: int

    def __post_init__(self) -> None:
        host = parse_host(f"[{self.host}]" if ":" in self.host else self.host) if isinstance(self.host, str) else None
        if host is None or not is_loopback(host):
            raise UsageError(
                f"a test server grant must name a loopback host, not {self.host!r}",
                hint='Use "127.0.0.1" or "localhost".',
            )
        if type(self.port) is not int or not 1 <= self.port <= 65535:
            raise UsageError(f"{self.port!r} is not a valid port", hint="A port is a whole number from 1 to 65535.")
        object.__setattr__(self, "host", host)

    def permits(self, address: Address) -> bool:
        """True if this grant covers the address."""
        return address.scheme in DEFAULT_PORTS and (address.host, address.port) == (self.host, self.port)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class AppGrant:
    """Origins that an app which the session attaches to serves to itself, and that mean nothing outside of it.

    Attributes:
        package: The app's package name.
        origins: `https://localhost`, `file:///android_asset/`, `content://com.example.provider/`. A `file:` or
            `content:` URL is granted if it starts with one of them; for https and http, scheme, host and port must
            be the same.

    Raises:
        UsageError: An invalid package name, or an origin that is not the app's own.
    """

    package: str
    origins: tuple[str, ...]
    _parsed: tuple[Address, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.package, str) or not _PACKAGE.fullmatch(self.package):
            raise UsageError(f"{self.package!r} is not a valid package name", hint='For example "com.example.app".')
        origins: object = self.origins
        if not isinstance(origins, list | tuple) or not origins:
            raise UsageError("an app grant needs a list of origins")
        parsed = tuple(_app_origin(origin) for origin in origins)
        object.__setattr__(self, "origins", tuple(address.url for address in parsed))
        object.__setattr__(self, "_parsed", parsed)

    def permits(self, address: Address) -> bool:
        """True if this grant covers the address."""
        for granted in self._parsed:
            if granted.host is None:
                if address.url.startswith(granted.url):
                    return True
            elif (granted.scheme, granted.host, granted.port) == (address.scheme, address.host, address.port):
                return True
        return False

    def __str__(self) -> str:
        return f"{self.package} {' '.join(self.origins)}"


Grant = TestServerGrant | AppGrant


def _app_origin(text: object) -> Address:
    address = parse_address(text if isinstance(text, str) else "")
    if address.host is not None and address.scheme in ("http", "https") and is_loopback(address.host):
        return address
    if address.scheme in ("file", "content") and address.url.endswith("/"):
        allowed = ("file:///android_asset/", "file:///android_res/", "content://")
        if address.url.startswith(allowed) and address.url != "content://":
            return address
    raise UsageError(
        f"an app grant covers only what an app serves to itself, not {text!r}",
        hint="For example https://localhost, file:///android_asset/ or content://com.example.provider/.",
    )

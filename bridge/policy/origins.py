"""Origin patterns in the operator's lists: `example.com`, `*.example.com`, `https://example.com:8443`, `*`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bridge.errors import UsageError
from bridge.policy.address import ip_literal, parse_host

_PATTERN = re.compile(r"(?:(?P<scheme>[A-Za-z]+)://)?(?P<host>\[[^\]]*\]|[^:/\[\]]+)(?::(?P<port>[0-9]{1,5}))?/?")
_HINT = "Write example.com, *.example.com, https://example.com or example.com:8443; * matches every host."
_WEB_SCHEME = {"ws": "http", "wss": "https"}


@dataclass(frozen=True, slots=True)
class OriginPattern:
    """A pattern for origins.

    Attributes:
        text: As the operator wrote it.
        scheme: `http` (also for ws) or `https` (also for wss); None for both.
        host: Canonical; the part after `*.` if the pattern has one; "" for every host.
        with_subdomains: Whether the pattern matches the subdomains of `host`, and not `host` itself.
        port: None for every port.
    """

    text: str
    scheme: str | None
    host: str
    with_subdomains: bool
    port: int | None

    @classmethod
    def parse(cls, text: str) -> OriginPattern:
        """Parse a pattern.

        Raises:
            UsageError: It has a path, a `*` inside a name, another scheme, an invalid port or no host.
        """
        found = _PATTERN.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise UsageError(f"{str(text)[:200]!r} is not a valid origin pattern", hint=_HINT)
        scheme = found["scheme"].lower() if found["scheme"] else None
        scheme = _WEB_SCHEME.get(scheme or "", scheme)
        if scheme not in (None, "http", "https"):
            raise UsageError(f"{text[:200]!r} has the scheme {scheme}; only http and https are opened", hint=_HINT)
        port = int(found["port"]) if found["port"] else None
        if port is not None and not 1 <= port <= 65535:
            raise UsageError(f"{text[:200]!r} has port {port}; a port is 1 to 65535", hint=_HINT)
        written = found["host"]
        if written == "*":
            return cls(text, scheme, "", False, port)
        with_subdomains = written.startswith("*.")
        name = written.removeprefix("*.")
        host = None if "*" in name else parse_host(name)
        if host is None or (with_subdomains and ip_literal(host) is not None):
            raise UsageError(f"{text[:200]!r} has no valid host", hint=_HINT)
        return cls(text, scheme, host.removesuffix("."), with_subdomains, port)

    def matches(self, scheme: str, host: str, port: int) -> bool:
        """True if the pattern matches a canonical host with this scheme and port."""
        if self.scheme is not None and self.scheme != _WEB_SCHEME.get(scheme, scheme):
            return False
        if self.port is not None and self.port != port:
            return False
        if not self.host:
            return True
        host = host.removesuffix(".")
        return host.endswith(f".{self.host}") if self.with_subdomains else host == self.host

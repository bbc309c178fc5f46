"""Scheme, host and port of a URL, parsed as Chromium parses it.

The parser is ada, a WHATWG URL parser (https://url.spec.whatwg.org/) that Node.js and Cloudflare Workers use.
`urllib.parse` finds other hosts: `a\\` in `http://a\\@b/`, and `0x7f.1` in `http://0x7f.1/`.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from ada_url import URL

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
# Chromium: url/url_constants.h kMaxURLChars.
MAX_URL_CHARS = 2 * 1024 * 1024
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_C0_OR_SPACE = "".join(map(chr, range(0x21)))
_NOT_IN_A_HOST = re.compile(r"[\s/\\?#@]|^$")
# Chromium escapes some of the other characters that the standard leaves in a host (`*` is `%2A`). No public name has
# any of them, so a host that the two would read differently counts as invalid.
_HOST = re.compile(r"[a-z0-9._-]+|\[[0-9a-f:]+\]")
# DNS: 253 characters without the root's dot, 63 in a label (RFC 1035 §2.3.4).
_MAX_NAME_CHARS, _MAX_LABEL_CHARS = 253, 63


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed URL, as far as connecting is concerned.

    Attributes:
        scheme: In lower case; "" where the text is not an absolute URL.
        host: Canonical (`127.1` is `127.0.0.1`, `[::1]` is `::1`, IDNs in ASCII); None where there is no valid host.
        port: The scheme's default where the URL has no port; None without a host.
        url: The whole URL in canonical form; "" where it cannot be parsed.
        has_credentials: Whether the URL has a user name or a password.
    """

    scheme: str
    host: str | None = None
    port: int | None = None
    url: str = ""
    has_credentials: bool = False


def parse_address(url: str) -> Address:
    """Parse an absolute URL. What cannot be parsed has a scheme at most."""
    if len(url) > MAX_URL_CHARS:
        return Address(_scheme_of(url[:100]))
    try:
        parsed = URL(_scalar(url))
        scheme, host, href, port = parsed.protocol[:-1], parsed.hostname, parsed.href, parsed.port
    except ValueError:  # also UnicodeError: for some hosts that it refuses, ada returns bytes that are not UTF-8
        return Address(_scheme_of(url))
    if scheme not in DEFAULT_PORTS or not _HOST.fullmatch(host):
        return Address(scheme, url=href)
    has_credentials = bool(parsed.username or parsed.password)
    return Address(scheme, host.strip("[]"), int(port) if port else DEFAULT_PORTS[scheme], href, has_credentials)


def parse_destination(scheme: str, host: str, port: int) -> Address:
    """Parse a host, in any spelling, with a scheme and a port."""
    return parse_address(f"{scheme}://{_in_url(host)}:{port}/")


def parse_host(text: str) -> str | None:
    """A host in canonical form (`127.1` is `127.0.0.1`, `[::1]` is `::1`), or None where it is not a valid host."""
    if _NOT_IN_A_HOST.search(text) or (":" in text and not text.startswith("[")) or len(text) > MAX_URL_CHARS:
        return None
    found = parse_address(f"http://{text}/")
    return found.host if found.port == 80 else None


def with_scheme(address: Address, scheme: str) -> Address:
    """The root of the same host and port, under another scheme."""
    assert address.host is not None
    assert address.port is not None
    port = "" if address.port == DEFAULT_PORTS[scheme] else f":{address.port}"
    return Address(scheme, address.host, address.port, f"{scheme}://{_in_url(address.host)}{port}/")


def ip_literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address that a canonical host is, or None for a name."""
    if ":" not in host and not host[-1:].isdigit():
        return None
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_dns_name(host: str) -> bool:
    """True if a canonical host fits the limits of DNS: lengths, and no empty label."""
    return len(host) <= _MAX_NAME_CHARS and all(0 < len(label) <= _MAX_LABEL_CHARS for label in host.split("."))


def is_loopback(host: str) -> bool:
    """True if a canonical host is this machine. `0.0.0.0` and `::` count: connecting to them ends up here."""
    host = host.removesuffix(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        high, low = divmod(int(address), 1 << 32)
        if high not in (0, 0xFFFF):  # neither compatible (::a.b.c.d) nor mapped (::ffff:a.b.c.d)
            return False
        if high == 0 and low <= 1:
            return True
        address = ipaddress.IPv4Address(low)
    return int(address) >> 24 in (0, 127)


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _scheme_of(url: str) -> str:
    """The scheme of a text that cannot be parsed, for the message (§4.4 "basic URL parser", steps 1 to 3)."""
    found = _SCHEME.match(re.sub(r"[\t\n\r]", "", url[:1000].strip(_C0_OR_SPACE)))
    return found[1].lower() if found else ""


def _scalar(text: str) -> str:
    """Replace lone surrogates by U+FFFD, as JavaScript does for a string given to `new URL()`."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

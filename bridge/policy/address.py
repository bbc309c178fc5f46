"""What a URL says about where to connect, read as Chromium reads it.

The WHATWG URL parser (https://url.spec.whatwg.org/) is ada's, the one of Node.js and Cloudflare Workers. `urllib.parse`
reads other hosts: it keeps `http://a\\@b/` at `a\\`, and knows nothing of `http://0x7f.1/`.
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
# Chromium escapes some of the other characters that the standard leaves in a host (`*` is `%2A`), and no name of the
# web has any of them: a host that the two would read differently is none.
_HOST = re.compile(r"[a-z0-9._-]+|\[[0-9a-f:]+\]")
# DNS: 253 characters without the root's dot, 63 in a label (RFC 1035 §2.3.4).
_MAX_NAME_CHARS, _MAX_LABEL_CHARS = 253, 63


@dataclass(frozen=True, slots=True)
class Address:
    """What a URL says about where to connect.

    Attributes:
        scheme: In lower case, "" where the text is no absolute URL.
        host: Canonical (`127.1` is `127.0.0.1`, `[::1]` is `::1`, ASCII); None where there is none to connect to.
        port: The scheme's own where the URL names none; None without a host.
        url: The whole URL in its one canonical spelling, "" where it cannot be read.
        has_credentials: Whether a user name or a password is in it.
    """

    scheme: str
    host: str | None = None
    port: int | None = None
    url: str = ""
    has_credentials: bool = False


def parse_address(url: str) -> Address:
    """Scheme, host and port of an absolute URL."""
    if len(url) > MAX_URL_CHARS:
        return Address(_scheme_of(url[:100]))
    try:
        parsed = URL(_scalar(url))
        scheme, host, href, port = parsed.protocol[:-1], parsed.hostname, parsed.href, parsed.port
    except ValueError:  # also UnicodeError: ada answers bytes that are no UTF-8 for some hosts that it refuses
        return Address(_scheme_of(url))
    if scheme not in DEFAULT_PORTS or not _HOST.fullmatch(host):
        return Address(scheme, url=href)
    has_credentials = bool(parsed.username or parsed.password)
    return Address(scheme, host.strip("[]"), int(port) if port else DEFAULT_PORTS[scheme], href, has_credentials)


def parse_host(text: str) -> str | None:
    """A host in its one canonical spelling (`127.1` is `127.0.0.1`, `[::1]` is `::1`), or None where it is no host."""
    if _NOT_IN_A_HOST.search(text) or (":" in text and not text.startswith("[")) or len(text) > MAX_URL_CHARS:
        return None
    found = parse_address(f"http://{text}/")
    return found.host if found.port == 80 else None


def ip_literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a canonical host is, None where it is a name."""
    if ":" not in host and not host[-1:].isdigit():
        return None
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_dns_name(host: str) -> bool:
    """Whether a canonical host could be asked of a name server: lengths, and no empty label."""
    return len(host) <= _MAX_NAME_CHARS and all(0 < len(label) <= _MAX_LABEL_CHARS for label in host.split("."))


def is_loopback(host: str) -> bool:
    """Whether a canonical host is this device itself. `0.0.0.0` and `::` are: connecting there ends up here."""
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


def _scheme_of(url: str) -> str:
    """The scheme of what cannot be parsed, for the message (§4.4 "basic URL parser", steps 1 to 3)."""
    found = _SCHEME.match(re.sub(r"[\t\n\r]", "", url[:1000].strip(_C0_OR_SPACE)))
    return found[1].lower() if found else ""


def _scalar(text: str) -> str:
    """Lone surrogates become U+FFFD, as in every string that JavaScript hands to `new URL()`."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

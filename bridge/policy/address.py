"""Hosts as Chromium reads them out of a URL (WHATWG URL, https://url.spec.whatwg.org/), and what is loopback.

`urllib.parse` reads other hosts: it keeps `http://a\\@b/` at `a\\`, and knows nothing of `http://0x7f.1/`.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote

_DEFAULT_PORTS = {"http": 80, "https": 443}
# §4.4 "special authority ignore slashes state": any number of slashes and back-slashes, none included.
_AUTHORITY = re.compile(r"[/\\]*([^/\\?#]*)")
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_IGNORED_BY_IDNA = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0x2064, 0xFEFF))
# §3.1 "forbidden domain code point"
_FORBIDDEN = re.compile(r"[\x00-\x20\"#%/:<>?@\[\\\]^`{|}\x7f]")


@dataclass(frozen=True, slots=True)
class Address:
    """What a URL says about where to connect: `host` is canonical, None where no host can be read out of it."""

    scheme: str
    host: str | None
    port: int | None


def parse_address(url: str) -> Address:
    """Scheme, host and port of an absolute URL; the scheme is "" where there is none."""
    # §4.4 "basic URL parser", steps 1 to 3
    url = re.sub(r"[\t\n\r]", "", url.strip("".join(map(chr, range(0x21)))))
    found = _SCHEME.match(url)
    if found is None:
        return Address("", None, None)
    scheme = found[1].lower()
    if scheme not in _DEFAULT_PORTS:
        return Address(scheme, None, None)
    authority = _AUTHORITY.match(url, found.end())
    assert authority is not None
    host_port = authority[1].rpartition("@")[2]
    split = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::([0-9]*))?", host_port)
    if split is None:
        return Address(scheme, None, None)
    port = int(split[2]) if split[2] else _DEFAULT_PORTS[scheme]
    return Address(scheme, parse_host(split[1]) if port <= 0xFFFF else None, port)


def parse_host(text: str) -> str | None:
    """A host in its one canonical spelling (`127.1` is `127.0.0.1`, `[::1]` is `::1`), or None where it is no host."""
    if text.startswith("["):
        try:
            return ipaddress.IPv6Address(text[1:-1]).compressed if text.endswith("]") and "%" not in text else None
        except ValueError:
            return None
    name = unicodedata.normalize("NFKC", unquote(text, errors="strict") if _decodes(text) else "%")
    name = name.translate(_IGNORED_BY_IDNA).replace("\u3002", ".").lower()
    if not name or _FORBIDDEN.search(name):
        return None
    labels = name.removesuffix(".").split(".")
    # §3.5 "ends in a number checker"
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):
        return _ipv4(labels)
    return name.removesuffix(".") or None


def is_loopback(host: str) -> bool:
    """Whether a canonical host is this device itself. `0.0.0.0` and `::` are: connecting there ends up here."""
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


def _decodes(text: str) -> bool:
    try:
        unquote(text, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def _ipv4(labels: list[str]) -> str | None:
    """§3.5 "IPv4 parser": up to four numbers, decimal, octal (0…) or hexadecimal (0x…); the last fills the rest."""
    if len(labels) > 4:
        return None
    numbers = [_ipv4_number(label) for label in labels]
    if any(number is None for number in numbers):
        return None
    *first, last = [number for number in numbers if number is not None]
    if any(number > 255 for number in first) or last >= 256 ** (4 - len(first)):
        return None
    return str(ipaddress.IPv4Address(last + sum(number << 8 * (3 - index) for index, number in enumerate(first))))


def _ipv4_number(label: str) -> int | None:
    digits, base = label, 10
    if label.startswith("0x"):
        digits, base = label[2:], 16
    elif len(label) > 1 and label.startswith("0"):
        digits, base = label[1:], 8
    if len(label) > 40 or not label:
        return None
    if not digits:
        return 0
    try:
        return int(digits, base) if digits.isascii() and digits.isalnum() else None
    except ValueError:
        return None

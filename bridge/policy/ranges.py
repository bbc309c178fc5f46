"""IP addresses that are never connected to, with a name for each range.

The ranges are those of IANA's special-purpose address registries (RFC 6890 and later additions). IPv6 addresses that
contain an IPv4 address are checked by that address too. `ipaddress.is_private` and `is_global` do not suffice: they
pass 100.64.0.0/10, multicast, 64:ff9b::/96, 2002::/16, ::a.b.c.d, fec0::/10 and more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple

# The address that most clouds use, and Azure's, which lies in the public range.
_CLOUD_METADATA = (IPv4Address("169.254.169.254"), IPv4Address("168.63.129.16"))


class ForbiddenRange(NamedTuple):
    """`code` is stable; `what` completes "ADDRESS is …"."""

    code: str
    what: str


_Row = tuple[int, int, ForbiddenRange | None]


def _span(network: str) -> tuple[int, int]:
    """First and last address as numbers: comparing them is ten times faster than `address in network`."""
    parsed = ip_network(network)
    return int(parsed.network_address), int(parsed.broadcast_address)


def _table(rows: Iterable[tuple[str, str, str]]) -> tuple[_Row, ...]:
    """The rows, most specific first. A row without a code is public inside a range that is not."""
    spans = ((*_span(network), ForbiddenRange(code, what) if code else None) for network, code, what in rows)
    return tuple(sorted(spans, key=lambda row: row[1] - row[0]))


_IPV4 = _table(
    (
        ("0.0.0.0/8", "this_network", "this machine itself"),
        ("10.0.0.0/8", "private", "a private address"),
        ("100.64.0.0/10", "shared", "a carrier-grade NAT address"),
        ("127.0.0.0/8", "loopback", "this machine's loopback"),
        ("169.254.0.0/16", "link_local", "a link-local address"),
        ("172.16.0.0/12", "private", "a private address"),
        ("192.0.0.0/24", "protocol", "an address reserved for protocols"),
        ("192.0.2.0/24", "documentation", "an address reserved for documentation"),
        ("192.88.99.0/24", "6to4_relay", "a retired 6to4 relay address"),
        ("192.168.0.0/16", "private", "a private address"),
        ("198.18.0.0/15", "benchmarking", "an address reserved for benchmarks"),
        ("198.51.100.0/24", "documentation", "an address reserved for documentation"),
        ("203.0.113.0/24", "documentation", "an address reserved for documentation"),
        ("224.0.0.0/4", "multicast", "a multicast address"),
        ("240.0.0.0/4", "reserved", "a reserved address"),
        ("255.255.255.255/32", "broadcast", "the broadcast address"),
    )
)
# Some rows of 192.0.0.0/24 and 2001::/23 are globally reachable, and refused here: anycast addresses of servers
# in the local network (PCP, TURN, DNS-SD), and identifiers of hosts that are not addresses (ORCHID, drone tags).
_IPV6 = _table(
    (
        ("::/128", "unspecified", "this machine itself"),
        ("::1/128", "loopback", "this machine's loopback"),
        ("64:ff9b:1::/48", "local_nat64", "a NAT64 address of a local network"),
        ("100::/64", "discard", "a discard-only address"),
        ("100:0:0:1::/64", "dummy", "a dummy address"),
        ("2001::/23", "protocol", "an address reserved for protocols"),
        ("2001::/32", "teredo", "a Teredo address"),
        ("2001:2::/48", "benchmarking", "an address reserved for benchmarks"),
        ("2001:3::/32", "", "AMT"),
        ("2001:4:112::/48", "", "AS112"),
        ("2001:10::/28", "orchid", "an ORCHID, not an address"),
        ("2001:20::/28", "orchid", "an ORCHID, not an address"),
        ("2001:30::/28", "drone_tag", "a drone's identifier, not an address"),
        ("2001:db8::/32", "documentation", "an address reserved for documentation"),
        ("3fff::/20", "documentation", "an address reserved for documentation"),
        ("5f00::/16", "segment_routing", "a segment routing identifier"),
        ("fc00::/7", "private", "a private address"),
        ("fe80::/10", "link_local", "a link-local address"),
        ("fec0::/10", "site_local", "a site-local address"),
        ("ff00::/8", "multicast", "a multicast address"),
    )
)
_METADATA = ForbiddenRange("metadata", "the cloud's metadata service")
_NOT_UNICAST = ForbiddenRange("unallocated", "an address outside the global unicast range")
_GLOBAL_UNICAST, _6TO4 = _span("2000::/3"), _span("2002::/16")
_WITH_IPV4_AT_THE_END = (
    ("mapped", _span("::ffff:0:0/96")),
    ("compatible", _span("::/96")),
    ("translated", _span("::ffff:0:0:0/96")),
    ("NAT64", _span("64:ff9b::/96")),
)
_ISATAP = (0x00005EFE, 0x02005EFE)


def forbidden_range(address: IPv4Address | IPv6Address | str) -> ForbiddenRange | None:
    """Why this address is never connected to, or None if it belongs to the public internet.

    Raises:
        ValueError: The text is not an IP address.
    """
    if isinstance(address, str):
        address = ip_address(address)
    if isinstance(address, IPv4Address):
        if address in _CLOUD_METADATA:
            return _METADATA
        return _lookup(_IPV4, int(address))
    if address.scope_id is not None:
        return ForbiddenRange("zone", "an address with a zone, for one network interface")
    found = _lookup(_IPV6, int(address))
    if found is not None:
        return found
    carried = tuple(embedded_ipv4(address))
    for form, inner in carried:
        found = forbidden_range(inner)
        if found is not None:
            return ForbiddenRange(found.code, f"{inner} ({form}): {found.what}")
    if not carried and not _is_in(int(address), _GLOBAL_UNICAST):
        return _NOT_UNICAST
    return None


def _lookup(table: tuple[_Row, ...], number: int) -> ForbiddenRange | None:
    """The range of the most specific row that contains the address."""
    for first, last, found in table:
        if first <= number <= last:
            return found
    return None


def _is_in(number: int, span: tuple[int, int]) -> bool:
    return span[0] <= number <= span[1]


def embedded_ipv4(address: IPv6Address) -> Iterator[tuple[str, IPv4Address]]:
    """The IPv4 addresses that an IPv6 address may contain: none, one, or two for 6to4 with an ISATAP interface."""
    number = int(address)
    low = IPv4Address(number & 0xFFFFFFFF)
    for form, span in _WITH_IPV4_AT_THE_END:
        if _is_in(number, span):
            yield form, low
            return
    if _is_in(number, _6TO4):
        yield "6to4", IPv4Address(number >> 80 & 0xFFFFFFFF)
    if number >> 32 & 0xFFFFFFFF in _ISATAP:
        yield "ISATAP", low

"""The forbidden ranges agree with IANA's special-purpose address registries, at both edges of every row."""

from __future__ import annotations

import csv
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.policy.ranges import embedded_ipv4, forbidden_range

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

with (Path(__file__).parent / "corpus" / "iana_special_purpose.csv").open(encoding="utf-8", newline="") as file:
    ROWS = {ip_network(row["Address Block"]): row["Globally Reachable"] == "True" for row in csv.DictReader(file)}

# Ranges that the special-purpose registries do not have: multicast, site-local, and IPv6 outside of 2000::/3.
NOT_UNICAST = [ip_network(text) for text in ("224.0.0.0/4", "fec0::/10", "ff00::/8")]
GLOBAL_UNICAST = IPv6Network("2000::/3")
# Judged by the IPv4 address that they contain.
CARRIERS = [ip_network(text) for text in ("::ffff:0:0/96", "64:ff9b::/96", "2002::/16")]
# Globally reachable by the registry, and refused: anycast addresses of servers in the local network, and identifiers.
STRICTER = {
    ip_network(text)
    for text in (
        *("192.0.0.9/32", "192.0.0.10/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128"),
        *("2001:20::/28", "2001:30::/28"),
    )
}
# Cloud metadata at a public address.
AZURE = IPv4Address("168.63.129.16")


def is_public(address: Address) -> bool:
    """What the registries say: the most specific row decides."""
    if isinstance(address, IPv6Address) and (inner := [ipv4 for _, ipv4 in embedded_ipv4(address)]):
        return any(address in network for network in CARRIERS) and all(map(is_public, inner))
    if address == AZURE or any(address in network for network in NOT_UNICAST):
        return False
    rows = [network for network in ROWS if address in network]
    if rows:
        row = max(rows, key=lambda network: network.prefixlen)
        return ROWS[row] and row not in STRICTER
    return isinstance(address, IPv4Address) or address in GLOBAL_UNICAST


def edges(network: Network) -> list[Address]:
    """The first and last address of a range, their neighbours outside of it, and one in the middle."""
    first, last = int(network.network_address), int(network.broadcast_address)
    kind = type(network.network_address)
    inside = {first, last, (first + last) // 2}
    outside = {number for number in (first - 1, last + 1) if 0 <= number < 1 << network.max_prefixlen}
    return [kind(number) for number in sorted(inside | outside)]


@pytest.mark.parametrize("network", [*ROWS, *NOT_UNICAST, GLOBAL_UNICAST], ids=str)
def test_both_edges_of_a_registered_range_are_judged_as_registered(network: Network) -> None:
    for address in edges(network):
        assert (forbidden_range(address) is None) == is_public(address), address


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6), st.sampled_from(sorted(map(str, ROWS))).flatmap(
    lambda text: st.ip_addresses(network=text)
)))  # fmt: skip
def test_any_address_is_judged_as_registered(address: Address) -> None:
    assert (forbidden_range(address) is None) == is_public(address)


@pytest.mark.parametrize("text", ["192.0.0.9", "2001:1::1", "2001:20::1", "2001:30::1"])
def test_reachable_addresses_that_are_not_public_servers_are_refused(text: str) -> None:
    assert any(ip_address(text) in network for network in STRICTER)
    assert forbidden_range(text) is not None

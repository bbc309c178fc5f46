"""Host names and ports that are always refused, whatever the name resolves to."""

from __future__ import annotations

from bridge.policy.address import is_dns_name
from bridge.policy.ranges import ForbiddenRange

_LOOPBACK = ForbiddenRange("loopback", "this machine's loopback")
_METADATA = ForbiddenRange("metadata", "the cloud's metadata service")
_LOCAL = ForbiddenRange("local_name", "a local network name")
# Names of the loopback in /etc/hosts of common distributions.
_LOOPBACK_NAMES = frozenset({"localhost", "localhost4", "localhost6", "ip6-localhost", "ip6-loopback", "loopback"})
_METADATA_NAMES = frozenset(
    {
        "metadata",
        "metadata.goog",
        "metadata.google.internal",
        "metadata.azure.internal",
        "metadata.tencentyun.com",
        "metadata.packet.net",
        "metadata.platformequinix.com",
        "instance-data",
        "instance-data.ec2.internal",
        "rancher-metadata",
    }
)
# Reserved for private networks: RFC 6762 (local), RFC 8375 (home.arpa), ICANN 2024-07-29 (internal); the rest by use.
_LOCAL_SUFFIXES = ("local", "localdomain", "localdomain4", "localdomain6", "internal", "intranet", "lan", "home.arpa")

# https://fetch.spec.whatwg.org/#port-blocking and Chromium's net/base/port_util.cc
BLOCKED_PORTS = frozenset(
    (
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95),
        *(101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179),
        *(389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587),
        *(601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000),
        *(6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    )
)


def forbidden_name(host: str) -> ForbiddenRange | None:
    """Why a canonical host name is never resolved, or None. `what` completes "HOST is …"."""
    name = host.rstrip(".")
    labels = name.split(".")
    if name in _LOOPBACK_NAMES or labels[-1] == "localhost" or name.endswith(".localhost.localdomain"):
        return _LOOPBACK
    if name in _METADATA_NAMES:
        return _METADATA
    if name != host:
        return ForbiddenRange("trailing_dot", "a name with a trailing dot, which no list would match")
    if not is_dns_name(name):
        return ForbiddenRange("malformed", "not a valid DNS name")
    if len(labels) == 1 or any(name.endswith(f".{suffix}") for suffix in _LOCAL_SUFFIXES):
        return _LOCAL
    if labels[0] == "wpad":
        return ForbiddenRange("proxy_discovery", "a name by which browsers discover a proxy configuration")
    return None

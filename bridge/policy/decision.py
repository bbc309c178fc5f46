"""Decides whether an address may be opened. Pure: nothing is resolved, a URL is judged as it is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Literal

from bridge.json_record import JsonRecord
from bridge.policy.address import Address, ip_literal, parse_address, parse_destination, with_scheme
from bridge.policy.browser_policy import ALLOW_LINE, Action, BrowserPolicy
from bridge.policy.grant import Grant
from bridge.policy.names import BLOCKED_PORTS, forbidden_name
from bridge.policy.ranges import embedded_ipv4, forbidden_range

Use = Literal["navigation", "request"]
# Nothing of these leaves the page, and the new document inherits the page's origin.
_INSIDE_A_PAGE = frozenset({"data", "blob", "about"})
_WEB_SCHEMES: dict[Use, tuple[str, ...]] = {
    "navigation": ("http", "https"),
    "request": ("http", "https", "ws", "wss"),
}
_MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Decision(JsonRecord):
    """The policy's decision about one URL.

    Attributes:
        action: `allow`, `deny`, or `ask` where the policy leaves it to a person.
        rule: What decided, stable: `scheme:file`, `range:private`, `name:metadata`, `port:25`, `denied_origins`,
            `allowed_origins`, `default_action`, `grant`, `malformed`, …
        reason: Completes "refused: …"; "" where the URL is allowed.
        hint: What would allow it, or "".
        url: The canonical URL, which is the one to open; "" where the text is not a URL.
    """

    JSON_HAS_EMPTY = True

    action: Action
    rule: str
    reason: str = ""
    hint: str = ""
    url: str = ""
    host: str | None = None
    port: int | None = None

    @property
    def allowed(self) -> bool:
        return self.action == "allow"


def decide(policy: BrowserPolicy, url: str, grants: Iterable[Grant] = (), *, use: Use = "navigation") -> Decision:
    """The decision about `url`: denied origins first, then grants, then what is always refused, then the lists.

    Args:
        use: "navigation" for a URL that a model, a link or a redirect may bring to the top of a page; "request" for
            one that a page loads into itself, where `data:`, `blob:`, `about:` and WebSockets pass as well.
    """
    if use == "navigation" and url == "about:blank":
        return Decision("allow", "blank", url=url)
    return decide_address(policy, parse_address(url), grants, use=use)


def decide_address(
    policy: BrowserPolicy, address: Address, grants: Iterable[Grant] = (), *, use: Use = "navigation"
) -> Decision:
    """`decide` for an address that has been parsed."""
    if (denied := _denied(policy, address)) is not None:
        return denied
    if any(grant.permits(address) for grant in grants):
        return Decision("allow", "grant", url=address.url, host=address.host, port=address.port)
    return _always_refused(address, use) or _decide_by_lists(policy, address)


def decide_destination(policy: BrowserPolicy, host: str, port: int, grants: Iterable[Grant] = ()) -> Decision:
    """The decision about a host, in any spelling, and a port.

    The scheme is not known, so the more permissive of the decisions for https and http counts.
    """
    address = parse_destination("https", host, port)
    if address.host is None or address.port is None:
        return decide_address(policy, address, grants, use="request")
    return _most_permissive(_for_schemes(policy, address, ("https", "http"), grants))


def decide_tunnel(policy: BrowserPolicy, address: Address, grants: Iterable[Grant] = ()) -> Decision:
    """The decision about a tunnel to a host and port. It may carry https, or a WebSocket of either kind.

    If the policy denies the destination for any of them, it denies the tunnel; otherwise the more permissive decision
    counts. A tunnel to port 443 is taken for https.
    """
    schemes = ("https",) if address.port == 443 else ("https", "http")
    decisions = _for_schemes(policy, address, schemes, grants)
    denied = next((decision for decision in decisions if decision.rule == "denied_origins"), None)
    return denied or _most_permissive(decisions)


def _for_schemes(
    policy: BrowserPolicy, address: Address, schemes: Iterable[str], grants: Iterable[Grant]
) -> list[Decision]:
    return [decide_address(policy, with_scheme(address, scheme), grants, use="request") for scheme in schemes]


def _most_permissive(decisions: list[Decision]) -> Decision:
    return min(decisions, key=lambda decision: ("allow", "ask", "deny").index(decision.action))


def _decide_by_lists(policy: BrowserPolicy, address: Address) -> Decision:
    """The decision of the policy's lists and its default, for an address that is neither denied nor always refused."""
    assert address.host is not None
    assert address.port is not None
    place = {"url": address.url, "host": address.host, "port": address.port}
    target = (address.scheme, address.host, address.port)
    if any(pattern.matches(*target) for pattern in policy.allowed):
        return Decision("allow", "allowed_origins", **place)  # type: ignore[arg-type]
    if policy.default_action == "allow":
        return Decision("allow", "default_action", **place)  # type: ignore[arg-type]
    line = ALLOW_LINE.format(host=address.host if ":" not in address.host else f"[{address.host}]")
    reason = (
        "the lists of the policy do not name it"
        if policy.allowed or policy.denied
        else "no policy is configured, so nothing may be opened"
        if policy.asker == "model"
        else "the policy asks before it opens anything"
        if policy.default_action == "ask"
        else "the policy allows nothing"
    )
    hint = f"The operator can allow it in [browser.policy]: {line}"
    return Decision(policy.default_action, "default_action", reason, hint, **place)  # type: ignore[arg-type]


def _denied(policy: BrowserPolicy, address: Address) -> Decision | None:
    """The refusal of an address on the operator's list of denied origins, in any of its forms."""
    if not policy.denied or address.host is None or address.port is None:
        return None
    # A router may take an IPv6 address for the IPv4 address in it, so the denied one is denied in every form.
    literal = ip_literal(address.host)
    forms = [address.host]
    if isinstance(literal, IPv6Address):
        forms += [str(inner) for _, inner in embedded_ipv4(literal)]
    for pattern in policy.denied:
        if any(pattern.matches(address.scheme, form, address.port) for form in forms):
            return _deny(address, "denied_origins", f"the policy denies {pattern.text}")
    return None


def _always_refused(address: Address, use: Use) -> Decision | None:
    """The refusal that no list can lift: schemes, hosts, ports. A URL inside a page is allowed here."""
    scheme, host, port = address.scheme, address.host, address.port
    if not scheme:
        return _deny(address, "malformed", "not an absolute URL", "Write it with http:// or https:// in front.")
    if use == "request" and scheme in _INSIDE_A_PAGE:
        return Decision("allow", f"scheme:{scheme}", url=address.url)
    if scheme not in _WEB_SCHEMES[use]:
        hint = "Only http and https are opened."
        if scheme in ("file", "content"):
            hint += " When attached to an app, AppGrant allows what the app serves to itself."
        return _deny(address, f"scheme:{scheme}", f"{scheme}: URLs are never opened", hint)
    if host is None or port is None:
        return _deny(address, "malformed", "not a valid URL: it has no valid host and port")
    literal = ip_literal(host)
    kind = "name" if literal is None else "range"
    found = forbidden_name(host) if literal is None else forbidden_range(literal)
    if found is not None:
        hint = ""
        is_plain = ":" not in host or host in ("::1", "::")  # not an IPv4 address in an IPv6 form
        if found.code in ("loopback", "unspecified", "this_network") and is_plain and port not in BLOCKED_PORTS:
            hint = (
                f"If the server there is yours, allow it with --local {port}"
                f' (in Python: grants=[TestServerGrant("{host}", {port})]).'
            )
        return _deny(address, f"{kind}:{found.code}", f"{host[:_MAX_SHOWN]} is {found.what}", hint)
    if port in BLOCKED_PORTS:
        return _deny(address, f"port:{port}", f"browsers block port {port}")
    return None


def _deny(address: Address, rule: str, reason: str, hint: str = "") -> Decision:
    return Decision("deny", rule, reason, hint, address.url, address.host, address.port)

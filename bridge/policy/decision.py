"""May this address be opened? Pure: nothing is resolved, a URL is judged as it is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Any, Literal

from bridge.policy.address import Address, ip_literal, parse_address
from bridge.policy.browser_policy import ALLOW_LINE, Action, BrowserPolicy
from bridge.policy.grant import Grant
from bridge.policy.names import BLOCKED_PORTS, forbidden_name
from bridge.policy.ranges import embedded_ipv4, forbidden_range

Use = Literal["navigation", "request"]
# What a page may do inside itself: nothing of it leaves the page, and the new document inherits the page's origin.
_INSIDE_A_PAGE = frozenset({"data", "blob", "about"})
_MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict about one URL.

    Attributes:
        action: `allow`, `deny`, or `ask` where the policy leaves it to whoever runs the program.
        rule: What decided, stable: `scheme:file`, `range:private`, `name:metadata`, `port:25`, `denied_origins`,
            `allowed_origins`, `default_action`, `grant`, `malformed`, …
        reason: Completes "it is refused: …"; "" where it is allowed.
        hint: What would allow it, or "".
        url: The canonical spelling, which is the one to open; "" where the text is no URL.
    """

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

    def to_json(self) -> dict[str, Any]:
        named = {"action": self.action, "rule": self.rule, "reason": self.reason, "hint": self.hint, "url": self.url}
        return {**named, "host": self.host, "port": self.port}


def decide(policy: BrowserPolicy, url: str, grants: Iterable[Grant] = (), *, use: Use = "navigation") -> Decision:
    """The verdict about `url`: denied origins first, then the grants, then what is always refused, then the lists.

    Args:
        use: "navigation" for whatever a model, a link or a redirect may bring to the top of a page; "request" for
            what a page does inside itself, where `data:`, `blob:`, `about:` and WebSockets pass as well.
    """
    if use == "navigation" and url == "about:blank":
        return Decision("allow", "blank", url=url)
    address = parse_address(url)
    if (denied := _denied(policy, address)) is not None:
        return denied
    if any(grant.permits(address.scheme, address.host, address.port, address.url) for grant in grants):
        return Decision("allow", "grant", url=address.url, host=address.host, port=address.port)
    return _always_refused(address, use) or decide_by_lists(policy, address)


def decide_destination(
    policy: BrowserPolicy, scheme: str, host: str, port: int, grants: Iterable[Grant] = ()
) -> Decision:
    """The verdict about a destination of which only host and port are known, such as a proxy's CONNECT."""
    literal = f"[{host}]" if ":" in host else host
    return decide(policy, f"{scheme}://{literal}:{port}/", grants, use="request")


def decide_by_lists(policy: BrowserPolicy, address: Address) -> Decision:
    """What the policy says about an address that is neither denied nor refused outright."""
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
        "no list of the policy names it"
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
    """The refusal of what the operator's list denies, in whatever form the address stands there."""
    if not policy.denied or address.host is None or address.port is None:
        return None
    # A router may take an IPv6 address for the IPv4 one in it: denied is denied in every form.
    literal = ip_literal(address.host)
    forms = [address.host]
    if isinstance(literal, IPv6Address):
        forms += [str(inner) for _, inner in embedded_ipv4(literal)]
    for pattern in policy.denied:
        if any(pattern.matches(address.scheme, form, address.port) for form in forms):
            return _deny(address, "denied_origins", f"the policy denies {pattern.text}")
    return None


def _always_refused(address: Address, use: Use) -> Decision | None:
    scheme, host, port = address.scheme, address.host, address.port
    if not scheme:
        return _deny(address, "malformed", "it is not an absolute URL", "Write it with http:// or https:// in front.")
    inside = use == "request"
    if inside and scheme in _INSIDE_A_PAGE:
        return Decision("allow", f"scheme:{scheme}", url=address.url)
    if scheme not in (("http", "https", "ws", "wss") if inside else ("http", "https")):
        hint = "Only http and https are."
        if scheme in ("file", "content"):
            hint += " What an app serves to itself is granted with AppGrant, where it is attached to."
        return _deny(address, f"scheme:{scheme}", f"{scheme}: addresses are never opened", hint)
    if host is None or port is None:
        return _deny(address, "malformed", "no host and port can be read out of it")
    literal = ip_literal(host)
    kind = "name" if literal is None else "range"
    found = forbidden_name(host) if literal is None else forbidden_range(literal)
    if found is not None:
        hint = ""
        is_plain = ":" not in host or host in ("::1", "::")  # no IPv4 address in another form, which nobody types
        if found.code in ("loopback", "unspecified", "this_network") and is_plain and port not in BLOCKED_PORTS:
            hint = (
                f"If the server there is yours, allow it with --local {port}"
                f' (in Python: grants=[TestServerGrant("{host}", {port})]).'
            )
        return _deny(address, f"{kind}:{found.code}", f"{host[:_MAX_SHOWN]} is {found.what}", hint)
    if port in BLOCKED_PORTS:
        return _deny(address, f"port:{port}", f"browsers refuse port {port}")
    return None


def _deny(address: Address, rule: str, reason: str, hint: str = "") -> Decision:
    return Decision("deny", rule, reason, hint, address.url, address.host, address.port)

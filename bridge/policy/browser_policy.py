"""The operator's policy: a validated value, the same for every surface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from bridge.errors import UsageError
from bridge.policy.address import ip_literal
from bridge.policy.names import forbidden_name
from bridge.policy.origins import OriginPattern
from bridge.policy.ranges import forbidden_range

Action = Literal["deny", "allow", "ask"]
Repin = Literal["refuse", "public"]
Asker = Literal["operator", "model"]

ALLOW_LINE = 'allowed_origins = ["{host}"]'


@dataclass(frozen=True)
class BrowserPolicy:
    """The origins that may be opened, apart from what is always refused (see `decide`).

    Attributes:
        default_action: The decision about a URL that no list names. "ask" asks the person who runs the program, and
            refuses if there is none.
        allowed_origins: Patterns, see `OriginPattern`.
        denied_origins: Patterns; they win over everything else.
        repin: When no pinned address of a host connects any more and a name server returns others: "refuse" them, or
            accept them if all are "public".
        strict: Whether a session refuses to start if it cannot send all traffic through the egress gate, or cannot
            block traffic that bypasses the gate.
        asker: Who opens pages, for the wording of refusals where nothing is configured. The rules are the same.

    Raises:
        UsageError: An invalid value, or an allowed pattern for an origin that is always refused.
    """

    default_action: Action = "deny"
    allowed_origins: tuple[str, ...] = ()
    denied_origins: tuple[str, ...] = ()
    repin: Repin = "refuse"
    strict: bool = True
    asker: Asker = "operator"
    allowed: tuple[OriginPattern, ...] = field(init=False, repr=False, compare=False)
    denied: tuple[OriginPattern, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _one_of("default_action", self.default_action, get_args(Action))
        _one_of("repin", self.repin, get_args(Repin))
        _one_of("asker", self.asker, get_args(Asker))
        if type(self.strict) is not bool:
            raise UsageError(f"strict must be true or false, not {self.strict!r}")
        for name, parsed in (("allowed_origins", "allowed"), ("denied_origins", "denied")):
            texts = _texts(name, getattr(self, name))
            object.__setattr__(self, name, texts)
            object.__setattr__(self, parsed, tuple(OriginPattern.parse(text) for text in texts))
        for pattern in self.allowed:
            _check_allowable(pattern)

    @property
    def blocks_webrtc(self) -> bool:
        """True if pages lose WebRTC, which bypasses a proxy. They keep it where nothing is configured."""
        return self.strict or self.default_action != "allow" or bool(self.allowed or self.denied)

    def to_json(self) -> dict[str, Any]:
        """The five settings."""
        return {name: _jsonable(getattr(self, name)) for name in SETTINGS}

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any], *, source: str) -> BrowserPolicy:
        """A policy from settings that a person wrote.

        Raises:
            UsageError: An unknown key or an invalid value; the message names `source`.
        """
        check_keys(settings, source)
        try:
            return cls(**settings)
        except UsageError as error:
            raise UsageError(f"{source}: {error.message}", hint=error.hint) from error


SETTINGS = tuple(item.name for item in fields(BrowserPolicy) if item.init and item.name != "asker")


def policy_for(asker: Asker) -> BrowserPolicy:
    """The policy where nothing is configured: the public web for the operator, nothing for a model."""
    if asker == "model":
        return BrowserPolicy(asker="model")
    return BrowserPolicy(default_action="allow", strict=False)


def check_keys(settings: Iterable[str], source: str) -> None:
    """Raise UsageError for a key that is not a setting."""
    unknown = sorted(set(settings) - set(SETTINGS))
    if unknown:
        raise UsageError(f"{source}: unknown setting {unknown[0]!r}", hint=f"The settings are {', '.join(SETTINGS)}.")


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise UsageError(f"{name} must be a list of patterns, not {value!r}")
    texts = tuple(value)
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(f"{name} must be a list of patterns; {text!r} is not a string")
    return texts


def _check_allowable(pattern: OriginPattern) -> None:
    address = ip_literal(pattern.host) if pattern.host else None
    found = forbidden_range(address) if address is not None else forbidden_name(pattern.host) if pattern.host else None
    if found is not None and not pattern.with_subdomains:
        raise UsageError(
            f"{pattern.text!r} can never be allowed: {pattern.host} is {found.what}",
            hint="For a test server of your own, use --local PORT (in Python: TestServerGrant).",
        )


def _jsonable(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value

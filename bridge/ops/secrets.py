"""Values that a model may use by name and must never see."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import quote, quote_plus

from bridge.errors import PolicyRefused, UsageError
from bridge.ops.fence import origin_of

PREFIX = "secret:"
SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Secret:
    """One value.

    Attributes:
        origins: Where it may be filled in, such as `https://shop.example`; empty means on any page.
    """

    value: str = field(repr=False)
    origins: tuple[str, ...] = ()


class Secrets:
    """Named secrets: `fill` takes `secret:NAME`, and whatever is shown or logged passes `redact`.

    Raises:
        UsageError: A name that is not letters, digits, `_` and `-`, or a value under 4 characters, which could not be
            taken out of a text without spoiling it.
    """

    def __init__(self, named: Mapping[str, str | Secret] | None = None) -> None:
        self._named: dict[str, Secret] = {}
        for name, given in (named or {}).items():
            secret = given if isinstance(given, Secret) else Secret(given)
            if not name.isascii() or not name.replace("_", "").replace("-", "").isalnum():
                raise UsageError(f"{name[:60]!r} cannot name a secret: use letters, digits, _ and -")
            if len(secret.value) < SHORTEST:
                raise UsageError(
                    f"the secret {name} is too short to be kept out of texts: {SHORTEST} characters at least"
                )
            self._named[name] = secret
        spelled = {(form, name) for name, secret in self._named.items() for form in _spellings(secret.value)}
        # The longest first: one secret may be part of another.
        self._spelled = sorted(spelled, key=lambda pair: (-len(pair[0]), pair))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._named)

    def revealed(self, value: str, url: str) -> str:
        """What to fill in for `value`: itself, or the secret it names.

        Raises:
            UsageError: No secret of that name.
            PolicyRefused: The secret is for other origins than that of `url`.
        """
        name = value.removeprefix(PREFIX)
        if name == value:
            return value
        secret = self._named.get(name)
        if secret is None:
            known = f"The secrets are {', '.join(self._named)}." if self._named else "No secrets were given."
            raise UsageError(f"there is no secret {name[:60]!r}", hint=known)
        if secret.origins and origin_of(url) not in secret.origins:
            raise PolicyRefused(f"the secret {name} is not for {origin_of(url)}.", secret=name)
        return secret.value

    def redact(self, text: str) -> str:
        """`text` with `[secret:NAME]` where a secret stood, raw or escaped for a URL, JSON or HTML."""
        for spelled, name in self._spelled:
            if spelled in text:
                text = text.replace(spelled, f"[{PREFIX}{name}]")
        return text

    def redact_values(self, value: Any) -> Any:
        """A JSON value with every string in it redacted."""
        if not self._spelled:
            return value
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            return {self.redact(str(key)): self.redact_values(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact_values(inner) for inner in value]
        return value


def _spellings(value: str) -> set[str]:
    return {
        value,
        quote(value, safe=""),
        quote(value),
        quote_plus(value),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        escape(value),
    }

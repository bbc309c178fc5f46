"""Values that a model may use by name and must never see.

A secret is found in text escaped for a URL, JSON, HTML or Markdown, and where it was cut off; one of eight letters and
digits or more also in another case, grouped, or split over elements (`bridge.ops.folding`). It is not found after a
page has computed something else from it, such as Base64, or in letters that only look alike.
`bridge.page.capture.secret_masking` paints over it in screenshots.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html.entities import codepoint2name
from typing import TYPE_CHECKING, Any

from bridge.errors import PolicyRefused, UsageError
from bridge.ops.content_markers import origin_of
from bridge.ops.folding import folded, replaced
from bridge.ops.selectors import check_selector
from bridge.policy.address import parse_address
from bridge.snapshot.escape import ELLIPSIS, plain

if TYPE_CHECKING:
    from bridge.page.page import Page

PREFIX = "secret:"
SHORTEST = 4
LONGEST = 4_096
_CUT_DEPTH = 40
# Shorter values, compared loosely, would be found in a page's own words and numbers.
_FOLDED_FROM, _DIGITS_FROM = 8, 6


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret value.

    Attributes:
        origins: Where it may be filled in, such as `https://shop.example`; empty allows any page.

    Raises:
        UsageError: One of them is not a valid origin and would match no page.
    """

    value: str = field(repr=False)
    origins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "origins", tuple(_origin(given) for given in self.origins))

    @classmethod
    def read(cls, environ: Mapping[str, str], variable: str, *, origin: str = "") -> Secret:
        """The value of an environment variable. A command line, which every user can see, names only the variable.

        Raises:
            UsageError: The variable is not set.
        """
        if not (value := environ.get(variable)):
            raise UsageError(f"environment variable {variable or repr('')} is not set")
        return cls(value, (origin,) if origin else ())


class Secrets:
    """Named secrets. `fill` takes `secret:NAME`; everything shown or logged passes through `redact`.

    Raises:
        UsageError: A name has other characters than letters, digits, `_` and `-`; a value is shorter than 4 characters,
            so redacting it would garble texts, or longer than 4,096.
    """

    def __init__(self, named: Mapping[str, str | Secret] | None = None) -> None:
        self._named: dict[str, Secret] = {}
        for name, given in (named or {}).items():
            secret = given if isinstance(given, Secret) else Secret(given)
            if not name.isascii() or not name.replace("_", "").replace("-", "").isalnum():
                raise UsageError(f"{name[:60]!r} is not a valid name for a secret: use letters, digits, _ and -")
            if not SHORTEST <= len(secret.value.strip()) <= LONGEST:
                raise UsageError(
                    f"the secret {name} must have {SHORTEST} to {LONGEST} characters, so that it can be redacted"
                )
            self._named[name] = secret
        # Longest first: one secret may be part of another.
        by_length = sorted(self._named.items(), key=lambda item: (-len(item[1].value), item[0]))
        self._patterns = [(name, spellings(secret.value)) for name, secret in by_length]
        loose = [(name, folded(secret.value)) for name, secret in by_length]
        self._folded = [(name, value) for name, value in loose if _is_long(value)]

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line for each secret that is too short to be found in other forms than the one it is written in."""
        loose = {name for name, _ in self._folded}
        return tuple(
            f"the secret {name} has fewer than {_FOLDED_FROM} letters and digits: "
            "it is removed only where a page writes it as it is, not in another case or grouped"
            for name in self._named
            if name not in loose
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._named)

    def revealed(self, value: str, url: str) -> str:
        """`value`, or the secret that it names.

        Raises:
            UsageError: The secret does not exist.
            PolicyRefused: The secret is bound to other origins than that of `url`.
        """
        name = value.removeprefix(PREFIX)
        if name == value:
            return value
        secret = self._named.get(name)
        if secret is None:
            known = f"The secrets are {', '.join(self._named)}." if self._named else "No secrets are set."
            raise UsageError(f"unknown secret {name[:60]!r}", hint=known)
        if secret.origins and origin_of(url) not in secret.origins:
            raise PolicyRefused(f"the secret {name} may not be filled in on {origin_of(url)}.", secret=name)
        return secret.value

    def revealed_at(self, value: str, page: Page, ref: str) -> str:
        """`revealed` for the document of the element, which may be a frame's with another origin than the page's."""
        return self.revealed(value, page.document_url(ref))

    def checked_selector(self, selector: str | None) -> str | None:
        """The selector, if `bridge.ops.selectors` allows it. Without secrets any selector is allowed."""
        if selector is not None and self._named:
            check_selector(selector)
        return selector

    @property
    def redactor(self) -> Callable[[str], str] | None:
        """`redact` for code that searches a page for text; None without secrets."""
        return self.redact if self._named else None

    def redact(self, text: str) -> str:
        """Replace each secret, and the beginning of one cut off with `…`, by `[secret:NAME]`.

        Finds a secret that is escaped for a URL, JSON, HTML or Markdown, in any case, grouped, and split over the
        strings of a snapshot; not one that a page has transformed, such as into Base64.
        """
        for name, pattern in self._patterns:
            text = pattern.sub(f"[{PREFIX}{name}]", text)
        return replaced(text, self._folded, lambda name: f"[{PREFIX}{name}]") if self._folded else text

    def redact_line(self, text: str) -> str:
        """`text` redacted, on one line and without forged refs (`escape.plain`).

        Redacts before, because folding may change white space in a secret, and after, because a page may have put
        invisible characters into it.
        """
        return self.redact(plain(self.redact(text)))

    def redact_cut(self, text: str, limit: int, *, has_more: bool) -> tuple[str, bool]:
        """At most `limit` characters of the redacted text, and whether it was cut.

        Redacts before it cuts: a text cut first may end in the middle of a secret and show nearly all of it.

        Args:
            text: The first `limit` + LONGEST characters of the content, or all of it.
            has_more: Whether the content continues after `text`, which then may itself end inside a secret.
        """
        redacted = self.redact(text)
        kept = redacted[: max(len(redacted) - LONGEST, 0)] if has_more else redacted
        return kept[:limit], has_more or len(kept) > limit

    def redact_values(self, value: Any) -> Any:
        """A JSON value with every string in it redacted."""
        if not self._patterns:
            return value
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            return {self.redact(str(key)): self.redact_values(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact_values(inner) for inner in value]
        return value


def _is_long(value: str) -> bool:
    return len(value) >= (_DIGITS_FROM if value.isdecimal() else _FOLDED_FROM)


def _origin(given: str) -> str:
    """The origin in the form of `origin_of`."""
    address = parse_address(given)
    origin = origin_of(address.url)
    if address.scheme not in ("http", "https") or address.host is None or address.url != f"{origin}/":
        raise UsageError(f"{given[:80]!r} is not a valid origin", hint='Write it as "https://shop.example".')
    return origin


def spellings(value: str) -> re.Pattern[str]:
    """Matches `value` with any of its characters escaped, and its beginning before a `…`."""
    characters = [_character(run) for run in re.findall(r"\\+|.", re.sub(r"\s+", " ", value.strip()))]
    # A value cut off deeper than _CUT_DEPTH still begins like this. Possessive: there is only one way to match.
    rest = rf"[^\n{ELLIPSIS}]{{0,{6 * len(characters)}}}+" if len(characters) > _CUT_DEPTH else ""
    for character in reversed(characters[SHORTEST:_CUT_DEPTH]):
        rest = f"(?:{character}{rest})?+"
    return re.compile(f"{''.join(characters)}|{''.join(characters[:SHORTEST])}{rest}(?={ELLIPSIS})")


def _character(character: str) -> str:
    """A pattern for one character (or a run of backslashes) in plain text, a URL, JSON, HTML or Markdown.

    No two alternatives match the same text, or a page that contains almost the secret would cost 2ⁿ steps.
    """
    if character == " ":
        return r"(?:\s|\+|(?i:%20|%0[9ad]|&nbsp;|&#0*(?:32|160|x20|xa0);)|\\[nrt])+"
    number, times = ord(character[0]), len(character)
    encoded = "".join(f"%{byte:02x}" for byte in character[0].encode("utf-8", "surrogatepass"))
    loose = [encoded, f"&#0*{number};", f"&#x0*{number:x};"]
    if number in codepoint2name:
        loose.append(f"&{codepoint2name[number]};")
    if (escaped := json.dumps(character[0])[1:-1]).startswith("\\u"):
        loose.append(re.escape(escaped))
    if character[0] == "\\":
        return rf"(?:\\{{{times},{2 * times}}}|(?i:{'|'.join(loose)}){{{times}}})"
    backslash = r"\\?" if character in string.punctuation else ""
    return rf"(?:{backslash}{re.escape(character)}|(?i:{'|'.join(loose)}))"

"""Values that a model may use by name and must never see."""

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
from bridge.ops.selectors import check_selector
from bridge.policy.address import parse_address
from bridge.snapshot.escape import ELLIPSIS, plain

if TYPE_CHECKING:
    from bridge.page.page import Page

PREFIX = "secret:"
SHORTEST = 4
LONGEST = 4_096
_CUT_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Secret:
    """One value.

    Attributes:
        origins: Where it may be filled in, such as `https://shop.example`; empty means on any page.

    Raises:
        UsageError: One of them is no origin, and would match no page.
    """

    value: str = field(repr=False)
    origins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "origins", tuple(_origin(given) for given in self.origins))

    @classmethod
    def read(cls, environ: Mapping[str, str], variable: str, *, origin: str = "") -> Secret:
        """What a variable holds, for one origin: the command line, which everybody sees, names only the variable.

        Raises:
            UsageError: It is not set.
        """
        if not (value := environ.get(variable)):
            raise UsageError(f"the environment has no {variable or repr('')}", hint="Name a variable that is set.")
        return cls(value, (origin,) if origin else ())


class Secrets:
    """Named secrets: `fill` takes `secret:NAME`, and whatever is shown or logged passes `redact`.

    Raises:
        UsageError: A name that is not letters, digits, `_` and `-`, or a value under 4 characters, which could not be
            taken out of a text without spoiling it, or over 4,096.
    """

    def __init__(self, named: Mapping[str, str | Secret] | None = None) -> None:
        self._named: dict[str, Secret] = {}
        for name, given in (named or {}).items():
            secret = given if isinstance(given, Secret) else Secret(given)
            if not name.isascii() or not name.replace("_", "").replace("-", "").isalnum():
                raise UsageError(f"{name[:60]!r} cannot name a secret: use letters, digits, _ and -")
            if not SHORTEST <= len(secret.value.strip()) <= LONGEST:
                raise UsageError(
                    f"the secret {name} cannot be kept out of texts: it needs {SHORTEST} to {LONGEST} characters"
                )
            self._named[name] = secret
        # The longest first: one secret may be part of another.
        by_length = sorted(self._named.items(), key=lambda item: (-len(item[1].value), item[0]))
        self._patterns = [(name, spellings(secret.value)) for name, secret in by_length]

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

    def revealed_at(self, value: str, page: Page, ref: str) -> str:
        """`revealed`, for the document that the element is in: perhaps a frame's, and not the page's around it."""
        return self.revealed(value, page.document_url(ref))

    def checked_selector(self, selector: str | None) -> str | None:
        """The selector, if it may be asked for: see `bridge.ops.selectors`. Without secrets any may."""
        if selector is not None and self._named:
            check_selector(selector)
        return selector

    @property
    def redactor(self) -> Callable[[str], str] | None:
        """`redact` for what looks for words in a page; None where there is nothing to take out."""
        return self.redact if self._named else None

    def redact(self, text: str) -> str:
        """`text` with `[secret:NAME]` where a secret stood, or the beginning of one that was cut off with `…`.

        However it is escaped: for a URL, JSON, HTML or Markdown. Not a secret that a page has turned into something
        else, such as its letters one by one or their Base64.
        """
        for name, pattern in self._patterns:
            text = pattern.sub(f"[{PREFIX}{name}]", text)
        return text

    def redact_line(self, words: str) -> str:
        """`words` redacted, on one line and without forged refs (`escape.plain`).

        Redacted before, since a secret may have white space that is folded then, and after, since a page may have put
        into it what cannot be seen.
        """
        return self.redact(plain(self.redact(words)))

    def redact_cut(self, text: str, limit: int, *, has_more: bool) -> tuple[str, bool]:
        """At most `limit` characters of the redacted text, and whether something is missing: what is redacted after it
        is cut may end in the middle of a secret, and show all of it but its last letter.

        Args:
            text: Of what there is, at least `limit` + LONGEST characters.
            has_more: Whether `text` is not all that there is, so that its own end may be such a one.
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


def _origin(given: str) -> str:
    """As `origin_of` writes it."""
    address = parse_address(given)
    origin = origin_of(address.url)
    if address.scheme not in ("http", "https") or address.host is None or address.url != f"{origin}/":
        raise UsageError(f"{given[:80]!r} is no origin of the web", hint='Write it as "https://shop.example".')
    return origin


def spellings(value: str) -> re.Pattern[str]:
    """Finds `value` whichever of its characters are escaped, and its beginning before a `…`."""
    characters = [_character(run) for run in re.findall(r"\\+|.", re.sub(r"\s+", " ", value.strip()))]
    # What was cut off later than so deep has begun like this all the same. Possessive: there is one way to begin.
    rest = rf"[^\n{ELLIPSIS}]{{0,{6 * len(characters)}}}+" if len(characters) > _CUT_DEPTH else ""
    for character in reversed(characters[SHORTEST:_CUT_DEPTH]):
        rest = f"(?:{character}{rest})?+"
    return re.compile(f"{''.join(characters)}|{''.join(characters[:SHORTEST])}{rest}(?={ELLIPSIS})")


def _character(character: str) -> str:
    """A pattern for one character (or a run of backslashes) as it stands in plain text, a URL, JSON, HTML or Markdown.

    No two of its alternatives match the same text: a page that says almost the secret would cost 2ⁿ steps.
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

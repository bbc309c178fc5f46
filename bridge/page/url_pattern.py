"""URL patterns, as a test of our own and as the coarser filter that CDP supports."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bridge.errors import UsageError

_PIECES = re.compile(r"\*\*/?|\*|\{[^{}]*\}|\\.|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """A set of addresses.

    Attributes:
        text: The pattern as written, for messages and to find it again.
        cdp: A `Fetch.RequestPattern.urlPattern` that matches at least all of them.
    """

    text: str
    cdp: str
    _expression: re.Pattern[str]

    def matches(self, url: str) -> bool:
        return self._expression.search(url) is not None


def url_pattern(wanted: str | re.Pattern[str]) -> UrlPattern:
    """A glob over the whole address, or a regular expression searched in it.

    In a glob, `*` matches within a path segment, `**` across segments, `{a,b}` one of several, and a backslash escapes
    the next character. All other characters, also `?`, match themselves.

    Raises:
        UsageError: The pattern is empty, or a brace is not closed.
    """
    if isinstance(wanted, re.Pattern):
        return UrlPattern(wanted.pattern, "*", wanted)
    if not wanted:
        raise UsageError("the URL pattern is empty", hint='"**" matches every address.')
    expression, coarse = [], []
    for piece in _PIECES.findall(wanted):
        match piece:
            case "**/":
                expression.append("(?:.*/)?")
                coarse.append("*")
            case "**":
                expression.append(".*")
                coarse.append("*")
            case "*":
                expression.append("[^/]*")
                coarse.append("*")
            case _ if piece.startswith("{") and piece.endswith("}"):
                expression.append("(?:" + "|".join(re.escape(choice) for choice in piece[1:-1].split(",")) + ")")
                coarse.append("*")
            case "{" | "}":
                raise UsageError(f"the URL pattern {wanted!r} has an unmatched brace")
            case _:
                character = piece[-1]
                expression.append(re.escape(character))
                coarse.append("\\" + character if character in "*?\\" else character)
    return UrlPattern(wanted, "".join(coarse), re.compile(f"^{''.join(expression)}$", re.DOTALL))

"""URL patterns: what a person writes, as a test of our own and as the coarser filter that CDP knows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bridge.errors import UsageError

_PIECES = re.compile(r"\*\*/?|\*|\{[^{}]*\}|\\.|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """Which addresses are meant.

    Attributes:
        text: As it was written, for messages and for taking it away again.
        cdp: A `Fetch.RequestPattern.urlPattern` that matches at least all of them.
    """

    text: str
    cdp: str
    _expression: re.Pattern[str]

    def matches(self, url: str) -> bool:
        return self._expression.search(url) is not None


def url_pattern(wanted: str | re.Pattern[str]) -> UrlPattern:
    """A glob over the whole address, or a regular expression that is searched in it.

    In a glob `*` stays within a path segment, `**` crosses them, `{a,b}` is a choice, a backslash takes the next
    character as it is; everything else, also `?`, means itself.

    Raises:
        UsageError: It is empty, or a brace is not closed.
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
                raise UsageError(f"the URL pattern {wanted!r} has a brace without its other half")
            case _:
                character = piece[-1]
                expression.append(re.escape(character))
                coarse.append("\\" + character if character in "*?\\" else character)
    return UrlPattern(wanted, "".join(coarse), re.compile(f"^{''.join(expression)}$", re.DOTALL))

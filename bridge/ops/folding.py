"""Finds a value in a text that writes it in another case, grouped, decorated, split or encoded.

Both are folded: percent-, HTML- and JSON-encoding decoded (also when applied twice), compatibility forms decomposed
(NFKD, UAX 15) and case-folded, and everything that is neither letter nor digit left out: white space, punctuation,
combining marks, characters without width. What is then equal counts as the same value.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from html import unescape
from urllib.parse import unquote

from bridge.snapshot.escape import ELLIPSIS

# A beginning of this length before an ellipsis counts as the value.
_SHORTEST_BEGINNING = 6
_INLINE = (
    "a|abbr|b|bdi|bdo|big|br|cite|code|data|del|dfn|div|em|font|i|img|ins|kbd|label|li|mark|p|q|rb|rp|rt|ruby|s|samp|"
    "small|span|strike|strong|sub|sup|td|th|time|tr|tspan|tt|u|var|wbr"
)
_PIECE = re.compile(
    r"(?P<word>[0-9A-Za-z]+)"
    r"|(?P<percent>(?:%(?:25)*[0-9A-Fa-f]{2})+)"
    r"|(?P<reference>&(?:amp;)*(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
    r"|(?P<escape>\\+(?:u[0-9A-Fa-f]{4}|[bfnrt]))"
    r"|(?P<other>[^\x00-\x7f])"
)
# What may stand between two letters that are side by side for a reader: a tag, the target of a link, a ref.
_MARKUP = re.compile(
    rf"</?(?:{_INLINE})\b[^<>]{{0,500}}>|\]\([^()\s]{{0,2000}}\)|\[ref=[\w:.-]{{1,40}}\]", re.IGNORECASE
)
# The string of a line of a snapshot or of what changed in one, and the values in such lines.
_NAMES = re.compile(r'^(?:! |[ \t+~*>-]*[a-z]+ )"((?:[^"\\\n]|\\.)*)"', re.MULTILINE)
_VALUES = re.compile(r'\[value="((?:[^"\\\n]|\\.)*)"\]')
_ENCODED = re.compile(r"[%&\\]")
_DELETED = {code: None for code in range(128) if not chr(code).isalnum()}


def folded(text: str) -> str:
    """`text` as it is compared."""
    if text.isascii() and not _ENCODED.search(text):
        return text.lower().translate(_DELETED)
    return "".join(piece for piece, *_ in _pieces(text, 0, len(text)))


def replaced(text: str, values: Sequence[tuple[str, str]], shown: Callable[[str], str]) -> str:
    """The text with `shown(name)` for each of the values that it writes.

    Args:
        values: Names and folded values, the longest first.
    """
    for reading in _READINGS:
        regions = reading(text)
        parts = [
            (begin, end, "" if number else shown(name))
            for name, places in (_found(text, regions, values) if regions else ())
            for number, (begin, end) in enumerate(places)
        ]
        for begin, end, new in sorted(parts, reverse=True):
            text = text[:begin] + new + text[end:]
    return text


Regions = list[tuple[int, int]]


def _without_markup(text: str) -> Regions:
    if not ("<" in text or "](" in text or "[ref=" in text):
        return []
    edges = [0, *(edge for markup in _MARKUP.finditer(text) for edge in markup.span()), len(text)]
    return [(begin, end) for begin, end in zip(edges[::2], edges[1::2], strict=True) if begin < end]


def _strings(pattern: re.Pattern[str]) -> Callable[[str], Regions]:
    def regions(text: str) -> Regions:
        spans = [found.span(1) for found in pattern.finditer(text)]
        return spans if len(spans) > 1 else []

    return regions


# The ways in which a reader may take a text together: all of it, without markup, and the strings of a snapshot.
_READINGS = (lambda text: [(0, len(text))], _without_markup, _strings(_NAMES), _strings(_VALUES))


def _found(text: str, regions: Regions, values: Sequence[tuple[str, str]]) -> list[tuple[str, Regions]]:
    """Names of values, and for each the parts of the text that together write it."""
    whole = "".join(folded(text[begin:end]) for begin, end in regions)
    spans = list(_spans(whole, values))
    if not spans:
        return []
    places = [
        (region, *place)
        for region, (begin, end) in enumerate(regions)
        for piece, first, last, is_plain in _pieces(text, begin, end)
        for place in (
            ((first + n, first + n + 1) for n in range(len(piece))) if is_plain else [(first, last)] * len(piece)
        )
    ]
    return [(name, _parts(places[begin:end])) for name, begin, end in spans]


def _parts(places: Iterable[tuple[int, int, int]]) -> Regions:
    """One part for each region that the places are in."""
    parts: dict[int, tuple[int, int]] = {}
    for region, begin, end in places:
        parts[region] = (min(begin, parts.get(region, (begin,))[0]), end)
    return list(parts.values())


def _spans(whole: str, values: Sequence[tuple[str, str]]) -> Iterator[tuple[str, int, int]]:
    taken = bytearray(len(whole))
    for name, value in values:
        at = whole.find(value)
        while at >= 0:
            end = at + len(value)
            if not any(taken[at:end]):
                taken[at:end] = b"\x01" * len(value)
                yield name, at, end
            at = whole.find(value, end)
    cut = whole.find(ELLIPSIS)
    while cut >= 0:
        for name, value in values:
            chars = min(len(value) - 1, cut)
            while chars >= _SHORTEST_BEGINNING and not whole.endswith(value[:chars], 0, cut):
                chars -= 1
            if chars >= _SHORTEST_BEGINNING and not any(taken[cut - chars : cut]):
                taken[cut - chars : cut] = b"\x01" * chars
                yield name, cut - chars, cut
                break
        cut = whole.find(ELLIPSIS, cut + 1)


def _pieces(text: str, begin: int, end: int) -> Iterator[tuple[str, int, int, bool]]:
    """Folded pieces with where they begin and end, and whether each of their characters is one of the text's."""
    for found in _PIECE.finditer(text, begin, end):
        kind, source = found.lastgroup, found[0]
        first, last = found.span()
        if kind == "word":
            yield source.lower(), first, last, True
        elif kind == "other":
            if piece := _folded_character(source):
                yield piece, first, last, False
        elif (decoded := _decoded(kind, source)) != source:
            yield "".join(map(_folded_character, decoded)), first, last, False
        else:
            for word in re.finditer(r"[0-9A-Za-z]+", source):
                yield word[0].lower(), first + word.start(), first + word.end(), True


def _decoded(kind: str | None, source: str) -> str:
    if kind == "percent":
        return unquote(re.sub("%(?:25)+(?=[0-9A-Fa-f]{2})", "%", source))
    if kind == "reference":
        return unescape(source.replace("amp;", "")) if source.count(";") > 1 else unescape(source)
    code = source.lstrip("\\")
    return chr(int(code[1:], 16)) if code[0] == "u" and len(code) > 1 else " "


@lru_cache(maxsize=4096)
def _folded_character(character: str) -> str:
    if character == ELLIPSIS:
        return character
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(it for it in plain if it.isalnum())

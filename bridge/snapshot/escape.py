"""Escapes text of a page for one line of a snapshot.

The author of the page chooses names, texts, values, titles and URLs. None of them may end a line, close a quote,
reorder what is shown (bidirectional overrides) or carry invisible text.
"""

from __future__ import annotations

import re

ELLIPSIS = "…"

# Unicode DerivedCoreProperties: Default_Ignorable_Code_Point (without the emoji selector U+FE0F and the two joiners,
# which have a meaning between visible characters), the other controls of category Cc and Cf, the private use areas
# (icon fonts: an icon to a person, noise to a reader), and the noncharacters. Of the other
# invisible ones, U+1D159 (a note without a head) goes too; U+2800 (Braille's space) is white space here.
_INVISIBLE_BMP = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0e\ufeff"
    "\uffa0\ufff0-\ufffc\ufffe\uffff"
)
_INVISIBLE = re.compile(
    f"[{_INVISIBLE_BMP}\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
# Characters that may have to be removed or replaced, and all beyond the BMP, which saves a test per range.
_SUSPECT = re.compile(f"[{_INVISIBLE_BMP}\u200c\u200d\u2800\ud800-\udfff\U00010000-\U0010ffff]")
_ZERO_WIDTH = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
_SPLIT_PAIR = re.compile("[\ud800-\udbff](?=…)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LOOSE_JOINER = re.compile("(?<![^\x00-\x7f\u200c\u200d])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f\u200c\u200d])")
_LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_NOT_IN_URL = re.compile(r"[^!#-;=?-\[\]_a-z~]")


def hides_words(text: object) -> bool:
    """True if a text has zero-width characters, which `clean` removes."""
    return isinstance(text, str) and not text.isascii() and _ZERO_WIDTH.search(text) is not None


def clean(words: str) -> str:
    """The visible text of a string on one line: white space collapsed, invisible characters removed.

    Lone surrogates become U+FFFD, so that the result can always be encoded as UTF-8.
    """
    if not (words.isascii() and words.isprintable()) and _SUSPECT.search(words):
        words = _INVISIBLE.sub("", words)
        words = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _SPLIT_PAIR.sub("", words))
        words = _LOOSE_JOINER.sub("", words).replace("\u2800", " ")
    return " ".join(words.split())


def clean_lines(words: str) -> str:
    """Like `clean`, but the line ends of a text area's value stay, as single `\\n`."""
    return "\n".join(clean(line) for line in _LINE_END.split(words)).strip("\n")


def cut(words: str, limit_chars: int) -> str:
    """At most `limit_chars` characters; a cut text ends with `…`."""
    if len(words) <= limit_chars:
        return words
    return words[: max(limit_chars - 1, 0)].rstrip() + ELLIPSIS


def cut_middle(words: str, limit_chars: int) -> str:
    """At most `limit_chars` characters, with `…` for the part cut out in the middle."""
    if len(words) <= limit_chars:
        return words
    end = limit_chars // 2
    return f"{words[: limit_chars - 1 - end]}{ELLIPSIS}{words[-end:]}"


def quote(words: str) -> str:
    """A string literal of the text format: `"`, `\\` and line ends are escaped with a backslash.

    The text must be clean; for text straight from a page use `quoted`. The start of a ref is escaped too, so that a
    reader who searches only for `[ref=` cannot find a forged one.
    """
    if "\\" in words:
        words = words.replace("\\", "\\\\")
    if '"' in words:
        words = words.replace('"', '\\"')
    if "\n" in words:
        words = words.replace("\n", "\\n")
    return f'"{without_refs(words)}"'


def quoted(words: str, limit_chars: int) -> str:
    """Renders text of a page as a string literal inside a line of the snapshot."""
    return quote(cut(clean(words), limit_chars))


def plain(words: str) -> str:
    """Renders text of a page inside a line of the snapshot, without quotes."""
    return without_refs(clean(words))


def without_refs(text: str) -> str:
    """Escapes the bracket of every `[ref=` in text that contains only forged ones."""
    return text.replace("[ref=", "\\u005bref=") if "[ref=" in text else text


def url_token(url: str) -> str:
    """The URL as one word of printable ASCII: everything else percent-encoded as UTF-8."""
    return _NOT_IN_URL.sub(_percent, url).replace("[ref=", "%5Bref=")


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))

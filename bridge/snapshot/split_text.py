"""Finds the texts of a list that hold a secret, or a part of a secret that spans several of them.

A secret may start in one text and end in another: `hunter<b>2</b>` is two texts, and a code may have an element for
each letter. Only a function from text to redacted text is given, so each gap between two texts is tried: a secret that
spans the gap is no longer found when a character is inserted there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

# The longest secret that is found.
REACH_CHARS = 4_096
_MAX_SPANNED = 256
# A letter, since redaction may ignore everything else, and a rare one.
_BAR = "\ua66e"


class TooManySpans(ValueError):
    """Secrets span more than 256 gaps between texts."""


def redacted_texts(texts: Sequence[str], redact: Callable[[str], str]) -> set[int]:
    """The positions of the texts that `redact` changes, alone or together with adjacent ones.

    Raises:
        TooManySpans: Too many secrets span several texts.
    """
    texts = [text.replace(_BAR, "") for text in texts]
    found = {place for place, text in enumerate(texts) if redact(text) != text}
    for number, gap in enumerate(_spanned_gaps(texts, redact, 0, len(texts) - 1)):
        if number == _MAX_SPANNED:
            raise TooManySpans
        found |= {gap, gap + 1}
    return found


def _spanned_gaps(texts: Sequence[str], redact: Callable[[str], str], first: int, end: int) -> Iterator[int]:
    """The gaps from `first` up to `end` that a secret spans; gap n follows text n."""
    if first >= end:
        return
    before, after = "".join(_near(texts[first::-1])[::-1])[-REACH_CHARS:], "".join(_near(texts[end:]))[:REACH_CHARS]
    within = texts[first + 1 : end]
    whole = redact("".join([before, *within, after]))
    if redact(_BAR.join([before, *within, after])).replace(_BAR, "") == whole:
        return
    if end - first == 1:
        yield first
        return
    middle = (first + end) // 2
    yield from _spanned_gaps(texts, redact, first, middle)
    yield from _spanned_gaps(texts, redact, middle, end)


def _near(texts: Sequence[str]) -> list[str]:
    """The texts near the gap that a secret can reach into."""
    room, kept = REACH_CHARS, []
    for text in texts:
        kept.append(text)
        room -= len(text)
        if room <= 0:
            break
    return kept

"""Which texts of a page have a part in what must not be shown: a word may begin in one and end in another.

A page writes `hunter<b>2</b>` as two texts, and spells a code with an element for each letter. Only what takes the
words out is known, a function from text to text; so each gap between two texts is tried: a word that lies across it is
no longer found when something stands in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bridge.errors import CaptureFailed

# As long as a secret may be.
REACH_CHARS = 4_096
_MAX_CROSSED = 256
_BAR = "\0"


def hidden_texts(texts: Sequence[str], redact: Callable[[str], str]) -> set[int]:
    """The places of the texts that `redact` changes, alone or together with those beside them.

    Raises:
        CaptureFailed: So many words are written across texts that looking for them takes too long.
    """
    texts = [text.replace(_BAR, "") for text in texts]
    found = {place for place, text in enumerate(texts) if redact(text) != text}
    for number, gap in enumerate(_crossed(texts, redact, 0, len(texts) - 1)):
        if number == _MAX_CROSSED:
            raise CaptureFailed("the page has more words across several elements than can be looked through")
        found |= {gap, gap + 1}
    return found


def _crossed(texts: Sequence[str], redact: Callable[[str], str], first: int, end: int) -> Iterator[int]:
    """The gaps from `first` to before `end` that a word lies across; gap n is the one behind text n."""
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
    yield from _crossed(texts, redact, first, middle)
    yield from _crossed(texts, redact, middle, end)


def _near(texts: Sequence[str]) -> list[str]:
    """As many of the texts as a word may reach into."""
    room, kept = REACH_CHARS, []
    for text in texts:
        kept.append(text)
        room -= len(text)
        if room <= 0:
            break
    return kept

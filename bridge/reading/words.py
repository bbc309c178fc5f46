"""The words of an element, in a time that does not depend on how much is in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml import etree

#: HTML's white space (Infra §4.6) and U+00A0, which pages use to indent; U+3000 and the like belong to the text.
WHITE = " \t\n\r\f\xa0"
SPACES = re.compile(rf"[{WHITE}]+")


# A title, a date or a call to share is found in far less; what is longer is text.
_MOST_STEPS = 2_000


def texts_in(element: etree._Element) -> Iterator[str]:
    """The first texts below an element, as `itertext` gives them.

    A page can nest elements to any depth, so joining all of the text at every level would take quadratic time.
    """
    for event, at in islice(etree.iterwalk(element, events=("start", "end")), _MOST_STEPS):
        text = at.text if event == "start" else at.tail if at is not element else None
        if text:
            yield text


def words_of(element: etree._Element, at_most: int = 5_000) -> str:
    """The words below an element, white space folded; of a big one, those in its first `at_most` characters."""
    if not len(element):
        return SPACES.sub(" ", (element.text or "")[:at_most]).strip()
    parts: list[str] = []
    room = at_most
    for text in texts_in(element):
        parts.append(text[:room])
        room -= len(text)
        if room <= 0:
            break
    return SPACES.sub(" ", "".join(parts)).strip()


_ANCHOR_SIGN = re.compile(r"[#¶§🔗\ufeff\u200b]+")
# Signs of an anchor that no title ends with.
_TRAILING_SIGN = re.compile(r"[\s¶🔗\ufeff\u200b]+\Z")
_MOST_LINKS = 20


def without_anchor_sign(text: str) -> str:
    """A heading's words without the sign of its anchor at their end."""
    return _TRAILING_SIGN.sub("", text)


def heading_words(element: etree._Element) -> str:
    """The words of a heading without the links to itself: "Install" of `<h2>Install<a href="#install">#</a></h2>`."""
    words = words_of(element)
    for link in islice(element.iter("a"), _MOST_LINKS):
        if _ANCHOR_SIGN.fullmatch(sign := words_of(link)):
            words = words.removesuffix(sign).removeprefix(sign).strip()
    return without_anchor_sign(words)

"""Footnotes: which links lead to a note, and which elements are the notes, by the ids that generators give them."""

from __future__ import annotations

import re

from lxml import etree

from bridge.reading.words import words_of

_NOTE_ID = re.compile(
    r"(?i)(?:user-content-)?(?:fn|footnote|cite_note|endnote|_?_?(?:ftn|edn)|ftnt|easy-footnote-bottom)"
    r"(?!ref|_ref)[-_:.]?[\w:.%-]*"
)
_BACK_WORDS = re.compile(r"[\s\W]*(?:back|return|jump up)?[\s\W\d]*", re.IGNORECASE)
_BACK_ID = re.compile(r"(?i)#(?:user-content-)?(?:fnref|footnote-?ref|cite_ref|ref|_?_?(?:ftn|edn)ref|ftnt_ref)")


class Footnotes:
    """Numbers notes in the order in which they are referred to."""

    def __init__(self, tree: etree._Element) -> None:
        wanted: dict[str, None] = {}
        for link in tree.iter("a"):
            href = link.get("href")
            if href and href[0] == "#" and _NOTE_ID.fullmatch(href, 1):
                wanted[href[1:]] = None
        self._labels: dict[str, str] = {}
        if not wanted:
            return
        present = {
            name for element in tree.iter("li", "p", "div", "aside", "dd") if (name := element.get("id")) in wanted
        }
        for name in wanted:
            if name in present:
                self._labels[name] = str(len(self._labels) + 1)

    def reference(self, link: etree._Element) -> str | None:
        """The label of the note that a link refers to, "" for a note's way back, None for any other link."""
        if not self._labels:
            return None
        href = link.get("href") or ""
        if href[:1] != "#":
            return None
        label = self._labels.get(href[1:])
        if label is not None:
            return label
        if _BACK_ID.match(href) and _BACK_WORDS.fullmatch(words_of(link, 60)):
            return ""
        return None

    def definition(self, element: etree._Element) -> str | None:
        """The label of the note that an element is."""
        return self._labels.get(element.get("id") or "") if self._labels else None

"""A page as blocks of text in document order, as a browser would lay them out one below the other."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from bridge.reading.main_content.names import Name, bits, claims, names_of

#: Elements whose text is not part of the page.
SILENT = frozenset(
    "script style noscript template iframe svg object embed canvas button input select textarea link meta audio video "
    "map datalist progress meter head title".split()
)
_INLINE_HTML = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math nobr output q rb rp rt "
    "ruby s samp small span strike strong sub sup time tt u var wbr br".split()
)
_MATH = frozenset(
    "mi mn mo ms mtext mspace mrow mfrac msqrt mroot mstyle merror mpadded mphantom msub msup msubsup munder mover "
    "munderover mmultiscripts mtable mtr mtd maction menclose mfenced semantics annotation annotation-xml".split()
)
_INLINE = _INLINE_HTML | _MATH
_EMPHASIS = frozenset("b strong em i u mark".split())
#: An inline element with such a name is a part of its own: a share button or a date inside a paragraph.
_STANDS_ALONE = bits(Name.UNSEEN, Name.SHARE, Name.AD, Name.CAPTION, Name.META, Name.TAGS)
_SKIPPED = -1
_CLAUSES = re.compile(r"[,.;:!?…،؛؟۔।॥、。，．；：！？]")  # noqa: RUF001
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(slots=True, eq=False)
class TextBlock:
    """Text without a line break that a block-level element or two `<br>` would make.

    Attributes:
        element: The block-level element around the text.
        slots: Where the text stands: an element, and whether it is its tail (or its text).
        chars: Characters without white space; East Asian ones count twice, because they say more.
        link_chars: Those inside links.
        emphasis_chars: Those inside `strong`, `em` and the like.
        clauses: Signs that end clauses or sentences.
    """

    element: etree._Element
    slots: list[tuple[etree._Element, bool]] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    text: str = ""
    chars: int = 0
    link_chars: int = 0
    links: int = 0
    emphasis_chars: int = 0
    clauses: int = 0
    starts_in_link: bool = False
    ends_in_link: bool = False

    @property
    def is_inline(self) -> bool:
        """Does it stand inside of a line, as a part of its own?"""
        return self.element.tag in _INLINE

    @property
    def free_chars(self) -> int:
        return self.chars - self.link_chars

    @property
    def link_share(self) -> float:
        return self.link_chars / self.chars if self.chars else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class TextBlocks:
    """The blocks of a page.

    Attributes:
        spans: The first block of each block-level element, and the one behind its last.
    """

    body: etree._Element
    blocks: list[TextBlock]
    spans: dict[etree._Element, tuple[int, int]]


def read_blocks(body: etree._Element) -> TextBlocks:
    """The blocks below an element, in one pass and in time proportional to the text."""
    reader = _Reader(body)
    walker: Any = etree.iterwalk(body, events=("start", "end"))
    for event, element in walker:
        if event == "end":
            reader.end(element)
        elif element.tag in SILENT and element is not body:
            reader.skip(element)
            walker.skip_subtree()
        else:
            reader.start(element)
    for block in reader.blocks:
        block.text = " ".join("".join(block.parts).split())
        block.parts.clear()
    return TextBlocks(body, reader.blocks, reader.spans)


class _Reader:
    def __init__(self, body: etree._Element) -> None:
        self.blocks: list[TextBlock] = []
        self.spans: dict[etree._Element, tuple[int, int]] = {}
        self._body = body
        self._current: TextBlock | None = None
        self._holders: list[etree._Element] = []
        # Of each open element: its first block, or None where it is inline; _SKIPPED where it is silent.
        self._open: list[int | None] = []
        self._links = self._emphasis = self._breaks = 0

    def skip(self, element: etree._Element) -> None:
        at = len(self.blocks)
        self.spans[element] = (at, at)
        self._open.append(_SKIPPED)

    def start(self, element: etree._Element) -> None:
        tag = element.tag
        if tag not in _INLINE or (tag != "br" and len(element.attrib) and _stands_alone(element)):
            self._current, self._breaks = None, 0
            self._holders.append(element)
            self._open.append(len(self.blocks))
        else:
            self._open.append(None)
            if self._current is not None and tag == "br":
                self._current.parts.append(" ")
        if tag == "a":
            self._links += 1
            if self._current is not None:
                self._current.links += 1
        elif tag == "br":
            self._breaks += 1
        elif tag in _EMPHASIS:
            self._emphasis += 1
        if element.text:
            self._add(element.text, (element, False))

    def end(self, element: etree._Element) -> None:
        start = self._open.pop()
        if start != _SKIPPED:
            if element.tag == "a":
                self._links -= 1
            elif element.tag in _EMPHASIS:
                self._emphasis -= 1
            if start is not None:
                self._current, self._breaks = None, 0
                self._holders.pop()
                self.spans[element] = (start, len(self.blocks))
        if element.tail and element is not self._body:
            self._add(element.tail, (element, True))

    def _add(self, text: str, slot: tuple[etree._Element, bool]) -> None:
        block = self._current
        if text.isspace():
            if block is not None:
                block.parts.append(" ")
            return
        if block is None or self._breaks > 1:
            block = self._current = TextBlock(self._holders[-1], starts_in_link=self._links > 0)
            self.blocks.append(block)
        self._breaks = 0
        block.slots.append(slot)
        block.parts.append(text)
        length = len(text) - text.count(" ")
        if not text.isascii():
            length += len(_EAST_ASIAN.findall(text))
        block.chars += length
        if self._links:
            block.link_chars += length
        if self._emphasis:
            block.emphasis_chars += length
        block.ends_in_link = self._links > 0
        block.clauses += len(_CLAUSES.findall(text))


def _stands_alone(element: etree._Element) -> bool:
    names = names_of(element)
    return bool(names) and bool(claims(names) & _STANDS_ALONE)

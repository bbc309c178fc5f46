"""The main content of a page: what a reader came for, without what surrounds it.

1. Read the page as blocks of text, each with what it stands in (`text_blocks`, `surroundings`).
2. Score each block by the evidence that it shows alone (`evidence`, `weights`).
3. Find the core, the element whose blocks score highest together (`core`).
4. Score each block again, now also by its neighbours and its place to the core, and keep what scores well.
5. Where that keeps too little, keep more; where the page has no text, take what its structured data holds.

No site, no page and no language is special: names, phrases and numbers are weighed, and the weights were fitted to
pages whose text is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from lxml import etree

from bridge.errors import UsageError
from bridge.reading.main_content.assemble import empty, keep_blocks
from bridge.reading.main_content.core import Core, find_core, positions
from bridge.reading.main_content.evidence import DATE, evidence_of, likeness, page_words, word_set
from bridge.reading.main_content.listing import find_listing
from bridge.reading.main_content.measure import measure
from bridge.reading.main_content.names import Name, bits, claims, names_of
from bridge.reading.main_content.surroundings import TAG_BITS, Surroundings, surroundings_of
from bridge.reading.main_content.text_blocks import SILENT, TextBlock, TextBlocks, read_blocks
from bridge.reading.main_content.weights import load_weights, scored
from bridge.reading.markdown.tables import is_layout
from bridge.reading.metadata import title_of
from bridge.reading.parsing import parse_html
from bridge.reading.structured import article_body, description_of, is_article, templates_of
from bridge.reading.words import heading_words, words_of

Mode = Literal["main_content", "article", "raw"]
Kind = Literal["article", "list", "page"]

#: Scores above this are kept: the highest F1 on pages that the weights were not fitted to, with precision and recall in
#: balance.
_KEPT = 0.1
#: The same where the first pass kept less than `_LITTLE` characters of a page that has more.
_KEPT_GENEROUSLY = -2.5
_LITTLE = 250
#: lxml refuses these in text.
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_BYLINE_CHARS = 80
#: A page with more text outside cards is not a list.
_ARTICLE_CHARS = 250
_OUTSIDE_TAGS = TAG_BITS["nav"] | TAG_BITS["footer"] | TAG_BITS["aside"] | TAG_BITS["form"] | TAG_BITS["dialog"]
_OUTSIDE_NAMES = bits(
    Name.NAVIGATION, Name.FOOTER, Name.SIDEBAR, Name.AD, Name.SHARE, Name.COMMENTS, Name.OVERLAY, Name.SIGN_UP
)
_ABOUT_THE_TEXT = bits(Name.META, Name.AUTHOR, Name.TAGS)
_COMMENTS = bits(Name.COMMENTS)
_UNSEEN = bits(Name.UNSEEN)
_LISTS = frozenset(("ul", "ol", "dl"))
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass(frozen=True, slots=True, eq=False)
class Extracted:
    """The main content of a page.

    Attributes:
        tree: An element of the page's tree, which was changed.
        kind: `article` for one text, `list` for a page of cards or links, `page` where neither stands out.
        title: The page's title without the site's name.
        comments: The readers' comments, where they were asked for and the page has some.
    """

    tree: etree._Element
    kind: Kind
    title: str = ""
    comments: etree._Element | None = None


def main_content(tree: etree._Element, *, mode: Mode = "main_content", comments: bool = False) -> Extracted:
    """The part of a document that is worth reading. Changes the tree: pass a copy to keep the original.

    Args:
        mode: `main_content` leaves out what surrounds the content, `article` also reads a list page as an article,
            `raw` gives the whole body.
        comments: Keep the readers' comments.
    """
    if mode not in ("main_content", "article", "raw"):
        raise UsageError(f"mode={mode!r}", hint='Use "main_content", "article" or "raw".')
    body = tree if tree.tag == "body" else tree.find(".//body")
    if body is None:
        body = tree
    title = title_of(tree)
    if mode == "raw":
        return Extracted(body, "page", title)
    found_comments = _take_comments(body) if comments else None
    page = read_blocks(body)
    if _chars(page) < _LITTLE and (instead := _text_from_scripts(tree, _chars(page))) is not None:
        body.clear()
        body.extend(instead)
        page = read_blocks(body)
    if not page.blocks:
        return Extracted(body, "page", title, found_comments)
    judged = judge(tree, page, title)
    keep = judged.keep()
    if mode == "main_content" and not (is_article(tree) or judged.reads_like_an_article(keep)):
        outside = judged.outside()
        listing = find_listing(body, measure(body, outside))
        if listing is body:
            for element in outside:
                empty(element)
        if listing is not None:
            return Extracted(listing, "list", title, found_comments)
    heading = _shown_title(page.blocks, keep, title)
    if heading is not None:
        title = heading_words(page.blocks[heading].element) or title
        keep[heading] = False
    _drop_bylines(page.blocks, judged.around, keep)
    _drop_headings_of_nothing(page.blocks, keep)
    kind: Kind = "article" if any(keep) else "page"
    return Extracted(keep_blocks(page, keep), kind, title, found_comments)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The blocks of a page with their scores."""

    page: TextBlocks
    around: list[Surroundings]
    core: Core
    scores: list[float]

    def keep(self) -> list[bool]:
        """Marks the blocks that belong to the content."""
        keep = self._above(_KEPT)
        if self._chars(keep) < _LITTLE:
            more = [
                is_kept and not self._is_outside(around)
                for is_kept, around in zip(self._above(_KEPT_GENEROUSLY), self.around, strict=True)
            ]
            if self._chars(more) > self._chars(keep):
                keep = more
        if not any(keep):
            keep = [not around.is_hidden for around in self.around]
        return keep

    def reads_like_an_article(self, keep: Sequence[bool]) -> bool:
        """Is there much kept text that stands in no card?"""
        chars = sum(
            block.free_chars
            for block, around, is_kept in zip(self.page.blocks, self.around, keep, strict=True)
            if is_kept and not around.cards and block.free_chars > _BYLINE_CHARS
        )
        return chars > _ARTICLE_CHARS

    def outside(self) -> set[etree._Element]:
        """Elements around the content by their tags, roles or names, and silent ones."""
        found = {element for element in self.page.spans if element.tag in SILENT}
        for block, around in zip(self.page.blocks, self.around, strict=True):
            if self._is_outside(around):
                found.add(block.element)
        return found

    @staticmethod
    def _is_outside(around: Surroundings) -> bool:
        return around.is_hidden or bool(around.tags & _OUTSIDE_TAGS or around.names & _OUTSIDE_NAMES)

    def _above(self, limit: float) -> list[bool]:
        scores = _one_score_each(self.page, self.scores, self.core)
        return [
            score > limit and not around.is_hidden and not (block.is_inline and around.names & _UNSEEN)
            for block, score, around in zip(self.page.blocks, scores, self.around, strict=True)
        ]

    def _chars(self, keep: Sequence[bool]) -> int:
        return sum(block.free_chars for block, is_kept in zip(self.page.blocks, keep, strict=True) if is_kept)


def judge(tree: etree._Element, page: TextBlocks, title: str) -> Judged:
    """Score the blocks of a page."""
    weights = load_weights()
    around = surroundings_of(page)
    words = page_words(title, description_of(tree), article_body(tree), page.blocks)
    # The evidence of one block takes some 3 kB. Of a page of small cells it would be most of the memory of its reading,
    # and the garbage collector would walk through it all, so none is kept.
    alone, in_core, outside = [], [], []
    for block, near in zip(page.blocks, around, strict=True):
        own = evidence_of(block, near, words)
        alone.append(scored(own, weights.alone))
        in_core.append(scored(own, weights.in_core))
        outside.append(scored(own, weights.outside))
    core = find_core(page, alone)
    placed = [
        (in_core if core.start <= at < core.end else outside)[at] + scored(place, weights.place)
        for at, place in enumerate(positions(page, alone, core, words))
    ]
    return Judged(page, around, core, placed)


def _one_score_each(page: TextBlocks, scores: Sequence[float], core: Core) -> list[float]:
    """The scores, one for all blocks of a code block or a table of data: half of one is worse than none.

    Inside the core these go with the text beside them: their content is not prose, which the scores look for.
    """
    out = list(scores)
    for element, (start, end) in page.spans.items():
        if end == start or element.tag not in ("pre", "table") or (element.tag == "table" and is_layout(element)):
            continue
        weights = [min(block.chars, 300) + 10 for block in page.blocks[start:end]]
        mean = sum(score * weight for score, weight in zip(scores[start:end], weights, strict=True)) / sum(weights)
        if core.start <= start and end <= core.end and mean > _KEPT_GENEROUSLY:
            beside = [*scores[max(core.start, start - 2) : start], *scores[end : min(core.end, end + 2)]]
            mean = max([mean, *beside])
        out[start:end] = [mean] * (end - start)
    _score_lists(page, out, core)
    return out


def _score_lists(page: TextBlocks, scores: list[float], core: Core) -> None:
    """Give the items of each list of text in the core one score: short ones belong to a text as much as long ones."""
    chars = [0, *accumulate(block.chars for block in page.blocks)]
    linked = [0, *accumulate(block.link_chars for block in page.blocks)]
    done = len(page.blocks)
    # From the end, where an outer list comes before those in it.
    for element, (start, end) in reversed(page.spans.items()):
        if element.tag not in _LISTS or not core.start <= start < end <= min(core.end, done):
            continue
        if 2 * (linked[end] - linked[start]) > chars[end] - chars[start]:
            continue
        weights = [min(block.chars, 300) + 10 for block in page.blocks[start:end]]
        mean = sum(score * weight for score, weight in zip(scores[start:end], weights, strict=True)) / sum(weights)
        scores[start:end] = [mean] * (end - start)
        done = start


def _shown_title(blocks: Sequence[TextBlock], keep: Sequence[bool], title: str) -> int | None:
    """The heading above all kept text that says the title; a reader gets it as `title`."""
    words = word_set(title)
    for at, (block, is_kept) in enumerate(zip(blocks, keep, strict=True)):
        if not is_kept:
            continue
        if block.element.tag == "h1" or (block.element.tag in _HEADINGS and likeness(block.text, words) > 0.6):
            return at
        if block.chars > 80:
            return None
    return None


def _drop_bylines(blocks: Sequence[TextBlock], around: Sequence[Surroundings], keep: list[bool]) -> None:
    """Short lines above the text that name its author, its date or its topics."""
    about: list[int] = []
    for at, block in enumerate(blocks):
        if not keep[at]:
            continue
        if block.chars > _BYLINE_CHARS:
            for above in about:
                keep[above] = False
            return
        if around[at].names & _ABOUT_THE_TEXT or DATE.search(block.text):
            about.append(at)


def _drop_headings_of_nothing(blocks: Sequence[TextBlock], keep: list[bool]) -> None:
    """Headings at the end, below which nothing was kept."""
    for at in range(len(blocks) - 1, -1, -1):
        if not keep[at]:
            continue
        if blocks[at].element.tag not in _HEADINGS or not any(keep[:at]):
            return
        keep[at] = False


def _chars(page: TextBlocks) -> int:
    return sum(block.free_chars for block in page.blocks)


def _text_from_scripts(tree: etree._Element, chars: int) -> list[etree._Element] | None:
    """Content of a page that needs scripts: the article in its structured data, or the largest template."""
    found: list[etree._Element] | None = None
    most = max(2 * chars, _LITTLE)
    for html in templates_of(tree):
        body = parse_html(html).find("body")
        if body is not None and (size := _chars(read_blocks(body))) > most:
            found, most = list(body), size
    article = article_body(tree)
    if len(article) > most:
        found = []
        for line in filter(None, map(str.strip, article.splitlines())):
            found.append(etree.Element("p"))
            found[-1].text = CONTROLS.sub("", line)
    return found


def _take_comments(body: etree._Element) -> etree._Element | None:
    """The outermost element that is named comments and holds text, taken out of the page."""
    for element in body.iter("div", "section", "ol", "ul", "aside"):
        if claims(names_of(element)) & _COMMENTS and len(words_of(element).split()) > 5:
            parent = element.getparent()
            if parent is None:
                return None
            place = etree.Element("div")
            place.tail, element.tail = element.tail, None
            parent.replace(element, place)
            return element
    return None


__all__ = ["Extracted", "Kind", "Mode", "empty", "judge", "main_content"]

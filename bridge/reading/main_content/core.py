"""The core of a page, the element whose text speaks most for being the content, and where each block stands to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from lxml import etree

from bridge.reading.main_content.evidence import Evidence, PageWords, likeness
from bridge.reading.main_content.text_blocks import TextBlock, TextBlocks

_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_GROUPS = frozenset("ul ol dl table".split())
_LEVELS = 6
_FAR = 10
_LIMIT = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """The blocks from `start` to before `end`."""

    element: etree._Element
    start: int
    end: int


def find_core(page: TextBlocks, scores: Sequence[float]) -> Core:
    """The smallest element with the highest sum: blocks that look like content count for it by their length."""
    sums = [0.0]
    for block, score in zip(page.blocks, scores, strict=True):
        lifted = score + 1.0
        if lifted > 0:
            worth = min(lifted, _LIMIT) * min(block.free_chars, 1_000)
        else:
            worth = max(lifted, -_LIMIT) * min(block.chars, 300)
        sums.append(sums[-1] + worth)
    best, best_sum, best_size = Core(page.body, 0, len(page.blocks)), sums[-1], len(page.blocks) + 1
    for element, (start, end) in page.spans.items():
        if end == start:
            continue
        worth = sums[end] - sums[start]
        if worth > best_sum + 1e-6 or (worth > best_sum - 1e-6 and end - start <= best_size):
            best, best_sum, best_size = Core(element, start, end), worth, end - start
    return best


def positions(page: TextBlocks, scores: Sequence[float], core: Core, words: PageWords) -> Iterator[Evidence]:
    """Facts about each block's place: beside its neighbours, in its group, inside or outside of the core."""
    return _Positions(page, scores, core, words).each()


class _Positions:
    def __init__(self, page: TextBlocks, scores: Sequence[float], core: Core, words: PageWords) -> None:
        self.blocks = blocks = page.blocks
        self.core = core
        self.scores = [max(-_LIMIT, min(_LIMIT, score)) for score in scores]
        self.weights = [min(block.chars, 300) + 10 for block in blocks]
        self._sums = [0.0, *accumulate(score * weight for score, weight in zip(self.scores, self.weights, strict=True))]
        self._weight_sums = [0, *accumulate(self.weights)]
        good = [
            min(block.chars, 1_000) if score > 0 and core.start <= at < core.end else 0
            for at, (block, score) in enumerate(zip(blocks, scores, strict=True))
        ]
        self.done = [0, *accumulate(good)]
        self.whole = self.done[-1] or 1
        inside = [at for at in range(core.start, core.end) if scores[at] > 0]
        self.first, self.last = (inside[0], inside[-1]) if inside else (core.start, core.end - 1)
        self.heading = _title_heading(blocks, core, words)
        self._shares = _style_shares(blocks, good, self.whole)
        self._levels = _levels(blocks, core)
        parents: dict[etree._Element, list[int]] = {}
        groups: dict[etree._Element, list[int]] = {}
        self._groups = [_group_of(block.element) for block in blocks]
        for at, block in enumerate(blocks):
            if (parent := block.element.getparent()) is not None:
                parents.setdefault(parent, []).append(at)
            if (group := self._groups[at]) is not None:
                groups.setdefault(group, []).append(at)
        self._siblings = {
            parent: (sum(blocks[at].link_share for at in ats) / len(ats), min(len(ats), 10) / 10, self._mean_of(ats))
            for parent, ats in parents.items()
        }
        self._group_means = {group: self._mean_of(ats) for group, ats in groups.items()}

    def _mean_of(self, ats: list[int]) -> float:
        return sum(self.scores[at] * self.weights[at] for at in ats) / sum(self.weights[at] for at in ats)

    def _mean(self, start: int, end: int) -> float:
        start, end = max(start, 0), min(end, len(self.blocks))
        if end <= start:
            return -2.0
        return (self._sums[end] - self._sums[start]) / (self._weight_sums[end] - self._weight_sums[start])

    def _siblings_of(self, block: TextBlock) -> tuple[float, float, float]:
        parent = block.element.getparent()
        return (0.0, 0.0, 0.0) if parent is None else self._siblings[parent]

    def each(self) -> Iterator[Evidence]:
        return map(self._of, range(len(self.blocks)))

    def _of(self, at: int) -> Evidence:
        block, core = self.blocks[at], self.core
        found: Evidence = [("placed", 1.0)]
        is_heading = block.element.tag in _HEADINGS
        link_share, count, sibling_mean = self._siblings_of(block)
        scores = [
            ("score", self.scores[at]),
            ("score before", self._mean(at - 1, at)),
            ("score behind", self._mean(at + 1, at + 2)),
            ("score of 3 before", self._mean(at - 3, at)),
            ("score of 3 behind", self._mean(at + 1, at + 4)),
            ("score of 8 before", self._mean(at - 8, at)),
            ("score of 8 behind", self._mean(at + 1, at + 9)),
            ("score of siblings", sibling_mean),
        ]
        if (group := self._groups[at]) is not None:
            found.append(("in a group", 1.0))
            scores.append(("score of group", self._group_means[group]))
        if is_heading:
            scores.append(("score below heading", max(self._mean(at + 1, at + 2), self._mean(at + 1, at + 4))))
        for name, score in scores:
            found.append((name, score))
            if score > 0:
                found.append((f"good {name}", score))
        found += (("links of siblings", link_share), ("siblings", count))
        level = self._levels[at]
        found.append(("levels to core", level))
        if at < core.start:
            found += (("before core", 1.0), ("levels before core", level))
        elif at >= core.end:
            found += (("behind core", 1.0), ("levels behind core", level))
        else:
            found.append(("in core", 1.0))
            found.append(("links in core", block.link_share))
            if block.chars < 60:
                found.append(("short in core", 1.0))
        self._add_order(found, at)
        share = self._shares
        parent = block.element.getparent()
        style = _style_of(block.element)
        found += (
            ("style share", share.get(style, 0.0)),
            ("parent share", share.get(parent, 0.0)),
            ("class share", share.get(style[:2], 0.0)),
        )
        return found

    def _add_order(self, found: Evidence, at: int) -> None:
        if self.heading >= 0:
            found.append(("behind title" if at > self.heading else "before title", 1.0))
            if self.heading < at < self.first:
                found.append(("from title to text", 1.0))
        if at < self.first:
            found += (("before text", 1.0), ("blocks before text", min(self.first - at, _FAR) / _FAR))
            if self.scores[at] > 0:
                found.append(("good before text", self.scores[at]))
        elif at > self.last:
            found += (("behind text", 1.0), ("blocks behind text", min(at - self.last, _FAR) / _FAR))
        elif at == self.first:
            found.append(("first of text", 1.0))
        if at == self.last:
            found.append(("last of text", 1.0))
        rest = 1.0 - self.done[at + 1] / self.whole
        found += (("text before", self.done[at] / self.whole), ("text behind", rest), ("place", at / len(self.blocks)))
        if rest < 0.02 and self.core.start <= at < self.core.end:
            found.append(("end of core", 1.0))
        behind = self.blocks[at + 1] if at + 1 < len(self.blocks) else None
        if behind is not None and behind.element.tag in ("h2", "h3", "h4"):
            found.append(("heading behind", 1.0))


def _title_heading(blocks: list[TextBlock], core: Core, words: PageWords) -> int:
    """The block with the page's title, else the last `h1` before the core's end; -1 where there is none."""
    found = -1
    for at, block in enumerate(blocks[: core.end]):
        if block.element.tag not in ("h1", "h2"):
            continue
        like = likeness(block.text, words.title)
        if block.element.tag == "h1" or like > 0.6:
            found = at
        if like > 0.5:
            break
    return found


def _style_of(element: etree._Element) -> tuple[str, str, str]:
    parent = element.getparent()
    around = (parent.get("class") or "") if parent is not None else ""
    return (str(element.tag), element.get("class") or "", around)


def _style_shares(blocks: list[TextBlock], good: list[int], whole: int) -> dict[object, float]:
    """The share of the core's text that has a style, a tag with a class, a parent."""
    shares: dict[object, float] = {}
    for block, chars in zip(blocks, good, strict=True):
        if chars:
            style = _style_of(block.element)
            for key in (style, style[:2], block.element.getparent()):
                shares[key] = shares.get(key, 0.0) + chars / whole
    return shares


def _levels(blocks: list[TextBlock], core: Core) -> list[float]:
    """Levels from the core up to the nearest element that also contains the block, as a share of 6."""
    known: dict[etree._Element, int] = {core.element: 0}
    known.update((element, level) for level, element in enumerate(core.element.iterancestors(), 1))
    levels: list[float] = []
    for block in blocks:
        trail: list[etree._Element] = []
        at: etree._Element | None = block.element
        while at is not None and at not in known:
            trail.append(at)
            at = at.getparent()
        level = known[at] if at is not None else _LEVELS
        known.update((element, level) for element in trail)
        levels.append(min(level, _LEVELS) / _LEVELS)
    return levels


def _group_of(element: etree._Element) -> etree._Element | None:
    at: etree._Element | None = element
    for _ in range(4):
        if at is None or at.tag in _GROUPS:
            return at
        at = at.getparent()
    return None

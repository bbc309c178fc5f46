"""Evidence from a block of text itself and from what it stands in: names of facts, each with a value around 0 to 1.

What a fact weighs is in `weights.json`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from bridge.reading.main_content.names import Name
from bridge.reading.main_content.phrases import ASKS, CREDITS, NETWORKS, RELATED
from bridge.reading.main_content.surroundings import TAG_BITS, Surroundings
from bridge.reading.main_content.text_blocks import TextBlock

Evidence = list[tuple[str, float]]

#: Evidence of one word in the names of elements around a block.
WORD = "word "

_SENTENCE_END = re.compile(r"[.!?…。！？؟।॥][\"'”’»)\]]*$")  # noqa: RUF001
DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}:\d\d\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b")
_WORD = re.compile(r"\w+")
_TAGS = frozenset("p li td h1 h2 h3 h4 div span pre dt dd blockquote figcaption".split())
_LENGTHS = ((0, 25), (25, 60), (60, 120), (120, 250), (250, 600))
_SHORT = 80
_SMALL = 140
#: Of the text in a page's structured data: less is a teaser.
_FEWEST_STRUCTURED = 250


@dataclass(frozen=True, slots=True)
class PageWords:
    """Words of a page's metadata, to compare its blocks with.

    Attributes:
        structured: The letters of the article's text in JSON-LD, without anything between them.
    """

    title: frozenset[str]
    description: str
    structured: str
    repeated: Counter[str]


def page_words(title: str, description: str, structured: str, blocks: list[TextBlock]) -> PageWords:
    letters = "".join(_WORD.findall(structured.casefold()))
    return PageWords(
        word_set(title),
        " ".join(description.split()),
        letters if len(letters) > _FEWEST_STRUCTURED else "",
        Counter(block.text for block in blocks),
    )


def word_set(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.casefold()) if len(word) > 1 or not word.isascii())


def likeness(text: str, words: frozenset[str]) -> float:
    """The share of words that two texts have in common, from 0 to 1."""
    if not words or len(text) > 400:
        return 0.0
    own = word_set(text)
    return len(own & words) / len(own | words) if own else 0.0


def evidence_of(block: TextBlock, around: Surroundings, page: PageWords) -> Evidence:
    """The facts about one block."""
    is_short = block.chars < _SHORT
    found: Evidence = (
        [("a block", 1.0), (f"tag {block.element.tag}", 1.0)] if block.element.tag in _TAGS else [("a block", 1.0)]
    )
    _add_lengths(found, block, is_short)
    _add_signs(found, block)
    _add_words(found, block, page)
    found += _tag_evidence(around.tags)
    found += _name_evidence(around.names, is_short)
    found += _wide_name_evidence(around.wide_names)
    found += _word_evidence(around.words)
    if around.cards:
        card = min(around.cards - 2, 6) / 6
        found.append(("card", card))
        if is_short:
            found.append(("short card", card))
    return found


def _add_lengths(found: Evidence, block: TextBlock, is_short: bool) -> None:
    chars = block.chars
    for low, high in _LENGTHS:
        if chars <= low:
            break
        found.append((f"{low} to {high} characters", min(chars - low, high - low) / (high - low)))
    found.append(("log of free characters", math.log1p(block.free_chars)))
    share = block.link_share
    if not share:
        return
    found.append(("link share", share))
    if is_short:
        found.append(("short link share", share))
    if share > 0.9:
        found.append(("all link", 1.0))
    if block.links:
        found.append(("links", min(block.links, 5) / 5))
    if block.starts_in_link:
        found.append(("starts in link", 1.0))
    if block.ends_in_link:
        found.append(("ends in link", 1.0))
        if not block.starts_in_link and share > 0.3:
            found.append(("leads to link", 1.0))
    elif block.links and share < 0.4:
        found.append(("link inside", 1.0))


def _add_signs(found: Evidence, block: TextBlock) -> None:
    text, chars = block.text, block.chars
    if block.clauses:
        found += (("has clauses", 1.0), ("clauses", min(block.clauses, 10) / 10))
    if _SENTENCE_END.search(text[-8:]):
        found.append(("ends like a sentence", 1.0))
    last = text[-1:]
    if last in (":", "："):  # noqa: RUF001
        found.append(("ends with colon", 1.0))
    elif chars < 100 and last in ("?", "？"):  # noqa: RUF001
        found.append(("short question", 1.0))
    elif chars < 100 and last in ("!", "！"):  # noqa: RUF001
        found.append(("short exclamation", 1.0))
    if block.emphasis_chars:
        share = block.emphasis_chars / chars if chars else 0.0
        found.append(("emphasis", share))
        if share >= 0.95:
            found.append(("all emphasis", 1.0))
    if chars < 60 and DATE.search(text):
        found.append(("short date", 1.0))
    head = text[:200]
    if digits := sum(map(str.isdigit, head)):
        found.append(("digits", digits / len(head)))
    if head[:100].isupper():
        found.append(("capitals", 1.0))
    if "|" in text or "»" in text or "©" in text:
        found.append(("separators", 1.0))


def _add_words(found: Evidence, block: TextBlock, page: PageWords) -> None:
    text, chars = block.text, block.chars
    is_small = chars < _SMALL
    if (count := page.repeated[text]) > 1:
        found.append(("repeated", min(count - 1, 3) / 3))
    if like := likeness(text, page.title):
        found.append(("like the title", like))
    if len(text) > 30 and page.description and (text[:80] in page.description or page.description[:80] in text):
        found.append(("like the description", 1.0))
    if page.structured:
        letters = "".join(_WORD.findall(text[:300].casefold()))
        if len(letters) > 15 and letters[:200] in page.structured:
            found.append(("in structured text", 1.0))
        else:
            found.append(("not in structured text", 1.0))
            if chars > _SHORT:
                found.append(("long, not in structured text", 1.0))
    head = text[:300]
    networks = len(set(NETWORKS.findall(head)))
    said = (
        ("says related", RELATED.match(text) is not None),
        ("asks", ASKS.search(head) is not None),
        ("names a network", networks > 0),
        ("credits", CREDITS.search(head[:120]) is not None),
    )
    for name, is_so in said:
        if is_so:
            found.append((name, 1.0))
            if is_small:
                found.append((f"small, {name}", 1.0))
    if networks > 1:
        found.append(("names networks", 1.0))


@lru_cache(maxsize=5_000)
def _tag_evidence(tags: int) -> tuple[tuple[str, float], ...]:
    return tuple((f"in {tag}", 1.0) for tag, bit in TAG_BITS.items() if tags & bit)


@lru_cache(maxsize=5_000)
def _name_evidence(names: int, is_short: bool) -> tuple[tuple[str, float], ...]:
    said = [(name.name or "").lower() for name in Name if names & name.value]
    found = [(f"named {name}", 1.0) for name in said]
    return (*found, *((f"short, named {name}", 1.0) for name in said)) if is_short else tuple(found)


@lru_cache(maxsize=5_000)
def _wide_name_evidence(names: int) -> tuple[tuple[str, float], ...]:
    return tuple((f"largely named {(name.name or '').lower()}", 1.0) for name in Name if names & name.value)


@lru_cache(maxsize=5_000)
def _word_evidence(words: frozenset[str]) -> tuple[tuple[str, float], ...]:
    return tuple((f"{WORD}{word}", 1.0) for word in sorted(words))

"""The elements around each block of text: their tags, roles and names; hidden parts; repeated cards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lxml import etree

from bridge.reading.main_content.names import Name, bits, claims, names_of, words_in
from bridge.reading.main_content.text_blocks import TextBlocks

#: A bit for each tag that says something about the text inside of it.
TAG_BITS = {
    tag: 1 << place
    for place, tag in enumerate(
        "nav footer aside header form figure figcaption li table blockquote pre main article details dl section dialog "
        "address a td".split()
    )
}
_MEANS_THE_SAME = {
    "ol": "li",
    "ul": "li",
    "menu": "nav",
    "caption": "figcaption",
    "th": "td",
    "label": "form",
    "fieldset": "form",
    "dd": "dl",
    "dt": "dl",
}
_ROLES = {
    "navigation": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "search": "form",
    "dialog": "dialog",
    "alertdialog": "dialog",
    "alert": "dialog",
    "menu": "nav",
    "menubar": "nav",
    "toolbar": "nav",
    "tooltip": "dialog",
    "main": "main",
    "article": "article",
}
_BITS_OF_TAGS = {tag: TAG_BITS[_MEANS_THE_SAME.get(tag, tag)] for tag in (*TAG_BITS, *_MEANS_THE_SAME)}
_BITS_OF_ROLES = {role: TAG_BITS[tag] for role, tag in _ROLES.items()}
#: These may hold all of a page's text; of others that do, the author meant the layout.
_MAY_HOLD_ALL = TAG_BITS["main"] | TAG_BITS["article"] | TAG_BITS["section"] | TAG_BITS["table"] | TAG_BITS["td"]
_BODY = bits(Name.BODY)
_MUCH = 0.4
_NEARLY_ALL = 0.9
#: Shorter text is a label, wherever it stands.
_LABEL_CHARS = 40
_CARD_TAGS = frozenset("div article section li a td tr".split())
_FEWEST_CARDS = 3
# Not `opacity: 0`: scripts that fade parts of a page in begin with it.
_HIDDEN = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:px)?\s*(?:;|$))", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The elements around a block.

    Attributes:
        tags: `TAG_BITS` of the elements around it.
        names: `Name` bits of those.
        words: The words of those elements' names.
        wide_names: `Name` bits of elements that hold much of the page's text.
        is_hidden: The markup hides it.
        cards: How many siblings look like the card it is in; 0 where it is in none.
    """

    tags: int = 0
    names: int = 0
    wide_names: int = 0
    is_hidden: bool = False
    cards: int = 0
    words: frozenset[str] = frozenset()


def surroundings_of(page: TextBlocks) -> list[Surroundings]:
    """The surroundings of each block, in one pass over the elements."""
    free = [0]
    for block in page.blocks:
        free.append(free[-1] + (block.free_chars if block.free_chars > _LABEL_CHARS else 0))
    total = free[-1]
    cards = _cards(page)
    known: dict[etree._Element, Surroundings] = {}
    around = [Surroundings()]
    walker: Any = etree.iterwalk(page.body, events=("start", "end"))
    for event, element in walker:
        span = page.spans.get(element)
        if span is None:
            continue
        if event == "end":
            around.pop()
            continue
        start, end = span
        if start == end:
            around.append(around[-1])
            walker.skip_subtree()
            continue
        share = (free[end] - free[start]) / total if total else 0.0
        known[element] = _inside(element, around[-1], share, cards.get(element, 0))
        around.append(known[element])
    return [known.get(block.element, around[0]) for block in page.blocks]


def _inside(element: etree._Element, around: Surroundings, share: float, cards: int) -> Surroundings:
    tags = _BITS_OF_TAGS.get(str(element.tag), 0)
    names = wide_names = 0
    words = around.words
    is_hidden = around.is_hidden
    if element.attrib and element.tag != "body":
        tags |= _BITS_OF_ROLES.get(element.get("role") or "", 0)
        named = names_of(element)
        names = claims(named)
        if share > _MUCH:
            names, wide_names = names & _BODY, names
        elif named:
            words = words_in(named) | words
        is_hidden = is_hidden or (share <= _NEARLY_ALL and _hides(element))
    if share > _MUCH:
        tags &= _MAY_HOLD_ALL
    if not (tags or names or wide_names or cards or is_hidden) and words == around.words:
        return around
    return Surroundings(
        around.tags | tags,
        around.names | names,
        around.wide_names | wide_names,
        is_hidden,
        max(around.cards, cards),
        words,
    )


def _hides(element: etree._Element) -> bool:
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    style = element.get("style")
    return style is not None and _HIDDEN.search(style) is not None


def _cards(page: TextBlocks) -> dict[etree._Element, int]:
    """Elements that look like one of several teasers: siblings of one tag and class, each with a link; how many."""
    linked = [0]
    for block in page.blocks:
        linked.append(linked[-1] + (block.link_chars > 8))
    groups: dict[tuple[etree._Element, str, str], list[etree._Element]] = {}
    for element, (start, end) in page.spans.items():
        if element.tag not in _CARD_TAGS or linked[end] == linked[start] or (element.tag == "li" and end - start < 2):
            continue
        parent = element.getparent()
        name = (element.get("class") or "").split(None, 1)
        if parent is not None and (name or element.tag in ("article", "li")):
            groups.setdefault((parent, str(element.tag), name[0] if name else ""), []).append(element)
    return {element: len(group) for group in groups.values() if len(group) >= _FEWEST_CARDS for element in group}

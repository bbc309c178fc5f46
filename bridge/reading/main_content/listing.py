"""Pages that are lists: cards, search results, front pages; recognised as such, and read as a list."""

from __future__ import annotations

from itertools import islice

from lxml import etree

from bridge.reading.main_content.measure import Masses
from bridge.reading.words import SPACES, texts_in, words_of

_ITEM_TAGS = frozenset(["article", "li", "div", "tr", "section", "a", "dl"])
_FEWEST_IN_GROUP = 3
_FEWEST = 5
_LONGEST_ITEM = 1_500
_SHORTEST_TITLE = 8
#: A run of paragraphs that makes a page an article, whatever is listed around it: about 1,500 characters.
_ARTICLE_RUN = 55.0
_SHARE = 0.5
_DESCRIPTION = 500
#: An item with more has its name in the first ones.
_MOST_LINKS = 50


def find_listing(body: etree._Element, masses: Masses) -> etree._Element | None:
    """A `div` of headings and lists that says what the page's items say; None if the page is not a list.

    Items are siblings of one tag and class, each short and each with a link that names it; together they hold most of
    the text, and nothing beside them reads like an article.
    """
    groups: list[tuple[etree._Element, list[etree._Element]]] = []
    inside: set[etree._Element] = set()
    for parent in body.iter():
        if parent in inside or len(parent) < _FEWEST_IN_GROUP:
            if parent in inside:
                inside.update(parent)
            continue
        for items in _groups(parent, masses):
            groups.append((parent, items))
            inside.update(items)
    count = sum(len(items) for _, items in groups)
    if count < _FEWEST:
        return None
    listed = sum(masses[item].text for _, items in groups for item in items)
    if listed < _SHARE * masses[body].text:
        return None
    longest = max((mass.run for element, mass in masses.items() if element not in inside), default=0.0)
    if longest > _ARTICLE_RUN:
        return None
    cards = sum(1 for _, items in groups for item in items if _is_card(item))
    # An index is a list already; what it nests would be lost in another one.
    return _rendered(groups) if cards * 2 >= count else body


def _is_card(item: etree._Element) -> bool:
    """Is it laid out as a box with a picture, a heading or a teaser, and not a line of a list?"""
    return item.tag != "li" or item.find(".//img") is not None or any(item.iter("h1", "h2", "h3", "h4", "h5", "p"))


def _groups(parent: etree._Element, masses: Masses) -> list[list[etree._Element]]:
    alike: dict[tuple[str, str], list[etree._Element]] = {}
    for child in parent:
        mass = masses.get(child)
        if mass is None or child.tag not in _ITEM_TAGS or not mass.links or not mass.text > _SHORTEST_TITLE:
            continue
        alike.setdefault((str(child.tag), (child.get("class") or "").split(" ")[0]), []).append(child)
    found: list[list[etree._Element]] = []
    for items in alike.values():
        sizes = [masses[item].text for item in items]
        if len(items) < _FEWEST_IN_GROUP or max(sizes) > max(_LONGEST_ITEM, 0.6 * sum(sizes)):
            continue
        named = [item for item in items if _title_link(item) is not None]
        if len(named) * 3 >= len(items) * 2 and len(named) >= _FEWEST_IN_GROUP:
            found.append(named)
    return found


def _title_link(item: etree._Element) -> etree._Element | None:
    """The link that names an item: in its heading, else the one with the most text."""
    if item.tag == "a":
        return item
    best, length = None, _SHORTEST_TITLE
    for link in islice(item.iter("a"), _MOST_LINKS):
        if not link.get("href"):
            continue
        size = len(words_of(link))
        around = link.getparent()
        if around is not None and str(around.tag) in ("h1", "h2", "h3", "h4", "h5") and size > 2:
            return link
        if size > length:
            best, length = link, size
    if best is None:
        return None
    # A link in the middle of a text does not name it.
    words = words_of(item)
    return best if length * 3 >= len(words) or words.startswith(words_of(best)) else None


def _rendered(groups: list[tuple[etree._Element, list[etree._Element]]]) -> etree._Element:
    out = etree.Element("div")
    for parent, items in groups:
        heading = _heading_above(parent)
        if heading is not None:
            etree.SubElement(out, "h2").text = heading
        listing = etree.SubElement(out, "ul")
        for item in items:
            _add_item(listing, item)
    return out


def _heading_above(parent: etree._Element) -> str | None:
    """The words of the heading right before a list, or before the box it stands in."""
    for element in (parent, parent.getparent()):
        if element is None:
            return None
        for before in element.itersiblings(preceding=True):
            heading = before if before.tag in ("h2", "h3", "h4") else before.find(".//h2")
            if heading is not None and (words := words_of(heading)):
                return words[:200]
            break
    return None


def _add_item(listing: etree._Element, item: etree._Element) -> None:
    link = _title_link(item)
    assert link is not None, "only items with a link are listed"
    entry = etree.SubElement(listing, "li")
    heading = next((found for found in item.iter("h1", "h2", "h3", "h4", "h5") if words_of(found)), None)
    title = words_of(heading) if heading is not None else words_of(link)
    named = etree.SubElement(entry, "a", href=link.get("href") or "")
    if ref := link.get("data-ref"):
        named.set("data-ref", ref)
    named.text = title[:300]
    said = dict.fromkeys(words for text in texts_in(item) if (words := SPACES.sub(" ", text).strip(" ·|•")))
    rest = " · ".join(words for words in said if len(words) > 1 and words not in title)
    if rest:
        named.tail = f" — {rest[:_DESCRIPTION]}"

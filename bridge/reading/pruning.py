"""Leaving out: what is noise by its role or name before the content is sought, and what is noise inside of it."""

from __future__ import annotations

import re

from lxml import etree

from bridge.reading.measure import Mass, Masses
from bridge.reading.signals import is_body_name, is_byline_name, is_comments_name, is_media_name, is_noise_name
from bridge.reading.words import texts_in, words_of

_ALWAYS = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "iframe",
        "svg",
        "object",
        "embed",
        "canvas",
        "button",
        "input",
        "select",
        "textarea",
        "nav",
        "footer",
        "dialog",
        "link",
        "meta",
        "audio",
        "video",
        "map",
        "datalist",
        "progress",
        "meter",
        "menu",
    ]
)
_NOISE_ROLES = frozenset(
    [
        "navigation",
        "banner",
        "contentinfo",
        "complementary",
        "search",
        "dialog",
        "alertdialog",
        "alert",
        "menu",
        "menubar",
        "toolbar",
        "tooltip",
    ]
)
_HIDDEN = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0\s*(?:;|$))",
    re.IGNORECASE,
)
_NEVER = frozenset("html body main article h1 p pre code table tbody tr td".split())
_BLOCKS = frozenset(
    "div section ul ol dl p table aside form header figure span h2 h3 h4 h5 h6 fieldset a time address details".split()
)
_INLINE = frozenset("a b strong i em span time small font label button input img".split())
_RELATED = re.compile(
    r"(?i)(?:related|read (?:more|next|also)|see also|more (?:from|on|stories|news)|recommended|you (?:may|might)|"
    r"most (?:read|popular)|trending|don'?t miss|up next|also (?:on|read)|subscribe|sign up|newsletter|follow us|"
    r"share (?:this|on)|advertisement|click here|leia (?:mais|também)|veja também|"
    r"next (?:post|article|story|up|news)|previous (?:post|article|story)|mehr zum thema|lesen sie|lire aussi|"
    r"à lire|leer también|te puede|baca juga|читайте|関連記事|相关|관련)"
)
_CAPTIONS = frozenset(("figcaption", "div"))
_BEFORE = frozenset(["time", "p", "div", "span", "ul", "section", "small"])
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}:\d\d\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b")
_MUCH = 0.4


def drop(element: etree._Element) -> None:
    """Empty an element; an empty box stays in its place.

    Taking it out would move the text behind it to what stands before, each time anew: the square of a page of these.
    """
    tag = "span" if element.tag in _INLINE else "div"
    element.clear(keep_tail=True)
    element.tag = tag


def prune(body: etree._Element, masses: Masses) -> None:
    """Take out what no reader came for, unless it holds much of the page's prose."""
    whole = masses[body]
    for element in list(body.iterdescendants()):
        tag = element.tag
        if not isinstance(tag, str):
            continue
        if _is_noise(element, tag, masses.get(element), whole):
            drop(element)


def _is_noise(element: etree._Element, tag: str, mass: Mass | None, whole: Mass) -> bool:
    if tag in _ALWAYS:
        return mass is None or mass.prose <= _MUCH * whole.prose
    if tag in _NEVER and tag not in ("p", "table"):
        return _is_hidden(element) and (mass is None or mass.prose <= 0.9 * whole.prose)
    if not element.attrib and tag not in ("aside", "header", "form"):
        return False
    if mass is None or _is_hidden(element):
        return True
    if mass.prose > _MUCH * whole.prose:
        return False
    if tag == "aside" or element.get("role") in _NOISE_ROLES:
        return True
    if tag == "header":
        return mass.prose < 0.1 * whole.prose
    if tag == "form":
        return mass.prose < 0.2 * whole.prose
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    if len(names) < 2 or tag not in _BLOCKS or (tag == "p" and mass.text > 200):
        return False
    if is_noise_name(names):
        return not is_body_name(names)
    return (
        mass.text < 300
        and tag in ("div", "section", "aside")
        and is_media_name(names)
        and not len(element.findall(".//p"))
    )


def _is_hidden(element: etree._Element) -> bool:
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    style = element.get("style")
    return style is not None and _HIDDEN.search(style) is not None


def take_comments(body: etree._Element) -> etree._Element | None:
    """The outermost element that is called comments and holds text, taken out of the page."""
    for element in body.iter("div", "section", "ol", "ul", "aside"):
        names = f"{element.get('class') or ''} {element.get('id') or ''}"
        if len(names) > 1 and is_comments_name(names) and len(words_of(element).split()) > 5:
            parent = element.getparent()
            if parent is None:
                return None
            place = etree.Element("div")
            place.tail, element.tail = element.tail, None
            parent.replace(element, place)
            return element
    return None


def clean(content: etree._Element, masses: Masses, title: str) -> str:
    """Take out of the content what is about it and not of it: bylines, dates, lists of links, calls to share.

    Gives the title: a heading above all text goes first, as what the page itself shows.
    """
    whole = masses[content]
    began = False
    seen: set[str] = set()
    _drop_related(content, masses)
    for element in list(content.iterdescendants()):
        mass = masses.get(element)
        tag = element.tag
        if mass is None or not isinstance(tag, str) or element.getparent() is None or not mass.text:
            continue
        if not began and (tag == "h1" or (tag == "h2" and _same(element, title))) and mass.prose < 20:
            title = words_of(element) or title
            drop(element)
            continue
        if mass.prose > 3 and (tag == "p" or mass.own_text > 80):
            began = True
        if tag in _CAPTIONS and mass.text > 20 and mass.own_text == mass.text:
            # Galleries and their enlargements say the same under each picture.
            words = words_of(element)
            if words in seen:
                drop(element)
                continue
            seen.add(words)
        if mass.prose > 0.25 * whole.prose:
            continue
        if _is_residue(element, tag, mass, began):
            drop(element)
    _trim_headings(content)
    return title


def _drop_related(content: etree._Element, masses: Masses) -> None:
    """What follows a heading such as "Related" or "Next", up to the next heading, where it is little."""
    whole = masses[content].prose
    for heading in list(content.iter("h2", "h3", "h4", "h5", "h6", "p", "strong", "div")):
        mass = masses.get(heading)
        if mass is None or not 3 < mass.text < 45 or mass.prose > 2 or heading.getparent() is None:
            continue
        if not _RELATED.match(words_of(heading)):
            continue
        following: list[etree._Element] = []
        for element in heading.itersiblings():
            if element.tag == heading.tag and heading.tag != "p" and heading.tag != "div":
                break
            following.append(element)
        found = [masses[element] for element in following if element in masses]
        prose = sum(mass.prose for mass in found)
        text, link = sum(mass.text for mass in found), sum(mass.link for mass in found)
        if following and prose < 0.15 * whole and link > 0.25 * text:
            for element in following:
                drop(element)
            drop(heading)


def _is_residue(element: etree._Element, tag: str, mass: Mass, began: bool) -> bool:
    if tag in ("img", "picture", "source", "br", "hr", "code", "pre", "figure"):
        return False
    if (
        not began
        and tag in _BEFORE
        and mass.text < 120
        and mass.prose < 2.5
        and (tag == "time" or _DATE.search(words_of(element)) or element.find(".//time") is not None)
    ):
        return True
    names = " ".join(element.get(name) or "" for name in ("class", "id", "itemprop", "rel"))
    if len(names) > 3 and mass.text < 150 and mass.prose < 4 and tag in _BLOCKS and is_byline_name(names):
        return True
    if tag in ("ul", "ol", "div", "section", "p", "h2", "h3", "h4", "dl", "strong") and mass.links:
        density = mass.link_density
        if tag in ("ul", "ol", "div", "section", "dl") and density > 0.6 and mass.prose < 3 and mass.text < 2_000:
            return not _is_reference_list(element)
        if tag in ("p", "h2", "h3", "h4", "strong", "div") and density > 0.4 and mass.text < 250:
            words = words_of(element)
            return _RELATED.match(words) is not None
    return False


def _is_reference_list(element: etree._Element) -> bool:
    """Notes and sources are lists of links that belong to the text."""
    return any("note" in (item.get("id") or "") for item in element.iter("li"))


def _same(element: etree._Element, title: str) -> bool:
    words = re.sub(r"\W+", "", words_of(element)).casefold()
    key = re.sub(r"\W+", "", title).casefold()
    return bool(words) and (words == key or (len(words) > 15 and (words in key or key in words)))


def _trim_headings(content: etree._Element) -> None:
    """Headings at the end, below which nothing is left."""
    headings = list(content.iter("h2", "h3", "h4", "h5", "h6"))
    while headings and not _anything_follows(headings[-1], content):
        drop(headings.pop())


def _anything_follows(element: etree._Element, within: etree._Element) -> bool:
    at: etree._Element | None = element
    while at is not None and at is not within:
        if (at.tail or "").strip():
            return True
        for after in at.itersiblings():
            if any(text.strip() for text in texts_in(after)) or next(after.iter("img"), None) is not None:
                return True
        at = at.getparent()
    return False

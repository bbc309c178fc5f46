"""Metadata of a page."""

from __future__ import annotations

import re

from lxml import etree

from bridge.reading.words import words_of

_SEPARATORS = re.compile(r"\s+[|\-–—·•»:/]\s+|\s*[|»]\s*")
_SPACES = re.compile(r"\s+")


def title_of(tree: etree._Element) -> str:
    """The title of the text: `og:title`, else the only `h1`, else `title` without the site's name."""
    head = tree.find("head") if tree.tag == "html" else None
    own = given = site = ""
    if head is not None:
        for meta in head.iter("meta"):
            name = (meta.get("property") or meta.get("name") or "").lower()
            if name in ("og:title", "twitter:title") and not given:
                given = _folded(meta.get("content") or "")
            elif name == "og:site_name":
                site = _folded(meta.get("content") or "")
        own = _folded(words_of(element) if (element := head.find("title")) is not None else "")
    headings = [words for h1 in tree.iter("h1") if (words := _folded(words_of(h1)))][:5]
    for words in headings:
        if len(words) > 3 and words.casefold() in (own or given).casefold():
            return words
    title = given or own or (headings[0] if len(headings) == 1 else "")
    if site and title.casefold().endswith(site.casefold()) and len(title) > len(site) + 3:
        title = title[: -len(site)].rstrip(" |-–—·•»:/")
    if title == own and not given:
        parts = _SEPARATORS.split(title)
        if len(parts) > 1 and len(parts[0]) > 12:
            title = parts[0]
    return title


def heading_of(body: etree._Element, title: str) -> etree._Element | None:
    """The heading that says the page's title."""
    key = _bare(title)
    for heading in body.iter("h1", "h2"):
        words = _bare(words_of(heading))
        if words and len(words) > 5 and (words == key or (len(words) > 15 and (words in key or key in words))):
            return heading
    return None


def _bare(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


def _folded(text: str) -> str:
    return _SPACES.sub(" ", text).strip().rstrip(" ¶#§")[:500]

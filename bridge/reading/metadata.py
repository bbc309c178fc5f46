"""Metadata of a page: what it says about itself, and the title of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urljoin, urlsplit

from lxml import etree

from bridge.json_record import JsonRecord
from bridge.reading.structured import linked_objects
from bridge.reading.words import heading_words, without_anchor_sign, words_of

_SEPARATORS = re.compile(r"\s+[|\-–—·•»:/]\s+|\s*[|»]\s*")
_SPACES = re.compile(r"\s+")
_FACT_CHARS = 1_000
_URL_CHARS = 4_000
_MOST_AUTHORS = 10
#: A longer text in an element for authors is about them.
_AUTHOR_CHARS = 100
_MOST_PARTS = 20
_FEWEST_DIGITS = 4
_LOCALE = re.compile(r"[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8})*")


@dataclass(frozen=True)
class PageFacts(JsonRecord):
    """The statements of a page about itself; "" where it says nothing. Dates are kept as written, URLs are absolute."""

    title: str = ""
    description: str = ""
    author: str = ""
    published: str = ""
    modified: str = ""
    canonical: str = ""
    language: str = ""
    site_name: str = ""
    image: str = ""


def page_facts(root: etree._Element, url: str) -> PageFacts:
    """Facts from Open Graph, `<meta>`, `<link>`, JSON-LD (schema.org), microdata and `<html lang>`.

    Where several say one thing, the first of these does; of equals, the first in the document.
    """
    meta = _meta(root)
    item = _described_item(root)

    def first(*keys: str) -> str:
        return next((meta[key] for key in keys if key in meta), "")

    canonical = next((link.get("href") or "" for link in root.iter("link") if "canonical" in _rel(link)), "")
    published = first("article:published_time", "date", "dc.date", "dc.date.issued", "pubdate", "parsely-pub-date")
    modified = first("article:modified_time", "og:updated_time", "last-modified", "dc.date.modified")
    image = first("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src")
    language = _folded(root.get("lang") or root.get("xml:lang") or "") or first("content-language", "og:locale")
    return PageFacts(
        title=first("og:title", "twitter:title") or head_title(root) or _said(item.get("headline")),
        description=first("og:description", "description", "twitter:description") or _said(item.get("description")),
        author=_author(root, meta, item),
        published=published or _said(item.get("datePublished")) or _date(root, meta, "datepublished"),
        modified=modified or _said(item.get("dateModified")) or _date(root, meta, "datemodified"),
        canonical=joined(url, canonical),
        language=language or _language(item.get("inLanguage")),
        site_name=first("og:site_name", "application-name") or _said(item.get("publisher")),
        image=joined(url, image or _address(item.get("image")))[:_URL_CHARS],
    )


def head_title(root: etree._Element) -> str:
    """The words of the first `<title>` that is not part of a drawing."""
    for element in root.iter("title"):
        parent = element.getparent()
        if parent is None or parent.tag != "svg":
            return _folded(words_of(element), _FACT_CHARS)
    return ""


def joined(base: str, reference: str) -> str:
    """The absolute URL of a reference; "" if it is not a valid one."""
    try:
        return urljoin(base, reference.strip()) if reference.strip() else ""
    except ValueError:
        return ""


def title_of(tree: etree._Element) -> str:
    """The title of the text: `og:title`, else the only `h1`, else `title` without the site's name."""
    head = tree.find("head") if tree.tag == "html" else None
    own = given = site = ""
    if head is not None:
        for meta in head.iter("meta"):
            name = (meta.get("property") or meta.get("name") or "").lower()
            if name in ("og:title", "twitter:title") and not given:
                given = _heading(meta.get("content") or "")
            elif name == "og:site_name":
                site = _heading(meta.get("content") or "")
        own = _heading(words_of(element) if (element := head.find("title")) is not None else "")
    headings = [words for h1 in tree.iter("h1") if (words := heading_words(h1)[:500])][:5]
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


def _heading(text: str) -> str:
    return without_anchor_sign(_SPACES.sub(" ", text).strip())[:500]


def _meta(root: etree._Element) -> dict[str, str]:
    found: dict[str, str] = {}
    for element in root.iter("meta"):
        key = (element.get("property") or element.get("name") or element.get("itemprop") or "").strip().lower()
        value = _folded(element.get("content") or "", _URL_CHARS)
        if key and value:
            found.setdefault(key, value if "image" in key else value[:_FACT_CHARS])
        if (element.get("http-equiv") or "").strip().lower() == "content-language":
            found.setdefault("content-language", value)
    return found


def _described_item(root: etree._Element) -> dict[str, Any]:
    """The first object in the JSON-LD that is about a text: it has a headline or a date."""
    return next((item for item in linked_objects(root) if "headline" in item or "datePublished" in item), {})


def _author(root: etree._Element, meta: dict[str, str], item: dict[str, Any]) -> str:
    names = (meta.get(key, "") for key in ("author", "article:author", "dc.creator", "parsely-author"))
    if found := next((name for name in names if name and not _is_address(name)), ""):
        return found
    if (linked := _said(item.get("author"))) and not _is_address(linked):
        return linked
    marked = dict.fromkeys(
        words for element in root.iter() if _marks_author(element) and (words := _author_name(element))
    )
    return ", ".join(islice(marked, _MOST_AUTHORS))


def _marks_author(element: etree._Element) -> bool:
    return "author" in (element.get("itemprop") or "").split() or (element.tag == "a" and "author" in _rel(element))


def _author_name(element: etree._Element) -> str:
    named = next((part for part in islice(element.iter(), _MOST_PARTS) if part.get("itemprop") == "name"), element)
    words = _folded(named.get("content") or words_of(named), _FACT_CHARS)
    return words if len(words) <= _AUTHOR_CHARS and not _is_address(words) else ""


def _date(root: etree._Element, meta: dict[str, str], name: str) -> str:
    """The date in the element with this `itemprop`; of `time` elements, only one that the page marks."""
    if name in meta:
        return meta[name]
    for element in root.iter():
        if name not in (element.get("itemprop") or "").lower().split():
            continue
        words = element.get("datetime") or element.get("content") or words_of(element)
        if sum(map(str.isdigit, words)) >= _FEWEST_DIGITS:
            return _folded(words, _AUTHOR_CHARS)
    return ""


def _said(value: object) -> str:
    return ", ".join(dict.fromkeys(islice(_names(value), _MOST_AUTHORS)))[:_FACT_CHARS]


def _names(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for part in value[:_MOST_AUTHORS]:
            if not isinstance(part, list):
                yield from _names(part)
    elif isinstance(value, dict):
        name = value.get("name")
        yield from _names(name if isinstance(name, str) else None)
    elif isinstance(value, str) and (words := _folded(value, _FACT_CHARS)):
        yield words


def _address(value: object) -> str:
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("url") or value.get("contentUrl")
    return value if isinstance(value, str) else ""


def _language(value: object) -> str:
    return value if isinstance(value, str) and _LOCALE.fullmatch(value) else ""


def _is_address(words: str) -> bool:
    try:
        return urlsplit(words).scheme in ("http", "https")
    except ValueError:
        return False


def _rel(element: etree._Element) -> list[str]:
    return (element.get("rel") or "").lower().split()


def _folded(text: str, at_most: int = _FACT_CHARS) -> str:
    return " ".join(text[: 4 * at_most].split())[:at_most]

"""Metadata of an HTML page, its next page, and detection of empty shells. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urljoin

from bridge.reading.words import words_of
from bridge.snapshot.plain_html.parse import Element

_FACT_CHARS = 1_000
_UNSEEN = frozenset(("script", "style", "noscript", "template", "head", "title", "svg", "iframe", "object", "datalist"))
#: A page with more words than this says something without JavaScript.
_SHELL_CHARS = 200
_MOUNT_POINTS = frozenset(
    (
        "root",
        "app",
        "__next",
        "__nuxt",
        "___gatsby",
        "main-app",
        "q-app",
        "svelte",
        "react-root",
        "app-root",
        "application",
    )
)
_NEEDS_SCRIPT = re.compile(r"java\s?script|browser (is not|does not|doesn)", re.IGNORECASE)
_WAITS = re.compile(r"^(loading|please wait|redirecting|just a moment)\b|^$", re.IGNORECASE)


@dataclass(frozen=True)
class PageFacts:
    """Metadata from the page's head; "" where absent. Dates are kept as written."""

    title: str = ""
    description: str = ""
    author: str = ""
    published: str = ""
    modified: str = ""
    canonical: str = ""
    language: str = ""
    site_name: str = ""

    def to_json(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value}


def page_facts(root: Element, url: str) -> PageFacts:
    """Facts from Open Graph, `<meta>`, `<link>`, JSON-LD (schema.org) and `<html lang>`; the first one there wins."""
    meta: dict[str, str] = {}
    for element in root.iter("meta"):
        key = (element.get("property") or element.get("name") or element.get("itemprop") or "").strip().lower()
        value = _folded(element.get("content") or "")
        if key and value:
            meta.setdefault(key, value)
        if (element.get("http-equiv") or "").strip().lower() == "content-language":
            meta.setdefault("content-language", value)
    linked = _linked_facts(root)

    def first(*keys: str) -> str:
        return next((meta[key] for key in keys if key in meta), "")

    canonical = next((link.get("href") or "" for link in root.iter("link") if "canonical" in _rel(link)), "")
    return PageFacts(
        title=first("og:title", "twitter:title") or title_of(root) or linked.get("headline", ""),
        description=first("og:description", "description", "twitter:description") or linked.get("description", ""),
        author=first("author", "article:author", "dc.creator", "parsely-author") or linked.get("author", ""),
        published=first("article:published_time", "date", "dc.date", "datepublished", "pubdate", "parsely-pub-date")
        or linked.get("datePublished", ""),
        modified=first("article:modified_time", "og:updated_time", "last-modified", "datemodified")
        or linked.get("dateModified", ""),
        canonical=joined(url, canonical),
        language=_folded(root.get("lang") or root.get("xml:lang") or "") or first("content-language", "og:locale"),
        site_name=first("og:site_name", "application-name"),
    )


def title_of(root: Element) -> str:
    """The words of the first `<title>` that is not part of a drawing."""
    for element in root.iter("title"):
        parent = element.getparent()
        if parent is None or parent.tag != "svg":
            return _folded(words_of(element))
    return ""


def next_page_url(root: Element, url: str) -> str:
    """The URL of `rel=next` in the head or the body; "" if there is none."""
    for element in root.iter("link", "a"):
        if "next" in _rel(element) and element.get("href"):
            return joined(url, element.get("href") or "")
    return ""


def base_url_of(root: Element, url: str) -> str:
    """The document's base URL (HTML §4.2.3)."""
    for element in root.iter("base"):
        if element.get("href"):
            return joined(url, element.get("href") or "") or url
    return url


def is_empty_shell(root: Element) -> bool:
    """True if the page has almost no text of its own and a script that would render it."""
    scripts = [el for el in root.iter("script") if el.get("src") or len(el.text or "") > 200]
    if not scripts:
        return False
    words = ""
    for piece in _seen_words(root):
        words = f"{words} {piece}"
        if len(words) > _SHELL_CHARS:
            return False
    words = _folded(words)
    if _WAITS.match(words) or _NEEDS_SCRIPT.search(words):
        return True
    if any((el.get("id") or "").lower() in _MOUNT_POINTS for el in root.iter("div", "main", "section", "app-root")):
        return True
    return any(_NEEDS_SCRIPT.search(words_of(el)) for el in root.iter("noscript"))


def joined(base: str, reference: str) -> str:
    """The absolute URL of a reference, "" for what is none."""
    try:
        return urljoin(base, reference.strip()) if reference.strip() else ""
    except ValueError:
        return ""


def _seen_words(root: Element) -> Iterator[str]:
    stack: list[Element] = [root]
    while stack:
        element = stack.pop()
        if element.tail and element is not root:
            yield element.tail.strip()
        if element.tag in _UNSEEN:
            continue
        if element.text:
            yield element.text.strip()
        stack.extend(reversed(element))


def _linked_facts(root: Element) -> dict[str, str]:
    """Headline, author and dates of the first schema.org object that has any of them."""
    for element in root.iter("script"):
        if (element.get("type") or "").strip().lower() != "application/ld+json" or len(element.text or "") > 200_000:
            continue
        try:
            value = json.loads(element.text or "")
        except (ValueError, RecursionError):
            continue
        candidates = value if isinstance(value, list) else [value]
        for candidate in candidates[:20]:
            graph = candidate.get("@graph") if isinstance(candidate, dict) else None
            for thing in [candidate, *(graph if isinstance(graph, list) else [])[:50]]:
                if isinstance(thing, dict) and ("headline" in thing or "datePublished" in thing):
                    return {
                        key: words
                        for key in ("headline", "description", "author", "datePublished", "dateModified")
                        if (words := _said(thing.get(key)))
                    }
    return {}


def _said(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(words for words in map(_said, value[:10]) if words)
    if isinstance(value, dict):
        return _said(value.get("name"))
    return _folded(value) if isinstance(value, str) else ""


def _rel(element: Element) -> list[str]:
    return (element.get("rel") or "").lower().split()


def _folded(words: str) -> str:
    return " ".join(words.split())[:_FACT_CHARS]

"""Structured data of a page (JSON-LD with schema.org's vocabulary)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

_MOST_CHARS = 1_000_000
_MOST_OBJECTS = 2_000
_FEWEST_CHARS = 500
_TEMPLATE_TYPES = frozenset(("text/template", "text/html", "text/x-template", "text/x-handlebars-template"))
_MARKUP = re.compile(r"<[^<>]{1,500}>")


def linked_objects(root: etree._Element) -> Iterator[dict[str, Any]]:
    """The objects in a page's JSON-LD, outer ones first; what is not valid JSON is left out."""
    for script in root.iter("script"):
        text = script.text or ""
        if (script.get("type") or "").strip().lower() != "application/ld+json" or len(text) > _MOST_CHARS:
            continue
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
        queue: list[Any] = [value]
        for _ in range(_MOST_OBJECTS):
            if not queue:
                break
            at = queue.pop(0)
            if isinstance(at, dict):
                yield at
                queue.extend(part for part in at.values() if isinstance(part, dict | list))
            elif isinstance(at, list):
                queue.extend(at[:_MOST_OBJECTS])


def article_body(root: etree._Element) -> str:
    """The longest `articleBody` of a page's structured data, without markup."""
    found = ""
    for item in linked_objects(root):
        body = item.get("articleBody")
        if isinstance(body, str) and len(body) > len(found):
            found = body
    return _MARKUP.sub(" ", found)


def templates_of(root: etree._Element) -> Iterator[str]:
    """The HTML that scripts of a page put into it: `template` elements and scripts of a type for HTML."""
    for element in root.iter("script", "template", "noscript"):
        if element.tag == "script" and (element.get("type") or "").strip().lower() not in _TEMPLATE_TYPES:
            continue
        html = element.text or ""
        if element.tag != "script" and len(element):
            html += "".join(etree.tostring(child, encoding="unicode", method="html") for child in element)
        if _FEWEST_CHARS <= len(html) <= _MOST_CHARS and "<" in html:
            yield html


def is_article(root: etree._Element) -> bool:
    """Does the page declare itself an article (Open Graph)?"""
    return any(
        (meta.get("property") or "").lower() == "og:type" and (meta.get("content") or "").strip().lower() == "article"
        for meta in root.iter("meta")
    )


def description_of(root: etree._Element) -> str:
    """The page's description in its `meta` elements."""
    for meta in root.iter("meta"):
        name = (meta.get("property") or meta.get("name") or "").lower()
        if name in ("description", "og:description") and (content := meta.get("content")):
            return content
    return ""

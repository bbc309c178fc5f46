"""Addresses in a document: absolute, safe inside Markdown, and none that run scripts."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from lxml import etree

from bridge.reading.markdown.escape import url_destination

#: Longer addresses carry data, not a place; the text of the link stays.
MAX_URL = 4_000
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_DROPPED_SCHEMES = frozenset(["javascript", "vbscript", "data", "blob", "about"])
# URL §4.4: tabs and newlines inside an address are not part of it.
_IGNORED = re.compile(r"[\t\n\r]")
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-hi-res-src", "data-url")
_MOST_SOURCES = 8
_LAZY_SETS = ("srcset", "data-srcset", "data-lazy-srcset")


class Links:
    """Resolves against the document's base, each address once."""

    def __init__(self, tree: etree._Element, base_url: str) -> None:
        base = tree.find(".//base[@href]") if tree.tag == "html" else None
        self._base = _joined(base_url, (base.get("href") or "").strip()) if base is not None else base_url
        self._known: dict[str, str] = {}

    def absolute(self, href: str) -> str:
        """The destination as Markdown writes it; "" where it leads nowhere that can be opened."""
        found = self._known.get(href)
        if found is None:
            found = self._known[href] = self._resolve(href)
        return found

    def _resolve(self, href: str) -> str:
        cleaned = _IGNORED.sub("", href).strip("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x1b\x1f ")
        if not cleaned or len(cleaned) > MAX_URL:
            return ""
        scheme = _SCHEME.match(cleaned)
        if scheme and scheme[1].lower() in _DROPPED_SCHEMES:
            return ""
        return url_destination(_joined(self._base, cleaned))


def picture_source(image: etree._Element) -> str:
    """The URL of an image: its current source, its lazy-loading source or the largest of its set; "" for spacers."""
    if image.get("width") in ("0", "1") or image.get("height") in ("0", "1"):
        return ""
    source = (image.get("src") or "").strip()
    lazy = next((value for name in _LAZY if (value := image.get(name)) and not value.startswith("data:")), "")
    if lazy:
        return lazy.strip()
    if source and not source.startswith(("data:", "about:")):
        return source
    sets = [value for name in _LAZY_SETS if (value := image.get(name))]
    around = image.getparent()
    # libxml2 does not know that `source` has no content: what follows it stands in it.
    for _ in range(_MOST_SOURCES):
        if around is None or around.tag not in ("picture", "source"):
            break
        sets.extend(value for child in around for name in _LAZY_SETS if (value := child.get(name)))
        around = around.getparent()
    for value in sets:
        if found := _largest(value):
            return found
    return ""


def _largest(srcset: str) -> str:
    best, best_size = "", -1.0
    for candidate in re.split(r",\s+|,(?=https?:)", srcset[:20_000]):
        words = candidate.split()
        if not words or words[0].startswith("data:"):
            continue
        size = re.fullmatch(r"(\d{1,6}(?:\.\d{1,4})?)[wx]", words[1]) if len(words) > 1 else None
        value = float(size[1]) if size else 1.0
        if value > best_size:
            best, best_size = words[0].strip(","), value
    return best


def _joined(base: str, url: str) -> str:
    try:
        return urljoin(base, url) if base else url
    except ValueError:
        return url

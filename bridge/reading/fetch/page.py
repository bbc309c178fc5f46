"""The next page and the base URL of an HTML page, and detection of empty shells. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bridge.reading.metadata import joined
from bridge.reading.words import words_of
from bridge.snapshot.plain_html.parse import Element

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


def _rel(element: Element) -> list[str]:
    return (element.get("rel") or "").lower().split()


def _folded(words: str) -> str:
    return " ".join(words.split())

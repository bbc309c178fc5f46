"""Words of a fetched page that a person would not see, taken out of its tree. Pure.

Without a browser only attributes and inline styles tell; what a style sheet hides stays. Closed `details` stay too: a
person can open them.
"""

from __future__ import annotations

from bridge.snapshot.html_dom import HtmlDocument, text_of
from bridge.snapshot.html_parse import Element

_HIDDEN = "//*[@hidden or @inert or @aria-hidden='true' or @popover or self::dialog[not(@open)]]"
_INKLESS = frozenset(("color", "font-size", "text-indent"))
# Scripts show the whole page when they are ready; nobody hides words from people there.
_WHOLE_PAGE = frozenset(("html", "body"))


def remove_unseen(root: Element) -> int:
    """Takes out what attributes or inline styles hide; how many texts that were."""
    document = HtmlDocument(root)
    styled: list[Element] = document.read_styles()
    removed = 0
    gone: list[Element] = [*root.xpath(_HIDDEN), *styled]
    for element in gone:
        if element.tag in _WHOLE_PAGE or element.tag == "summary":
            continue
        if document.is_gone(element) or document.is_unseen(element):
            removed += bool(text_of(element, 500).strip())
            _drop(element)
    for element in styled:
        style = document.style(element)
        if element.tag in _WHOLE_PAGE or not ("visibility" in style or _INKLESS.intersection(style)):
            continue
        if document.is_visible(element) and not document.is_inkless(element):
            continue
        for below in list(element.iter()):
            if not document.is_visible(below) or document.is_inkless(below):
                removed += _empty(below)
    for element in styled:
        # What is left of it is seen, and must not be judged again by somebody who looks only here.
        if "visibility" in document.style(element) or element.tag in _WHOLE_PAGE:
            del element.attrib["style"]
    return removed


def _drop(element: Element) -> None:
    parent = element.getparent()
    if parent is None:
        return
    before = element.getprevious()
    if before is not None:
        before.tail = f"{before.tail or ''}{element.tail or ''}"
    else:
        parent.text = f"{parent.text or ''}{element.tail or ''}"
    parent.remove(element)


def _empty(element: Element) -> int:
    """Takes an element's own words, not those of what is in it."""
    removed = 0
    if element.text and element.text.strip():
        element.text, removed = None, removed + 1
    for child in element:
        if child.tail and child.tail.strip():
            child.tail, removed = None, removed + 1
    return removed

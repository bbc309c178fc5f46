"""Words of a fetched page that a person would not see, taken out of its tree. Pure.

Without a browser attributes, inline styles and the style sheets in the page count: what only another file hides stays.
Closed `details` stay too: a person can open them.
"""

from __future__ import annotations

from bridge.reading.fetch.style_sheets import apply_style_sheets
from bridge.snapshot.plain_html.dom import HtmlDocument, is_first_summary, text_of
from bridge.snapshot.plain_html.parse import Element

# What browsers do not draw; TeX in an annotation is what converters read.
_UNDRAWN = (
    "self::mphantom or self::rp or self::noembed or self::noframes or self::annotation-xml or "
    "(self::annotation and not(contains(translate(@encoding, 'TEX', 'tex'), 'tex'))) or "
    "(parent::maction and position() > 1)"
)
_HIDDEN = "//*[@hidden or @inert or @aria-hidden='true' or @popover or self::dialog[not(@open)]]"
_INKLESS = ("color", "-webkit-text-fill-color", "font-size", "text-indent")
# Scripts show the whole page when they are ready; nothing is hidden from people there.
_WHOLE_PAGE = frozenset(("html", "body"))


def remove_unseen(root: Element) -> int:
    """Takes out what attributes or styles hide; how many texts that were."""
    document = HtmlDocument(root)
    apply_style_sheets(root)
    for tag in _WHOLE_PAGE:
        for element in root.iter(tag):
            element.attrib.pop("style", None)
    styled: list[Element] = document.read_styles()
    removed = 0
    # From the inside out, so that every word is looked at once, however deep they are hidden.
    for element in root.xpath(f"//*[{_UNDRAWN}]"):
        _take_out(element)
    for element in reversed([*root.xpath(_HIDDEN), *styled]):
        if element.tag in _WHOLE_PAGE or is_first_summary(element):
            continue
        if document.is_gone(element) or document.is_unseen(element):
            removed += bool(text_of(element, 500).strip())
            _take_out(element)
    if not document.styled_by(*_INKLESS, "visibility"):
        return removed
    for element in root.iter():
        if not document.is_visible(element) or document.is_inkless(element):
            removed += _empty(element)
    for element in styled:
        # The rest is visible and must not be checked again from here.
        if "visibility" in document.style(element) and "style" in element.attrib:
            del element.attrib["style"]
    return removed


def _take_out(element: Element) -> None:
    element.clear(keep_tail=True)
    element.tag = "span"


def _empty(element: Element) -> int:
    """Takes an element's own words, not those of what is in it."""
    removed = 0
    if element.text and element.text.strip():
        element.text, removed = None, removed + 1
    for child in element:
        if child.tail and child.tail.strip():
            child.tail, removed = None, removed + 1
    return removed

"""The part of the tree that holds the kept blocks, with the pictures, tables and code between them."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from bridge.reading.main_content.names import Name, bits, claims, names_of
from bridge.reading.main_content.text_blocks import SILENT, TextBlocks
from bridge.reading.words import words_of

_INLINE_BOXES = frozenset("a b strong i em u span time small font label button input img".split())
_MORE_THAN_PICTURES = ("table", "pre", "p", "ul", "ol", "blockquote", "math")
_MOST_CAPTION = 500
#: The span of a figure whose pictures are kept.
_PICTURES = (-1, -1)
_DECORATION = bits(Name.SHARE, Name.AD, Name.NAVIGATION, Name.SIDEBAR, Name.AUTHOR, Name.COMMENTS)


def empty(element: etree._Element) -> None:
    """Take out all that an element holds; an empty box stays in its place.

    Removing the element would move the text behind it to what stands before, and each time again: with many of them in
    one parent, time would grow with their square.
    """
    tag = "span" if element.tag in _INLINE_BOXES or element.tag in SILENT else "div"
    element.clear(keep_tail=True)
    element.tag = tag


def keep_blocks(page: TextBlocks, keep: list[bool]) -> etree._Element:
    """Take the other blocks out of the tree, and give the smallest element that holds all kept ones."""
    _caption_pictures(page, keep)
    kept_before = [0]
    for is_kept in keep:
        kept_before.append(kept_before[-1] + is_kept)
    content = _smallest_around(page, kept_before)
    _empty_others(page, content, keep, kept_before)
    for block, is_kept in zip(page.blocks, keep, strict=True):
        if is_kept:
            continue
        for element, is_tail in block.slots:
            if is_tail:
                element.tail = None
            else:
                element.text = None
    return content


def _caption_pictures(page: TextBlocks, keep: list[bool]) -> None:
    """Make the caption of each picture part of it, as `data-caption`; leave the picture where text near it is kept."""
    last = len(keep)
    for figure, (start, end) in list(page.spans.items()):
        if figure.tag != "figure" or next(figure.iter("img"), None) is None:
            continue
        if any(next(figure.iter(tag), None) is not None for tag in _MORE_THAN_PICTURES):
            continue
        captions = [element for element in figure.iter("figcaption") if element in page.spans]
        is_near = any(keep[max(start - 1, 0) : min(end + 1, last)])
        keep[start:end] = [False] * (end - start)
        if not is_near:
            continue
        images = [img for img in figure.iter("img") if img.get("src") or any("src" in name for name in img.attrib)]
        if captions and images:
            images[0].set("data-caption", words_of(captions[0])[:_MOST_CAPTION])
        for image in images:
            image.tail = None
        figure.clear(keep_tail=True)
        figure.extend(images)
        page.spans[figure] = _PICTURES


def _smallest_around(page: TextBlocks, kept_before: list[int]) -> etree._Element:
    whole = kept_before[-1]
    content, size = page.body, len(page.blocks) + 1
    for element, span in page.spans.items():
        start, end = span
        if span == _PICTURES or end == start or end - start >= size:
            continue
        # Of elements with the same blocks, the innermost comes first: spans are in the order of their ends.
        if kept_before[end] - kept_before[start] == whole:
            content, size = element, end - start
    return content


def _empty_others(page: TextBlocks, content: etree._Element, keep: Sequence[bool], kept_before: list[int]) -> None:
    last = len(keep)
    holding_pictures = {
        around for figure, span in page.spans.items() if span == _PICTURES for around in figure.iterancestors()
    }
    for element in list(content.iterdescendants()):
        span = page.spans.get(element)
        if span is None or (element.getparent() is None and element is not content):
            continue
        if span == _PICTURES:
            continue
        start, end = span
        if kept_before[end] > kept_before[start] or element in holding_pictures:
            continue
        if start == end and element.tag not in SILENT:
            is_near = (start > 0 and keep[start - 1]) or (end < last and keep[end])
            if is_near and not claims(names_of(element)) & _DECORATION:
                continue
        if element.tag == "input" and element.get("type") == "checkbox":
            continue
        empty(element)

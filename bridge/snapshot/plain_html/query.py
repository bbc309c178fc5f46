"""Reading one element of a document without a browser. Pure; nothing builds more than it may return."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from bridge.snapshot.plain_html.dom import HtmlDocument, fold, input_type
from bridge.snapshot.plain_html.parse import END_TAGS_OMITTED, Element
from bridge.snapshot.plain_html.roles import SKIPPED_TAGS

MARK = "...[truncated]"
_MOST_ATTRS = 1_000
_RAW_TEXT = frozenset(("script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"))
_SPACE = re.compile(r"\s+")


def cut_at(text: str, limit_chars: int) -> str:
    """At most `limit_chars` characters of it, and the mark where there were more."""
    return text if len(text) <= limit_chars else text[:limit_chars] + MARK


def seen_text(document: HtmlDocument, element: Element, limit_chars: int) -> str:
    """The visible text: a line for every block, white space collapsed."""
    lines: list[str] = [""]
    length = 0

    def end_line() -> None:
        nonlocal length
        lines[-1] = fold(lines[-1])
        if lines[-1]:
            length += len(lines[-1]) + 1
            lines.append("")

    stack: list[tuple[Element, bool]] = [(element, True)]
    while stack and length + len(lines[-1]) <= 2 * limit_chars:
        at, opens = stack.pop()
        is_block = not document.is_inline(at)
        if opens and not (at.tag in SKIPPED_TAGS or document.is_gone(at) or document.is_unseen(at)):
            if is_block or at.tag == "br":
                end_line()
            if at.text and document.is_visible(at) and at.tag != "textarea" and not document.is_inkless(at):
                lines[-1] += _SPACE.sub(" ", at.text[: 2 * limit_chars + 1])
            stack.append((at, False))
            stack.extend((child, True) for child in reversed(at))
            continue
        if is_block and not opens:
            end_line()
        if at is not element and at.tail:
            parent = at.getparent()
            if parent is not None and document.is_visible(parent) and not document.is_inkless(parent):
                lines[-1] += _SPACE.sub(" ", at.tail[: 2 * limit_chars + 1])
    end_line()
    return cut_at("\n".join(line for line in lines if line), limit_chars)


def attributes(element: Element, limit_chars: int) -> dict[str, str]:
    """Its attributes, each at most `limit_chars` long; a password's value is not among them."""
    return {
        key: cut_at(value, limit_chars)
        for key, value in element.items()[:_MOST_ATTRS]
        if not (key == "value" and input_type(element) == "password")
    }


def outer_html(element: Element, limit_chars: int) -> str:
    """Its HTML (HTML §13.3), with password fields emptied."""
    pieces: list[str] = []
    length = 0
    for piece in _serialised(element):
        pieces.append(piece[: limit_chars + 1])
        length += len(piece)
        if length > limit_chars:
            break
    return cut_at("".join(pieces), limit_chars)


def _serialised(element: Element) -> Iterator[str]:
    stack: list[tuple[Element, bool]] = [(element, True)]
    while stack:
        at, opens = stack.pop()
        if opens:
            yield _start_tag(at)
            if at.tag not in END_TAGS_OMITTED:
                if at.text:
                    yield at.text if at.tag in _RAW_TEXT else escape(at.text, quote=False)
                stack.append((at, False))
                stack.extend((child, True) for child in reversed(at))
                continue
        else:
            yield f"</{at.tag!s}>"
        if at is not element and at.tail:
            parent = at.getparent()
            raw = parent is not None and parent.tag in _RAW_TEXT
            yield at.tail if raw else escape(at.tail, quote=False)


def _start_tag(element: Element) -> str:
    if input_type(element) == "password":
        return '<input type="password">'
    attrs = "".join([f' {key}="{escape(value)}"' for key, value in element.items()[:_MOST_ATTRS]])
    return f"<{element.tag!s}{attrs}>"

"""Lists, their items, task boxes, and definitions."""

from __future__ import annotations

import re

from lxml import etree

from bridge.reading.markdown.write_blocks import note
from bridge.reading.markdown.writer import End, Handler, Writer

_NUMBER = re.compile(r"\s*(-?\d{1,9})\s*", re.ASCII)


def _list(writer: Writer, element: etree._Element) -> End:
    writer.flush()
    if writer.single:
        return writer.flush
    is_ordered = element.tag == "ol"
    around = element.getparent()
    if around is not None and around.tag == element.tag and writer.lists and writer.lists[-1] is not None:
        return writer.flush  # A list in a list, but in none of its items: a way to indent, in old pages.
    start, step = _number(element.get("start")), 1
    if is_ordered and element.get("reversed") is not None:
        start, step = start if start is not None else sum(1 for child in element if child.tag == "li"), -1
    state = writer.blocks.begin_list(is_ordered, 1 if start is None else start, step)
    writer.lists.append(state)

    def end() -> None:
        writer.flush()
        writer.blocks.end_list(state)
        writer.lists.pop()

    return end


def _item(writer: Writer, element: etree._Element) -> End:
    writer.flush()
    if writer.single:
        return writer.flush
    if label := writer.notes.definition(element):
        return note(writer, label)
    blocks = writer.blocks
    state = writer.lists[-1] if writer.lists else None
    if state is None:
        state = blocks.begin_list(is_ordered=False, start=1)
    if not blocks.begin_item(state, _number(element.get("value")) if state.is_ordered else None):
        return writer.flush
    if (box := _task_box(element)) is not None:
        blocks.push(box, "", is_item=True)

    def end() -> None:
        writer.flush()
        if box is not None:
            blocks.pop()
        blocks.end_item(state)

    return end


def _term(writer: Writer, _element: etree._Element) -> End:
    writer.flush()
    writer.single += 1

    def end() -> None:
        if text := writer.take_single():
            writer.blocks.emit(text)
            writer.blocks.follow_tightly()

    return end


def _definition(writer: Writer, _element: etree._Element) -> End:
    writer.flush()
    if writer.single or not writer.blocks.push(": ", "  "):
        return writer.flush
    return writer.end_container


def _number(text: str | None) -> int | None:
    found = _NUMBER.fullmatch(text) if text else None
    return int(found[1]) if found else None


def _task_box(item: etree._Element) -> str | None:
    """`[x] ` where the item begins with a checkbox."""
    at = item
    for _ in range(3):
        if not len(at) or ((text := at.text) and text.strip()):
            return None
        at = at[0]
        if at.tag == "input":
            is_box = (at.get("type") or "").lower() == "checkbox"
            return ("[x] " if at.get("checked") is not None else "[ ] ") if is_box else None
        if at.tag not in ("label", "p", "span", "div"):
            return None
    return None


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("ul", "ol", "menu", "dir"), _list),
    "li": _item,
    "dt": _term,
    "dd": _definition,
}

"""The walk that writes Markdown: one pass over the tree, no recursion; what each element means is its handler's.

A handler is called at an element's start. It returns what to do at its end, None for nothing, or TAKEN where it has
written the whole element. The handlers are in `write_blocks`, `write_inline`, `write_lists` and `write_tables`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from lxml import etree

from bridge.reading.markdown.blocks import Block, Blocks, ListState
from bridge.reading.markdown.footnotes import Footnotes
from bridge.reading.markdown.inline import InlineLine, Mark
from bridge.reading.markdown.tables import Table
from bridge.reading.markdown.urls import Links
from bridge.reading.words import WHITE

LinkStyle = Literal["inline", "ref", "none"]
End: TypeAlias = Callable[[], None] | None
Handler: TypeAlias = Callable[["Writer", etree._Element], End]

_NONE_SHOWN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
# By their attributes: asking each element for its own takes four times as long.
_HIDDEN = etree.XPath("descendant-or-self::*/@hidden/..")
_STYLED = etree.XPath("descendant-or-self::*/@style/..")


def _taken() -> None:
    """Returned by a handler that has written the whole element itself."""


TAKEN: End = _taken


class Writer:
    """One conversion: the line, the blocks, the lists and the tables that are being written.

    Attributes:
        single: How many headings, terms and captions are open: inside of one there is only one line.
        tables: The table that is open, with what was being written around it.
        flat_tables: How many tables are open that are read as text, because they hold no data or stand in a cell.
        explained: Abbreviations that have been spelled out.
    """

    def __init__(self, tree: etree._Element, base_url: str, style: LinkStyle, handlers: Mapping[str, Handler]) -> None:
        self.links = Links(tree, base_url)
        self.style = style
        self.notes = Footnotes(tree)
        self.blocks = Blocks()
        self.line = InlineLine()
        self.lists: list[ListState | None] = []
        self.single = 0
        self.tables: list[tuple[Table, Blocks, InlineLine, list[ListState | None]]] = []
        self.flat_tables = 0
        self.explained: set[tuple[str, str]] = set()
        self._handlers = handlers

    def walk(self, tree: etree._Element) -> None:
        ends: list[End] = []
        handlers, hidden, text_of = self._handlers, _hidden(tree), self.text
        walker: Any = etree.iterwalk(tree, events=("start", "end"))
        for event, element in walker:
            if event == "end":
                end = ends.pop()
                if end is not None:
                    end()
                tail = element.tail
                if tail and element is not tree:
                    text_of(tail)
                continue
            handler = handlers.get(element.tag)
            if hidden and element in hidden:
                end = TAKEN
            elif handler is None:
                end = None
            else:
                end = handler(self, element)
            if end is TAKEN:
                ends.append(None)
                walker.skip_subtree()
                continue
            ends.append(end)
            text = element.text
            if text:
                text_of(text)

    def finish(self) -> list[Block]:
        self.flush()
        return self.blocks.out

    def text(self, text: str) -> None:
        line = self.line
        if not text.strip(WHITE):
            line.space()
            return
        if line.wants_paragraph and not self.single:
            self.flush()
        line.text(text)

    def flush(self) -> None:
        """End the paragraph."""
        line = self.line
        if self.single:
            line.space()
        elif line.is_empty:
            line.forget_space()
        elif text := line.take():
            self.blocks.emit(text)

    def closing(self, mark: Mark | None) -> End:
        """Returns the function that closes a mark at its element's end."""
        if mark is None:
            return None
        line = self.line
        return lambda: line.close(mark)

    def end_container(self) -> None:
        self.flush()
        self.blocks.pop()

    def take_single(self) -> str:
        """The text of a heading, term or caption, on one line."""
        self.single -= 1
        return self.line.take_flat() if not self.single else ""


def skipped(_writer: Writer, _element: etree._Element) -> End:
    """For elements that say nothing to a reader."""
    return TAKEN


def _hidden(tree: etree._Element) -> set[etree._Element]:
    """The elements that the markup itself hides; asked for at once, because few have the attributes for it."""
    hidden: Any = _HIDDEN(tree)
    styled: Any = _STYLED(tree)
    return {*hidden, *(element for element in styled if _NONE_SHOWN.search(element.get("style") or "") is not None)}

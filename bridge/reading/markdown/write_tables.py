"""Tables: the ones that relate things become GFM's, the ones that place things are read as text."""

from __future__ import annotations

import re

from lxml import etree

from bridge.reading.markdown.blocks import Blocks
from bridge.reading.markdown.escape import escape_leaf
from bridge.reading.markdown.inline import InlineLine
from bridge.reading.markdown.tables import Cell, Table, is_layout, span_of
from bridge.reading.markdown.writer import TAKEN, End, Handler, Writer

_LINE_NUMBERS = re.compile(r"\b(?:line-?num|linenos?|gutter)")


def _table(writer: Writer, element: etree._Element) -> End:
    writer.flush()
    if writer.single or writer.tables or is_layout(element):
        writer.flat_tables += 1

        def end_flat() -> None:
            writer.flush()
            writer.flat_tables -= 1

        return end_flat
    table = Table()
    writer.tables.append((table, writer.blocks, writer.line, writer.lists))
    # What stands between rows, which no cell holds, comes before the table.
    writer.blocks, writer.line, writer.lists = Blocks(), InlineLine(), []

    def end() -> None:
        writer.flush()
        stray = writer.blocks.out
        _, writer.blocks, writer.line, writer.lists = writer.tables.pop()
        for block in stray:
            writer.blocks.emit(block.text)
        text = table.to_markdown()
        if table.caption:
            writer.blocks.emit(table.caption)
        if text:
            writer.blocks.emit(text, "table")

    return end


def _head(writer: Writer, _element: etree._Element) -> End:
    writer.flush()
    if not writer.tables or writer.flat_tables:
        return writer.flush
    table = writer.tables[-1][0]

    def end() -> None:
        if not table.head_rows:
            table.head_rows = sum(1 for row in table.rows if any(cell.text for cell in row))

    return end


def _row(writer: Writer, _element: etree._Element) -> End:
    writer.flush()
    if writer.tables and not writer.flat_tables:
        writer.tables[-1][0].rows.append([])
    return writer.flush


def _cell(writer: Writer, element: etree._Element) -> End:
    if not writer.tables or writer.flat_tables:
        if writer.tables or writer.single:
            writer.line.space()
            return writer.line.space
        writer.flush()
        return TAKEN if _LINE_NUMBERS.search(element.get("class") or "") else writer.flush
    table = writer.tables[-1][0]
    if not table.rows:
        table.rows.append([])
    row = table.rows[-1]
    cell = Cell("", element.tag == "th", False, span_of(element, "colspan"), span_of(element, "rowspan"))
    row.append(cell)
    if not len(element):
        cell.text = escape_leaf(element.text or "").replace("|", "\\|")
        return TAKEN
    outside = (writer.blocks, writer.line, writer.lists)
    writer.blocks, writer.line, writer.lists = Blocks(), InlineLine(), []
    writer.line.break_text = "<br>"

    def end() -> None:
        writer.flush()
        text = "<br>".join(block.text for block in writer.blocks.out).replace("\n", "<br>").replace("|", "\\|")
        writer.blocks, writer.line, writer.lists = outside
        cell.text = text
        cell.is_bold = text.startswith("**") and text.endswith("**") and text.count("**") == 2

    return end


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("td", "th"), _cell),
    "table": _table,
    "thead": _head,
    "tr": _row,
}

"""HTML to Markdown: one walk over the tree, no recursion, time in proportion to the text.

    to_markdown("<h1>Tea</h1><p>Green <b>and</b> black")     # '# Tea\n\nGreen **and** black'

The dialect is CommonMark 0.31 with GFM's tables, task lists and strikethrough, `[^1]` footnotes, `$…$` mathematics,
`==…==` for marked text and `: ` before definitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from lxml import etree

from bridge.errors import UsageError
from bridge.reading.blocks import Block, Blocks, ListState
from bridge.reading.document import outline_blocks, truncated
from bridge.reading.document import section as section_of
from bridge.reading.escape import SPACES, code_span, escape_heading_end, escape_text, fence_for, language_of
from bridge.reading.footnotes import Footnotes
from bridge.reading.inline import Line, Mark
from bridge.reading.parsing import parse_html
from bridge.reading.tables import Cell, Table, is_layout, span_of
from bridge.reading.urls import Links, picture_source

LinkStyle = Literal["inline", "ref", "none"]
End = Callable[[], None] | None

_SKIPPED = frozenset(
    "script style noscript template head svg iframe object embed canvas audio video map select textarea datalist "
    "frameset noframes dialog".split()
)
_BLOCKS = frozenset(
    "html body div p section article main header footer nav aside address center form fieldset legend figure hgroup "
    "details dl menu search tbody thead tfoot tr td th caption li dd dt option optgroup".split()
)
_EMPHASIS = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("i", "em", "cite", "dfn", "var"), "*"),
    **dict.fromkeys(("del", "s", "strike"), "~~"),
    "mark": "==",
}
_CODE = frozenset("code kbd samp tt".split())
_RAISED = dict(zip("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", strict=True))
_LOWERED = dict(zip("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", strict=True))
_ORDINAL = re.compile(r"(?i)(?:st|nd|rd|th|er|re|e|ème|o|a|º|ª|TM|SM|®|©|™)\Z")
_HEADING_ANCHOR = re.compile(r"[#¶§🔗\s\ufeff\u200b]*\Z")
_NONE_SHOWN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_IN_HEADING_BLOCKS = frozenset("p ul ol table h1 h2 h3 h4 h5 h6 blockquote pre section article".split())


def to_markdown(
    html: str | bytes | etree._Element,
    *,
    base_url: str = "",
    links: LinkStyle = "inline",
    title: str = "",
    outline: bool = False,
    section: str | None = None,
    max_length: int = 0,
) -> str:
    """The Markdown of a document, a fragment or an element.

    Args:
        base_url: What relative addresses are relative to; a `base` element in the document goes first.
        links: `inline` gives `[text](URL)`, `none` only the text, `ref` `[text](e12)` where the element carries
            `data-ref="e12"`.
        title: Put first as `# title` where the text does not begin with it.
        outline: Only the headings, as a list.
        section: Only what is below the heading with these words or this anchor.
        max_length: Characters at most (0: no limit); see `document.truncated`.

    Raises:
        UsageError: There is no such section.
    """
    blocks = to_blocks(html, base_url=base_url, links=links, title=title)
    if section is not None:
        blocks = section_of(blocks, section)
    if outline:
        blocks = outline_blocks(blocks)
    return truncated(blocks, max_length)[0]


def to_blocks(
    html: str | bytes | etree._Element, *, base_url: str = "", links: LinkStyle = "inline", title: str = ""
) -> list[Block]:
    """The Markdown as blocks, for `document`'s outline, section and truncation."""
    if links not in ("inline", "ref", "none"):
        raise UsageError(f"links={links!r}", hint='It is "inline", "ref" or "none".')
    tree = parse_html(html) if isinstance(html, str | bytes) else html
    writer = _Writer(tree, base_url, links)
    writer.walk(tree)
    blocks = writer.finish()
    words = SPACES.sub(" ", title).strip()
    if words and not _begins_with(blocks, words):
        if blocks:
            blocks[0].gap = "\n\n"
        heading = f"# {escape_heading_end(escape_text(words))}"
        blocks.insert(0, Block("", heading, "heading", 1, words))
    return blocks


def _begins_with(blocks: list[Block], title: str) -> bool:
    return any(
        block.kind == "heading" and (block.level == 1 or _bare(block.title) == _bare(title)) for block in blocks[:3]
    )


def _bare(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


class _Writer:
    """One conversion. A handler is called at an element's start and returns what to do at its end."""

    def __init__(self, tree: etree._Element, base_url: str, links: LinkStyle) -> None:
        self._links = Links(tree, base_url)
        self._style = links
        self._notes = Footnotes(tree)
        self._blocks = Blocks()
        self._line = Line()
        self._lists: list[ListState | None] = []
        # Inside a heading, a term or a caption there is only one line.
        self._single = 0
        self._tables: list[tuple[Table, Blocks, Line, list[ListState | None]]] = []
        self._flat_tables = 0
        self._explained: set[tuple[str, str]] = set()
        self._handlers: dict[str, Callable[[etree._Element], End]] = {
            **dict.fromkeys(_BLOCKS, self._block),
            **dict.fromkeys(_EMPHASIS, self._emphasis),
            **dict.fromkeys(_CODE, self._inline_code),
            **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), self._heading),
            **dict.fromkeys(("ul", "ol", "menu", "dir"), self._list),
            **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), self._pre),
            **dict.fromkeys(("td", "th"), self._cell),
            **dict.fromkeys(("sub", "sup"), self._shifted),
            **dict.fromkeys(("figcaption", "caption"), self._caption),
            **dict.fromkeys(("abbr", "acronym"), self._abbreviation),
            "a": self._link, "blockquote": self._quote, "br": self._break, "button": self._spaced, "dd": self._definition,
            "dt": self._term, "hr": self._rule, "img": self._picture, "li": self._item, "math": self._math,
            "q": self._quotation, "rt": self._reading, "summary": self._summary, "table": self._table, "tr": self._row,
            "thead": self._table_head,
        }  # fmt: skip

    def walk(self, tree: etree._Element) -> None:
        ends: list[End] = []
        handlers = self._handlers
        walker: Any = etree.iterwalk(tree, events=("start", "end"))
        for event, element in walker:
            if event == "end":
                end = ends.pop()
                if end is not None:
                    end()
                if element.tail and element is not tree:
                    self._text(element.tail)
                continue
            tag = element.tag
            if not isinstance(tag, str) or tag in _SKIPPED or self._is_hidden(element):
                ends.append(None)
                walker.skip_subtree()
                continue
            handler = handlers.get(tag)
            ends.append(None if handler is None else handler(element))
            if handler is not None and ends[-1] is _TAKEN:
                ends[-1] = None
                walker.skip_subtree()
            elif element.text:
                self._text(element.text)

    def finish(self) -> list[Block]:
        self._flush()
        return self._blocks.out

    def _is_hidden(self, element: etree._Element) -> bool:
        if not element.attrib:
            return False
        if element.get("hidden") is not None:
            return True
        style = element.get("style")
        return style is not None and _NONE_SHOWN.search(style) is not None

    def _text(self, text: str) -> None:
        line = self._line
        if line.wants_paragraph and text.strip() and not self._single:
            self._flush()
        line.text(text)

    def _flush(self) -> None:
        """End the paragraph."""
        if self._single:
            self._line.space()
        elif text := self._line.take():
            self._blocks.emit(text)

    def _take_single(self) -> str:
        """What a heading, term or caption held, on one line."""
        self._single -= 1
        return self._line.take_flat() if not self._single else ""

    def _block(self, element: etree._Element) -> End:
        self._flush()
        note = self._notes.definition(element)
        return self._note(note) if note and not self._single else self._flush

    def _spaced(self, element: etree._Element) -> End:
        self._line.space()
        return self._line.space

    def _emphasis(self, element: etree._Element) -> End:
        sign = _EMPHASIS[element.tag]
        return self._closing(self._line.open(sign, sign))

    def _closing(self, mark: Mark | None) -> End:
        if mark is None:
            return None
        line = self._line
        return lambda: line.close(mark)

    def _inline_code(self, element: etree._Element) -> End:
        self._line.begin_code()
        return self._line.end_code

    def _break(self, element: etree._Element) -> End:
        if self._single:
            self._line.space()
        else:
            self._line.line_break()
        return None

    def _link(self, element: etree._Element) -> End:
        href = element.get("href")
        if href is None:
            return None
        note = self._notes.reference(element)
        if note is not None:
            if note:
                self._line.raw(f"[^{note}]")
            return _TAKEN
        if self._style == "none":
            return None
        if self._single and _HEADING_ANCHOR.match("".join(element.itertext())) and element.find(".//img") is None:
            return _TAKEN
        target = element.get("data-ref") if self._style == "ref" else None
        target = target or self._links.absolute(href)
        return self._closing(self._line.open("[", f"]({target})")) if target else None

    def _picture(self, element: etree._Element) -> End:
        alt = SPACES.sub(" ", element.get("alt") or "").strip()
        if alt and re.search(r"\b(?:math|tex|latex)", element.get("class") or ""):
            self._line.raw(f"${alt}$")
            return None
        source = picture_source(element)
        url = self._links.absolute(source) if source and self._style != "none" else ""
        if url or alt:
            self._line.raw(f"![{escape_text(alt, in_link=True)}]({url})")
        return None

    def _heading(self, element: etree._Element) -> End:
        self._flush()
        if self._single or any(child.tag in _IN_HEADING_BLOCKS for child in element):
            return self._flush
        level = int(element.tag[1])
        self._single += 1

        def end() -> None:
            text = self._take_single()
            if not text:
                return
            if self._tables:
                self._blocks.emit(text if text.startswith("**") else f"**{text}**")
                return
            words = SPACES.sub(" ", "".join(element.itertext())).strip(" #¶§")
            child = element.find(".//*[@id]") if len(element) else None
            anchor = element.get("id") or (child.get("id") if child is not None else "") or ""
            text = f"{'#' * level} {escape_heading_end(text)}"
            self._blocks.emit(text, "heading", level=level, title=words, anchor=anchor)

        return end

    def _quote(self, element: etree._Element) -> End:
        self._flush()
        if self._single or not self._blocks.push("> ", "> "):
            return self._flush
        return self._end_container

    def _end_container(self) -> None:
        self._flush()
        self._blocks.pop()

    def _list(self, element: etree._Element) -> End:
        self._flush()
        if self._single:
            return self._flush
        is_ordered = element.tag == "ol"
        around = element.getparent()
        if around is not None and around.tag == element.tag and self._lists and self._lists[-1] is not None:
            return self._flush  # A list in a list, but in none of its items: a way to indent, in old pages.
        start, step = _number(element.get("start")), 1
        if is_ordered and element.get("reversed") is not None:
            start, step = start if start is not None else sum(1 for child in element if child.tag == "li"), -1
        state = self._blocks.begin_list(is_ordered, 1 if start is None else start, step)
        self._lists.append(state)

        def end() -> None:
            self._flush()
            self._blocks.end_list(state)
            self._lists.pop()

        return end

    def _item(self, element: etree._Element) -> End:
        self._flush()
        if self._single:
            return self._flush
        if note := self._notes.definition(element):
            return self._note(note)
        state = self._lists[-1] if self._lists else None
        if state is None:
            state = self._blocks.begin_list(is_ordered=False, start=1)
        if not self._blocks.begin_item(state, _number(element.get("value")) if state.is_ordered else None):
            return self._flush
        if (box := _task_box(element)) is not None:
            self._blocks.push(box, "", is_item=True)
        blocks = self._blocks

        def end() -> None:
            self._flush()
            if box is not None:
                blocks.pop()
            blocks.end_item(state)

        return end

    def _note(self, label: str) -> End:
        if not self._blocks.push(f"[^{label}]: ", "    "):
            return self._flush
        return self._end_container

    def _term(self, element: etree._Element) -> End:
        self._flush()
        self._single += 1

        def end() -> None:
            if text := self._take_single():
                self._blocks.emit(text)
                self._blocks.follow_tightly()

        return end

    def _definition(self, element: etree._Element) -> End:
        self._flush()
        if self._single or not self._blocks.push(": ", "  "):
            return self._flush
        return self._end_definition

    def _end_definition(self) -> None:
        self._flush()
        self._blocks.pop()

    def _summary(self, element: etree._Element) -> End:
        self._flush()
        mark = self._line.open("**", "**")
        self._single += 1

        def end() -> None:
            self._line.close(mark)
            if text := self._take_single():
                self._blocks.emit(text)

        return end

    def _caption(self, element: etree._Element) -> End:
        if element.tag == "caption" and self._tables:
            self._line = Line()
        else:
            self._flush()
        mark = self._line.open("*", "*")
        self._single += 1

        def end() -> None:
            self._line.close(mark)
            text = self._take_single()
            if element.tag == "caption" and self._tables and not self._flat_tables:
                self._tables[-1][0].caption = text
            elif text:
                self._blocks.emit(text)

        return end

    def _rule(self, element: etree._Element) -> End:
        self._flush()
        if not self._single and not self._tables:
            # Behind a bullet, dashes or stars would make the bullet part of the rule.
            self._blocks.emit("___" if self._blocks.depth else "---", "rule")
        return None

    def _pre(self, element: etree._Element) -> End:
        self._flush()
        language, code = code_of(element)
        if not code.strip():
            return _TAKEN
        if self._single:
            self._line.raw(code_span(SPACES.sub(" ", code).strip()))
        elif self._tables:
            for row in filter(None, map(str.strip, code.split("\n"))):
                self._blocks.emit(code_span(row))
        else:
            fence = fence_for(code)
            self._blocks.emit(f"{fence}{language}\n{code}\n{fence}", "code")
        return _TAKEN

    def _quotation(self, element: etree._Element) -> End:
        self._line.text("“")
        return lambda: self._line.text("”")

    def _reading(self, element: etree._Element) -> End:
        around = element.getparent()
        if around is not None and (around.tag == "rp" or around.find("rp") is not None):
            return None  # The page brings the brackets.
        self._line.text("(")
        return lambda: self._line.text(")")

    def _abbreviation(self, element: etree._Element) -> End:
        title = SPACES.sub(" ", element.get("title") or "").strip()
        words = SPACES.sub(" ", "".join(element.itertext())).strip()
        if not title or title.casefold() == words.casefold() or (words, title) in self._explained:
            return None
        self._explained.add((words, title))
        return lambda: self._line.text(f" ({title})")

    def _shifted(self, element: etree._Element) -> End:
        """`x²`, `H₂O`, `1st`; other words as `^(…)` and `_(…)`; links in it, such as footnotes, as they are."""
        if len(element):
            return None
        words = SPACES.sub(" ", element.text or "").strip()
        letters = _RAISED if element.tag == "sup" else _LOWERED
        if words and all(letter in letters for letter in words):
            self._line.text("".join(letters[letter] for letter in words))
            return _TAKEN
        if not words or (element.tag == "sup" and _ORDINAL.match(words)):
            return None
        self._line.raw(f"{'^' if element.tag == 'sup' else '_'}({escape_text(words)})")
        return _TAKEN

    def _math(self, element: etree._Element) -> End:
        tex = element.get("alttext") or ""
        if not tex:
            found = element.find(".//{*}annotation")
            tex = (found.text or "") if found is not None else ""
        tex = SPACES.sub(" ", tex).strip()
        if not tex:
            self._line.text(SPACES.sub(" ", "".join(element.itertext())) or " ")
        elif element.get("display") == "block" and not self._single and not self._tables:
            self._flush()
            self._blocks.emit(f"$${tex}$$")
        else:
            self._line.raw(f"${tex}$")
        return _TAKEN

    def _table(self, element: etree._Element) -> End:
        self._flush()
        if self._single or self._tables or is_layout(element):
            self._flat_tables += 1
            return self._end_flat_table
        table = Table()
        self._tables.append((table, self._blocks, self._line, self._lists))
        # What stands between rows, which no cell holds, comes before the table.
        self._blocks, self._line, self._lists = Blocks(), Line(), []

        def end() -> None:
            self._flush()
            stray = self._blocks.out
            _, self._blocks, self._line, self._lists = self._tables.pop()
            for block in stray:
                self._blocks.emit(block.text)
            text = table.to_markdown()
            if table.caption:
                self._blocks.emit(table.caption)
            if text:
                self._blocks.emit(text, "table")

        return end

    def _end_flat_table(self) -> None:
        self._flush()
        self._flat_tables -= 1

    def _table_head(self, element: etree._Element) -> End:
        self._flush()
        if not self._tables or self._flat_tables:
            return self._flush
        table = self._tables[-1][0]

        def end() -> None:
            if not table.head_rows:
                table.head_rows = sum(1 for row in table.rows if any(cell.text for cell in row))

        return end

    def _row(self, element: etree._Element) -> End:
        self._flush()
        if self._tables and not self._flat_tables:
            self._tables[-1][0].rows.append([])
        return self._flush

    def _cell(self, element: etree._Element) -> End:
        if not self._tables or self._flat_tables:
            if self._tables or self._single:
                self._line.space()
                return self._line.space
            self._flush()
            return _TAKEN if re.search(r"\b(?:line-?num|linenos?|gutter)", element.get("class") or "") else self._flush
        table = self._tables[-1][0]
        if not table.rows:
            table.rows.append([])
        outside = (self._blocks, self._line, self._lists)
        self._blocks, self._line, self._lists = Blocks(), Line(), []
        self._line.break_text = "<br>"

        def end() -> None:
            self._flush()
            text = "<br>".join(block.text for block in self._blocks.out).replace("\n", "<br>").replace("|", "\\|")
            self._blocks, self._line, self._lists = outside
            is_bold = text.startswith("**") and text.endswith("**") and text.count("**") == 2
            is_header = element.tag == "th"
            cell = Cell(text, is_header, is_bold, span_of(element, "colspan"), span_of(element, "rowspan"))
            table.rows[-1].append(cell)

        return end


def _taken() -> None:
    """What a handler returns that has written the whole element itself."""


_TAKEN: End = _taken


def code_of(pre: etree._Element) -> tuple[str, str]:
    """Language and text of a code block: line breaks kept, the buttons and line numbers of highlighters left out."""
    language = ""
    parts: list[str] = []
    skipped: etree._Element | None = None
    walker: Any = etree.iterwalk(pre, events=("start", "end"))
    for event, element in walker:
        if event == "start":
            classes = element.get("class") or ""
            tag = element.tag
            if (
                not isinstance(tag, str)
                or tag in ("script", "style", "button", "svg")
                or (tag != "pre" and re.search(r"\b(?:line-?numbers?-rows|linenos?|lineno|gutter|blob-num)\b", classes))
            ):
                skipped = element
                walker.skip_subtree()
                continue
            language = language or language_of(classes) or (element.get("data-lang") or "").strip().lower()
            if tag == "br" or (tag in ("div", "p", "li", "tr") and parts and not parts[-1].endswith("\n")):
                parts.append("\n")
            if element.text:
                parts.append(element.text)
        elif element is not pre and element.tail:
            parts.append(element.tail)
        if event == "end" and element is skipped:
            skipped = None
    around = pre.getparent()
    for _ in range(2):
        if language or around is None:
            break
        language = language_of(around.get("class") or "")
        around = around.getparent()
    code = "".join(parts).replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"[^\w+#.-]", "", language), code.removeprefix("\n").rstrip()


def _number(text: str | None) -> int | None:
    found = re.fullmatch(r"\s*(-?\d{1,9})\s*", text or "", re.ASCII)
    return int(found[1]) if found else None


def _task_box(item: etree._Element) -> str | None:
    """`[x] ` where the item begins with a checkbox."""
    at = item
    for _ in range(3):
        if (at.text and at.text.strip()) or not len(at):
            return None
        at = at[0]
        if at.tag == "input":
            is_box = (at.get("type") or "").lower() == "checkbox"
            return ("[x] " if at.get("checked") is not None else "[ ] ") if is_box else None
        if at.tag not in ("label", "p", "span", "div"):
            return None
    return None

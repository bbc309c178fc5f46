"""Block content: paragraphs, headings, quotes, code, captions, rules, footnotes."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from bridge.reading.markdown.escape import code_span, escape_heading_end, fence_for, language_of
from bridge.reading.markdown.inline import InlineLine
from bridge.reading.markdown.writer import TAKEN, End, Handler, Writer
from bridge.reading.words import SPACES, heading_words, without_anchor_sign

_BLOCKS = (
    "html body div p section article main header footer nav aside address center form fieldset legend figure hgroup "
    "details dl search tbody tfoot option optgroup"
).split()
_IN_HEADING_BLOCKS = frozenset("p ul ol table h1 h2 h3 h4 h5 h6 blockquote pre section article".split())
_NO_CODE = frozenset(["script", "style", "button", "svg"])
_LINE_NUMBERS = re.compile(r"\b(?:line-?numbers?-rows|linenos?|lineno|gutter|blob-num)\b")
_NOT_IN_A_LANGUAGE = re.compile(r"[^\w+#.-]")


def _block(writer: Writer, element: etree._Element) -> End:
    writer.flush()
    label = writer.notes.definition(element)
    return note(writer, label) if label and not writer.single else writer.flush


def note(writer: Writer, label: str) -> End:
    """A footnote's text."""
    return writer.end_container if writer.blocks.push(f"[^{label}]: ", "    ") else writer.flush


def _heading(writer: Writer, element: etree._Element) -> End:
    writer.flush()
    if writer.single or any(child.tag in _IN_HEADING_BLOCKS for child in element):
        return writer.flush
    level = int(str(element.tag)[1])
    writer.single += 1

    def end() -> None:
        text = without_anchor_sign(writer.take_single())
        if not text:
            return
        if writer.tables:
            writer.blocks.emit(text if text.startswith("**") else f"**{text}**")
            return
        words = heading_words(element)
        child = element.find(".//*[@id]") if len(element) else None
        anchor = element.get("id") or (child.get("id") if child is not None else "") or ""
        text = f"{'#' * level} {escape_heading_end(text)}"
        writer.blocks.emit(text, "heading", level=level, title=words, anchor=anchor)

    return end


def _quote(writer: Writer, _element: etree._Element) -> End:
    writer.flush()
    if writer.single or not writer.blocks.push("> ", "> "):
        return writer.flush
    return writer.end_container


def _summary(writer: Writer, _element: etree._Element) -> End:
    writer.flush()
    mark = writer.line.open("**", "**")
    writer.single += 1

    def end() -> None:
        writer.line.close(mark)
        if text := writer.take_single():
            writer.blocks.emit(text)

    return end


def _caption(writer: Writer, element: etree._Element) -> End:
    is_tables = element.tag == "caption" and bool(writer.tables)
    if is_tables:
        writer.line = InlineLine()
    else:
        writer.flush()
    mark = writer.line.open("*", "*")
    writer.single += 1

    def end() -> None:
        writer.line.close(mark)
        text = writer.take_single()
        if is_tables and not writer.flat_tables:
            writer.tables[-1][0].caption = text
        elif text:
            writer.blocks.emit(text)

    return end


def _rule(writer: Writer, _element: etree._Element) -> End:
    writer.flush()
    if not writer.single and not writer.tables:
        # Behind a bullet, dashes or stars would make the bullet part of the rule.
        writer.blocks.emit("___" if writer.blocks.depth else "---", "rule")
    return None


def _pre(writer: Writer, element: etree._Element) -> End:
    writer.flush()
    language, code = code_of(element)
    if not code.strip():
        return TAKEN
    if writer.single:
        writer.line.raw(code_span(SPACES.sub(" ", code).strip()))
    elif writer.tables:
        for row in filter(None, map(str.strip, code.split("\n"))):
            writer.blocks.emit(code_span(row))
    else:
        fence = fence_for(code)
        writer.blocks.emit(f"{fence}{language}\n{code}\n{fence}", "code")
    return TAKEN


def code_of(pre: etree._Element) -> tuple[str, str]:
    """Language and text of a code block: line breaks kept, the buttons and line numbers of highlighters left out."""
    language, code = _code_in(pre) if len(pre) else (_language(pre), pre.text or "")
    around = pre.getparent()
    for _ in range(2):
        if language or around is None:
            break
        language = language_of(around.get("class") or "")
        around = around.getparent()
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    return _NOT_IN_A_LANGUAGE.sub("", language), code.removeprefix("\n").rstrip()


def _code_in(pre: etree._Element) -> tuple[str, str]:
    language = ""
    parts: list[str] = []
    walker: Any = etree.iterwalk(pre, events=("start", "end"))
    for event, element in walker:
        if event == "end":
            if element is not pre and element.tail:
                parts.append(element.tail)
            continue
        tag = element.tag
        if tag in _NO_CODE or (tag != "pre" and _LINE_NUMBERS.search(element.get("class") or "")):
            walker.skip_subtree()
            continue
        language = language or _language(element)
        if tag == "br" or (tag in ("div", "p", "li", "tr") and parts and not parts[-1].endswith("\n")):
            parts.append("\n")
        if element.text:
            parts.append(element.text)
    return language, "".join(parts)


def _language(element: etree._Element) -> str:
    return language_of(element.get("class") or "") or (element.get("data-lang") or "").strip().lower()


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(_BLOCKS, _block),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _heading),
    **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), _pre),
    **dict.fromkeys(("figcaption", "caption"), _caption),
    "blockquote": _quote,
    "hr": _rule,
    "summary": _summary,
}

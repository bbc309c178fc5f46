"""Inline content: emphasis, code, links, images, and HTML elements without a Markdown form."""

from __future__ import annotations

import re

from lxml import etree

from bridge.reading.markdown.escape import escape_text
from bridge.reading.markdown.urls import picture_source
from bridge.reading.markdown.writer import TAKEN, End, Handler, Writer
from bridge.reading.words import SPACES, words_of

_EMPHASIS = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("i", "em", "cite", "dfn", "var"), "*"),
    **dict.fromkeys(("del", "s", "strike"), "~~"),
    "mark": "==",
}
_CODE = ("code", "kbd", "samp", "tt")
_RAISED = dict(zip("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", strict=True))
_LOWERED = dict(zip("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", strict=True))
_ORDINAL = re.compile(r"(?i)(?:st|nd|rd|th|er|re|e|ème|o|a|º|ª|TM|SM|®|©|™)\Z")
_HEADING_ANCHOR = re.compile(r"[#¶§🔗\s\ufeff\u200b]*\Z")
_FORMULA = re.compile(r"\b(?:math|tex|latex)")


def _spaced(writer: Writer, _element: etree._Element) -> End:
    writer.line.space()
    return writer.line.space


def _emphasis(writer: Writer, element: etree._Element) -> End:
    sign = _EMPHASIS[str(element.tag)]
    return writer.closing(writer.line.open(sign, sign))


def _code(writer: Writer, _element: etree._Element) -> End:
    writer.line.begin_code()
    return writer.line.end_code


def _break(writer: Writer, _element: etree._Element) -> End:
    if writer.single:
        writer.line.space()
    else:
        writer.line.line_break()
    return None


def _link(writer: Writer, element: etree._Element) -> End:
    href = element.get("href")
    if href is None:
        return None
    note = writer.notes.reference(element)
    if note is not None:
        if note:
            writer.line.raw(f"[^{note}]")
        return TAKEN
    if writer.single and _HEADING_ANCHOR.match(words_of(element)) and element.find(".//img") is None:
        return TAKEN
    if writer.style == "none":
        return None
    target = element.get("data-ref") if writer.style == "ref" else None
    target = target or writer.links.absolute(href)
    return writer.closing(writer.line.open("[", f"]({target})")) if target else None


def _picture(writer: Writer, element: etree._Element) -> End:
    alt = SPACES.sub(" ", element.get("alt") or "").strip()
    if alt and _FORMULA.search(element.get("class") or ""):
        writer.line.raw(f"${alt}$")
        return None
    source = picture_source(element)
    url = writer.links.absolute(source) if source and writer.style != "none" else ""
    if url:
        caption = SPACES.sub(" ", element.get("data-caption") or "").strip()
        title = ' "' + caption.replace("\\", "\\\\").replace('"', '\\"') + '"' if caption else ""
        writer.line.raw(f"![{escape_text(alt, in_link=True)}]({url}{title})")
    elif alt:
        writer.line.text(alt)
    return None


def _quotation(writer: Writer, _element: etree._Element) -> End:
    writer.line.text("“")
    return lambda: writer.line.text("”")


def _reading(writer: Writer, element: etree._Element) -> End:
    around = element.getparent()
    if around is not None and (around.tag == "rp" or around.find("rp") is not None):
        return None  # The page brings the brackets.
    writer.line.text("(")
    return lambda: writer.line.text(")")


def _abbreviation(writer: Writer, element: etree._Element) -> End:
    title = SPACES.sub(" ", element.get("title") or "").strip()
    words = words_of(element)
    if not title or title.casefold() == words.casefold() or (words, title) in writer.explained:
        return None
    writer.explained.add((words, title))
    return lambda: writer.line.text(f" ({title})")


def _shifted(writer: Writer, element: etree._Element) -> End:
    """`x²`, `H₂O`, `1st`; other words as `^(…)` and `_(…)`; links in it, such as footnotes, as they are."""
    if len(element):
        return None
    words = SPACES.sub(" ", element.text or "").strip()
    letters = _RAISED if element.tag == "sup" else _LOWERED
    if words and all(letter in letters for letter in words):
        writer.line.text("".join(letters[letter] for letter in words))
        return TAKEN
    if not words or (element.tag == "sup" and _ORDINAL.match(words)):
        return None
    writer.line.raw(f"{'^' if element.tag == 'sup' else '_'}({escape_text(words)})")
    return TAKEN


def _math(writer: Writer, element: etree._Element) -> End:
    tex = element.get("alttext") or ""
    if not tex:
        found = element.find(".//{*}annotation")
        tex = (found.text or "") if found is not None else ""
    tex = SPACES.sub(" ", tex).strip()
    if not tex:
        writer.line.text(SPACES.sub(" ", "".join(element.itertext())) or " ")
    elif element.get("display") == "block" and not writer.single and not writer.tables:
        writer.flush()
        writer.blocks.emit(f"$${tex}$$")
    else:
        writer.line.raw(f"${tex}$")
    return TAKEN


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(_EMPHASIS, _emphasis),
    **dict.fromkeys(_CODE, _code),
    **dict.fromkeys(("sub", "sup"), _shifted),
    **dict.fromkeys(("abbr", "acronym"), _abbreviation),
    "a": _link,
    "br": _break,
    "button": _spaced,
    "img": _picture,
    "math": _math,
    "q": _quotation,
    "rt": _reading,
}

"""HTML as strangers write it, as an lxml tree: any bytes, any depth, any size give a tree and never an exception."""

from __future__ import annotations

import codecs
import re

from lxml import etree

# libxml2 2.14 ends the document at 2,048 levels, even with XML_PARSE_HUGE (`htmlMaxDepth`, parserInternals.h): what
# follows would be lost without a word. Deeper documents are flattened to this many levels before it sees them.
MAX_DEPTH = 1_000

_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|textarea|title|xmp)\b[^>]*>.*?(?:</\1\s*>|\Z)|<(/?)([a-zA-Z][^\s/>]*)"
    r"[^>]*>",
    re.DOTALL | re.IGNORECASE,
)
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
# Their end tags may be left out: the same one again closes the one before.
_CLOSES_ITSELF = frozenset(
    ["p", "li", "dt", "dd", "tr", "td", "th", "option", "optgroup", "thead", "tbody", "tfoot", "rt", "rp"]
)
_LOOK_BACK = 30

_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([a-zA-Z0-9_:.-]{1,40})", re.IGNORECASE)
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# WHATWG Encoding §4.2: what pages call Latin-1 or ASCII is windows-1252.
_LABELS = {"iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252", "gb2312": "gb18030"}


def parse_html(html: str | bytes, *, charset: str | None = None) -> etree._Element:
    """The `html` element of a document; of an empty one, an `html` element with an empty `body`.

    Comments and processing instructions are left out.

    Args:
        charset: What the server said, for bytes.
    """
    text = decode_html(html, charset) if isinstance(html, bytes) else html
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    tree, is_whole = _parsed(text)
    if not is_whole:
        tree, _ = _parsed(_flattened(text))
    if tree is None:
        tree = etree.Element("html")
    if tree.tag != "html":
        root = etree.Element("html")
        etree.SubElement(root, "body").append(tree)
        return root
    if tree.find("body") is None and tree.find("frameset") is None:
        etree.SubElement(tree, "body")
    return tree


def decode_html(body: bytes, charset: str | None = None) -> str:
    """The text of a document: by its byte order mark, what the server said, its `meta`, else UTF-8, else windows-1252.

    Bytes that mean nothing become U+FFFD.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    declared = _CHARSET.search(body, 0, 4096)
    for label in (charset, declared[1].decode("ascii") if declared else None):
        if label and (codec := _codec(label)):
            # A meta element that was read as bytes cannot be in UTF-16 (HTML §13.2.3.2).
            return body.decode("utf-8" if codec.startswith("utf-16") and label is not charset else codec, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A stray byte in a long UTF-8 text, or a character cut at the end, does not make it another encoding.
        broken = body.decode("utf-8", "replace").count("\ufffd")
        is_utf8 = error.reason == "unexpected end of data" or broken * 20 < len(
            re.findall(rb"[\xc2-\xf4][\x80-\xbf]", body)
        )
        return body.decode("utf-8" if is_utf8 else "cp1252", "replace")


def _codec(label: str) -> str | None:
    name = _LABELS.get(label.strip().lower(), label.strip())
    try:
        found = codecs.lookup(name)
        return found.name if found._is_text_encoding else None
    except (LookupError, ValueError):
        return None


def _parsed(text: str) -> tuple[etree._Element | None, bool]:
    try:
        body = text.encode("utf-8")
    except UnicodeEncodeError:
        body = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        tree = etree.fromstring(body, parser)
    except etree.LxmlError:
        return None, not body.strip()
    depth_error = any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)
    return tree, not depth_error


def _flattened(text: str) -> str:
    """The document without the tags below `MAX_DEPTH` levels; their text stays."""
    out: list[str] = []
    is_open: list[str] = []
    end = 0
    # Behind the last ">" there is no tag; looking for one there would cost the square of what is left.
    for tag in _TAG.finditer(text, 0, text.rfind(">") + 1):
        out.append(text[end : tag.start()])
        end = tag.end()
        if not tag[3]:
            out.append(tag[0])
            continue
        name = tag[3].lower()
        if not tag[2]:
            if name in _VOID:
                out.append(tag[0])
                continue
            if is_open and is_open[-1] == name and name in _CLOSES_ITSELF:
                is_open.pop()
            is_open.append(name)
            out.append(tag[0] if len(is_open) <= MAX_DEPTH else " ")
            continue
        for back in range(1, min(len(is_open), _LOOK_BACK) + 1):
            if is_open[-back] == name:
                del is_open[-back:]
                break
        out.append(tag[0] if len(is_open) < MAX_DEPTH else " ")
    out.append(text[end:])
    return "".join(out)

"""HTML text as an lxml tree, whatever the text is. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from lxml import etree

from bridge.errors import UsageError

#: libxml2 2.14 drops everything that comes after 2,048 open elements (`htmlMaxDepth`); Chromium makes siblings of what
#: is deeper than 512 (HTML §13.2.6 allows a limit).
_MAX_DEPTH = 512
_EMPTY = b"<html><body></body></html>"
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)[^<>]*>|<!--(?:(?!-->).)*(?:-->)?", re.DOTALL)
#: The time that libxml2 takes for a tag grows with the square of its attributes: minutes for what fits into 1 MB.
_MAX_ATTRIBUTES = 200
# HTML §13.2.5 "Tokenization", as libxml2 2.14 has it. What begins is read to its end: no character is looked at twice.
_S = r"[ \t\n\f\r]"
# Without these no tag reaches far enough to hold too many: each attribute is a character and one that ends it, and only
# quotes take a tag beyond the next ">". Both are much faster than reading every tag.
_LONG_TAG = re.compile(rf"<[a-zA-Z/][^>]{{{2 * _MAX_ATTRIBUTES}}}")
_QUOTED_END = re.compile(rf"""={_S}*(?:"[^">]*>|'[^'>]*>)""")
_ATTRIBUTE = (
    rf"""(?:{_S}|/)*+[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+"""
    rf"""(?:{_S}*+={_S}*+(?:"[^"]*+"?|'[^']*+'?|[^ \t\n\f\r>"'][^ \t\n\f\r>]*+)?)?"""
)
_TOKEN = re.compile(
    rf"""<!--(?:-?>|.*?(?:--!?>|\Z))|<(?:[!?]|/(?![a-zA-Z]))[^>]*+"""
    rf"""|<(?P<end>/?)(?P<name>[a-zA-Z][^ \t\n\f\r/>]*+)"""
    rf"""(?P<some>(?:{_ATTRIBUTE}){{0,{_MAX_ATTRIBUTES}}}+)(?P<more>(?:{_ATTRIBUTE})*+)""",
    re.DOTALL,
)


def _tags(names: str) -> frozenset[str]:
    return frozenset(names.split())


#: HTML §13.1.2 "void elements"
END_TAGS_OMITTED = _tags("area base br col embed hr img input link meta param source track wbr")
_ENDED_BY_THE_NEXT = _tags("p li dt dd tr td th option optgroup thead tbody tfoot rt rp")
_HEAD_TAGS = _tags("base basefont bgsound link meta noframes noscript script style template title")
_RAW_TEXT = _tags("script style textarea title xmp")
_NO_TAGS_IN = {
    name: re.compile(rf"</{name}(?=[ \t\n\f\r/>])|\Z", re.IGNORECASE)
    for name in (*_RAW_TEXT, "iframe", "noembed", "noframes")
}

Element = etree._Element


def parse_html(html: str) -> Element:
    """The `html` element of a document or fragment, with a `body` in it; any text gives one.

    Comments and processing instructions are left out.

    libxml2 repairs what is malformed, but builds no HTML5 tree: tables get no implied `tbody`, and text between table
    parts stays where it stands.
    """
    # A NUL ends the document for some versions of libxml2; HTML §13.2.5 has U+FFFD in its place.
    text = html.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in html else html
    text = _with_few_attributes(text)
    root, is_whole = _parsed(text)
    if not is_whole:
        root, _ = _parsed(_flattened(text))
    if root is not None and root.tag == "html":
        _end_head(root)
        if root.find("body") is None and root.find("frameset") is None:
            etree.SubElement(root, "body")
        return root
    shell = etree.fromstring(_EMPTY, etree.HTMLParser())
    if root is not None:
        shell[0].append(root)
    return shell


def _end_head(root: Element) -> None:
    """Moves into the body what libxml2 leaves in a head that nothing closes (HTML §13.2.6.4.4, "anything else")."""
    head = root.find("head")
    if head is None:
        return
    first = next(
        (at for at, child in enumerate(head) if child.tag not in _HEAD_TAGS or (child.tail and child.tail.strip())),
        None,
    )
    if first is None:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    stays = head[first].tag in _HEAD_TAGS
    moved = head[first + stays :]
    body.text, text = (f"{head[first].tail or ''}{body.text or ''}" if stays else body.text), body.text
    if stays:
        head[first].tail = None
    elif moved and text:
        moved[-1].tail, body.text = f"{moved[-1].tail or ''}{text}", None
    for index, element in enumerate(moved):
        body.insert(index, element)


def compiled_selector(selector: str) -> Callable[[Element], list[Element]]:
    """A function that finds what a CSS selector means.

    Raises:
        UsageError: The selector is not valid, or only a browser can evaluate it.
    """
    import cssselect
    from lxml.cssselect import CSSSelector

    try:
        return CSSSelector(selector, translator="html")
    except (cssselect.SelectorError, etree.XPathError) as error:
        raise UsageError(f"{selector[:200]!r} is not a valid CSS selector without a browser: {error}.") from error


def select_first(root: Element, selector: str) -> Element | None:
    """The first element that a CSS selector finds; raises what `compiled_selector` does."""
    found = compiled_selector(selector)(root)
    return found[0] if found else None


def _parsed(text: str) -> tuple[Element | None, bool]:
    """The tree, and whether all of the document is in it."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        body = text.encode("utf-8")
    except UnicodeEncodeError:  # surrogates: pairs are one character, a lone one is none
        body = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")
    try:
        root = etree.fromstring(body, parser)
    except etree.LxmlError:  # it has no element
        return None, True
    return root, not any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)


def _with_few_attributes(text: str) -> str:
    """The document without what a tag has behind its first `_MAX_ATTRIBUTES`; in time proportional to its length."""
    if "<!--" not in text and not _LONG_TAG.search(text) and not _QUOTED_END.search(text):
        return text
    kept: list[str] = []
    at = read_to = 0
    while (token := _TOKEN.search(text, read_to)) is not None:
        read_to = token.end()
        if token["more"]:
            kept.append(text[at : token.end("some")])
            at = read_to
        ends = _NO_TAGS_IN.get((token["name"] or "").lower()) if not token["end"] else None
        if ends is None:
            continue
        end = ends.search(text, read_to)
        assert end is not None, "the text has an end"
        if "<!--" in (inside := text[read_to : end.start()]):
            # §13.2.5.20 "script data escaped": another script in such a comment would put the end elsewhere.
            kept += (text[at:read_to], inside.replace("<!--", "<! --"))
            at = end.start()
        read_to = end.start()
    kept.append(text[at:])
    return "".join(kept) if at else text


def _flattened(text: str) -> str:
    """The document with what stands deeper than `_MAX_DEPTH` side by side at that depth."""
    kept: list[str] = []
    open_tags: list[str] = []
    at = 0
    raw = leaf = ""  # the text-only element, and the one at the greatest depth, that are open
    for tag in _TAG.finditer(text):
        closes, name = tag[1], (tag[2] or "").lower()
        if raw and not (closes and name == raw):
            continue
        raw = ""
        if not name or name in END_TAGS_OMITTED:
            continue
        instead = tag[0]
        if closes:
            # An end tag closes what is open nearby; of one that closes nothing, nothing is lost.
            back = next((back for back, one in enumerate(reversed(open_tags[-20:]), 1) if one == name), 0)
            was_deep = len(open_tags) > _MAX_DEPTH
            if back:
                del open_tags[-back:]
            if was_deep and len(open_tags) >= _MAX_DEPTH:
                instead, leaf = ("", leaf) if name != leaf else (tag[0], "")
            elif was_deep and leaf:
                instead, leaf = f"</{leaf}>{tag[0]}", ""
        else:
            if open_tags and open_tags[-1] == name and name in _ENDED_BY_THE_NEXT:
                open_tags.pop()
            open_tags.append(name)
            raw = name if name in _RAW_TEXT else ""
            if len(open_tags) > _MAX_DEPTH:
                instead, leaf = f"</{leaf}>{tag[0]}" if leaf else tag[0], name
        if instead != tag[0]:
            kept += (text[at : tag.start()], instead)
            at = tag.end()
    kept.append(text[at:])
    return "".join(kept)

"""HTML text as an lxml tree, whatever the text is. Pure."""

from __future__ import annotations

from lxml import etree

from bridge.errors import UsageError

#: More of a document is not looked at.
MAX_HTML_CHARS = 5_000_000
_EMPTY = b"<html><body></body></html>"

Element = etree._Element


def parse_html(html: str) -> Element:
    """The `html` element of a document or fragment; comments and processing instructions are left out.

    libxml2 repairs what is malformed, but builds no HTML5 tree: tables get no implied `tbody`, and text between table
    parts stays where it stands.
    """
    # A NUL ends the document for some versions of libxml2; HTML §13.2.5 has U+FFFD in its place.
    text = html[:MAX_HTML_CHARS].replace("\0", "\N{REPLACEMENT CHARACTER}")
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, no_network=True, recover=True
    )
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:  # nothing in it that could be repaired
        root = None
    if root is None:
        root = etree.fromstring(_EMPTY, parser)
    if root.tag != "html":
        shell = etree.fromstring(_EMPTY, parser)
        shell[0].append(root)
        return shell
    return root


def select_first(root: Element, selector: str) -> Element | None:
    """The first element that a CSS selector finds.

    Raises:
        UsageError: It is no selector, or one that only a browser can answer.
    """
    from lxml import cssselect

    try:
        found = cssselect.CSSSelector(selector, translator="html")(root)
    except (cssselect.SelectorError, etree.XPathError) as error:
        raise UsageError(f"{selector[:200]!r} is no CSS selector that can be used here: {error}.") from error
    return found[0] if found else None

"""HTML as strangers write it, as an lxml tree: any bytes, any depth, any size give a tree and never an exception."""

from __future__ import annotations

import re

from lxml import etree

from bridge.reading.charset import decode_text
from bridge.snapshot.plain_html.parse import parse_html as parse_text

# libxml2 ends these where a paragraph begins in them, which HTML does not (HTMLparser.c, htmlStartClose): the paragraph
# would not be bold. Under names that it does not know it leaves them open.
_ENDED = "b|big|i|s|small|tt|u"
_HOLDS_PARAGRAPHS = re.compile(rf"<(?i:{_ENDED})(?:\s[^<>]*)?>[^<]*<[pP][\s>]")
_ENDED_TAG = re.compile(rf"<(/?)({_ENDED})(?=[\s/>])", re.IGNORECASE)
_UNKNOWN = "still-"
# They say where a word may break at the end of a line: nobody sees them, and a search for the word fails on them.
_SOFT_HYPHEN = re.compile(r"\u00ad|&(?:shy|#0*173|#[xX]0*[aA][dD]);")


def parse_html(html: str | bytes, *, charset: str | None = None) -> etree._Element:
    """The `html` element of a document; of an empty one, an `html` element with an empty `body`.

    Comments, processing instructions and soft hyphens are left out. What is deeper than 512 levels stands side by side
    there.

    Args:
        charset: What the server said, for bytes.
    """
    text = decode_text(html, header=charset or "", markup=True).text if isinstance(html, bytes) else html
    text = _SOFT_HYPHEN.sub("", text)
    if not _HOLDS_PARAGRAPHS.search(text):
        return parse_text(text)
    tree = parse_text(_ENDED_TAG.sub(rf"<\1{_UNKNOWN}\2", text))
    for element in tree.iter(*(f"{_UNKNOWN}{name}" for name in _ENDED.split("|"))):
        element.tag = str(element.tag).removeprefix(_UNKNOWN)
    return tree

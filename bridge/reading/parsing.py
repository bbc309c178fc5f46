"""HTML as strangers write it, as an lxml tree: any bytes, any depth, any size give a tree and never an exception."""

from __future__ import annotations

from lxml import etree

from bridge.reading.charset import decode_text
from bridge.snapshot.html_parse import parse_html as parse_text


def parse_html(html: str | bytes, *, charset: str | None = None) -> etree._Element:
    """The `html` element of a document; of an empty one, an `html` element with an empty `body`.

    Comments and processing instructions are left out. What is deeper than 512 levels stands side by side there.

    Args:
        charset: What the server said, for bytes.
    """
    return parse_text(decode_text(html, header=charset or "", markup=True).text if isinstance(html, bytes) else html)

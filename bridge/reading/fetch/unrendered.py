"""The text of an HTML page that shows none without being rendered: its metadata, never its source. Pure."""

from __future__ import annotations

from lxml import etree

from bridge.reading.main_content.extract import CONTROLS
from bridge.reading.markdown.blocks import Block
from bridge.reading.markdown.convert import LinkStyle, to_blocks
from bridge.reading.metadata import PageFacts
from bridge.reading.structured import linked_objects
from bridge.snapshot.plain_html.parse import Element, parse_html

_MOST_OBJECTS = 50
_MOST_CHARS = 20_000
# What schema.org has for texts that people read.
_TEXTS = ("headline", "name", "description", "abstract", "text", "articleBody", "reviewBody")


def unrendered_blocks(
    root: Element, facts: PageFacts, *, base_url: str, links: LinkStyle, title: str = ""
) -> list[Block]:
    """Title, description, `noscript` and the texts of structured data, each said once."""
    page = parse_html("")
    body = page.find("body")
    assert body is not None, "parse_html always makes a body"
    if facts.description:
        _add_paragraph(body, facts.description)
    body.extend([_moved(element) for element in list(root.iter("noscript"))])
    said = {title, facts.title, facts.description}
    for item in list(linked_objects(root))[:_MOST_OBJECTS]:
        for name in _TEXTS:
            value = item.get(name)
            words = " ".join(value.split())[:_MOST_CHARS] if isinstance(value, str) else ""
            if words and words not in said:
                said.add(words)
                for line in str(value)[:_MOST_CHARS].splitlines():
                    _add_paragraph(body, " ".join(line.split()))
    return to_blocks(page, base_url=base_url, links=links, title=title or facts.title)


def _moved(noscript: Element) -> Element:
    """The content of a `noscript` element in an element that is rendered."""
    noscript.tag, noscript.tail = "div", None
    noscript.attrib.clear()
    return noscript


def _add_paragraph(body: Element, words: str) -> None:
    paragraph = etree.SubElement(body, "p")
    paragraph.text = CONTROLS.sub("", words)

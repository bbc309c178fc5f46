"""Turns the HTML that a rendered page sent into blocks of Markdown. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from bridge.reading.main_content import Kind, Mode, main_content
from bridge.reading.markdown import LinkStyle, to_blocks
from bridge.reading.markdown.blocks import Block
from bridge.reading.metadata import PageFacts, page_facts
from bridge.reading.parsing import parse_html


@dataclass(frozen=True, slots=True)
class Rendering:
    """The options of reading a page.

    Attributes:
        title: The page's own, for a text that says none.
        has_title: The text begins with its title.
        link_mark: With the style `ref`: what stands in the text instead of a ref, before the number of the link. The
            page must not know it.
        link_numbers: The links that have refs.
    """

    url: str
    mode: Mode
    links: LinkStyle
    title: str = ""
    has_title: bool = True
    comments: bool = False
    metadata: bool = False
    link_mark: str = ""
    link_numbers: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Rendered:
    """The facts about a text besides its blocks."""

    title: str
    kind: Kind
    facts: PageFacts | None = None


def rendered_text(html: str, how: Rendering) -> tuple[Rendered, list[Block]]:
    """The text of a page."""
    tree = parse_html(html)
    facts = page_facts(tree, how.url) if how.metadata else None
    # The article in the structured data may say what the page does not show.
    for script in list(tree.iter("script")):
        script.clear(keep_tail=True)
    for link in tree.iter("a"):
        if (number := link.get("data-ref")) is None:
            continue
        if number.isascii() and number.isdigit() and len(number) < 10 and int(number) in how.link_numbers:
            link.set("data-ref", f"{how.link_mark}{int(number)}")
        else:
            del link.attrib["data-ref"]
    found = main_content(tree, mode=how.mode, comments=how.comments)
    title = found.title or how.title
    blocks = to_blocks(found.tree, base_url=how.url, links=how.links, title=title if how.has_title else "")
    if found.comments is not None:
        blocks += to_blocks(found.comments, base_url=how.url, links=how.links, title="Comments")
    return Rendered(title, found.kind, facts), blocks


def with_refs(blocks: list[Block], link_mark: str, ref_of: Callable[[int], str]) -> list[Block]:
    """The blocks with refs in the places of marks."""
    mark = re.compile(rf"{re.escape(link_mark)}(\d+)")
    return [replace(block, text=mark.sub(lambda found: ref_of(int(found[1])), block.text)) for block in blocks]

"""HTML to Markdown: one walk over the tree, no recursion, time in proportion to the text.

    to_markdown("<h1>Tea</h1><p>Green <b>and</b> black")     # '# Tea\n\nGreen **and** black'

The dialect is CommonMark 0.31 with GFM's tables, task lists and strikethrough, `[^1]` footnotes, `$…$` mathematics,
`==…==` for marked text and `: ` before definitions.
"""

from __future__ import annotations

import re

from lxml import etree

from bridge.errors import UsageError
from bridge.reading.markdown import write_blocks, write_inline, write_lists, write_tables
from bridge.reading.markdown.blocks import Block
from bridge.reading.markdown.document import outline_blocks, truncated
from bridge.reading.markdown.document import section as section_of
from bridge.reading.markdown.escape import escape_heading_end, escape_text
from bridge.reading.markdown.writer import LinkStyle, Writer, skipped
from bridge.reading.parsing import parse_html
from bridge.reading.words import SPACES

__all__ = ["LinkStyle", "to_blocks", "to_markdown"]

_SAY_NOTHING = (
    "script style noscript template head svg iframe object embed canvas audio video map select textarea datalist "
    "frameset noframes dialog"
).split()
_HANDLERS = {
    **dict.fromkeys(_SAY_NOTHING, skipped),
    **write_blocks.HANDLERS,
    **write_inline.HANDLERS,
    **write_lists.HANDLERS,
    **write_tables.HANDLERS,
}


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
        raise UsageError(f"links={links!r}", hint='Use "inline", "ref" or "none".')
    tree = parse_html(html) if isinstance(html, str | bytes) else html
    writer = Writer(tree, base_url, links, _HANDLERS)
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

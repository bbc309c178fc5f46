"""A response as the text that is handed out. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

from bridge.errors import FetchFailed, UsageError
from bridge.reading.charset import decode_text
from bridge.reading.fetch.http import Response
from bridge.reading.fetch.page import PageFacts, base_url_of, is_empty_shell, next_page_url, page_facts, title_of
from bridge.reading.fetch.unseen import remove_unseen
from bridge.reading.main_content import main_content
from bridge.reading.markdown.blocks import Block
from bridge.reading.markdown.convert import to_blocks
from bridge.reading.markdown.document import joined, outline, truncated
from bridge.reading.markdown.escape import escape_text
from bridge.reading.media_type import kind_of_body
from bridge.snapshot.plain_html.dom import strip
from bridge.snapshot.plain_html.parse import compiled_selector, parse_html, select_first

Mode = Literal["main_content", "article", "raw"]
Links = Literal["inline", "none"]
#: What is looked at behind the limit of a text that is cut.
_BEHIND_CHARS = 4_000
# Declarations in a DOCTYPE (XML 1.0 §2.8), of which HTML, where it ends at the first `>`, takes the rest for text.
_INTERNAL_SUBSET = re.compile(r"\A([^<]*(?:<\?[^>]*>[^<]*)?<!DOCTYPE[^\[>]*)\[[^\]]*\]")


@dataclass(frozen=True)
class Heading:
    """`anchor` is the id to put behind the `#`, "" where the page gives none."""

    level: int
    text: str
    anchor: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Wanted:
    """The part of a page that is requested, and its form."""

    selector: str | None = None
    links: Links = "inline"
    mode: Mode = "main_content"

    def check(self) -> None:
        """Raises UsageError for what could not be given of any page."""
        for name, value, known in (("links", self.links, get_args(Links)), ("mode", self.mode, get_args(Mode))):
            if value not in known:
                raise UsageError(f"{name} is {value!r}; it must be {' or '.join(map(repr, known))}.")
        if self.selector is not None:
            compiled_selector(self.selector)


@dataclass(frozen=True)
class FetchedText:
    """One page as blocks of text, with its metadata; `kind` is `text` if the page is not HTML."""

    blocks: list[Block]
    kind: str
    content_type: str
    charset: str
    charset_source: str
    title: str = ""
    facts: PageFacts = field(default_factory=PageFacts)
    next_url: str = ""
    is_shell: bool = False
    hidden_text_removed: int = 0

    @property
    def headings(self) -> tuple[Heading, ...]:
        return tuple(
            Heading(block.level, block.title, block.anchor) for block in self.blocks if block.kind == "heading"
        )


def page_text(response: Response, wanted: Wanted) -> FetchedText:
    """The text of a response whose body is not binary.

    Raises:
        FetchFailed: Nothing matches the selector.
        UsageError: The selector is not valid.
    """
    body_kind, content_type = kind_of_body(response.content_type, response.body)
    markup = body_kind == "html" or content_type.endswith("xml")
    decoded = decode_text(response.body, header=response.charset_label, markup=markup)
    source = [Block("", decoded.text.strip(), "text")]
    page = FetchedText(source, "text", content_type, decoded.charset, decoded.source)
    if body_kind != "html":
        return page
    source_text = _INTERNAL_SUBSET.sub(r"\1", decoded.text) if "xhtml" in content_type else decoded.text
    root = parse_html(source_text)
    hidden = remove_unseen(root)
    base_url = base_url_of(root, response.url)
    page = replace(
        page,
        title=title_of(root),
        facts=page_facts(root, response.url),
        next_url=next_page_url(root, base_url),
        is_shell=is_empty_shell(root),
        hidden_text_removed=hidden,
    )
    kind: str
    if wanted.selector is not None:
        part = select_first(root, wanted.selector)
        if part is None:
            raise FetchFailed(
                f"nothing on {response.url} matches the selector {wanted.selector[:200]!r}.", url=response.url
            )
        kind = "page"
        blocks = to_blocks(part, base_url=base_url, links=wanted.links)
    else:
        content = main_content(root, mode=wanted.mode)
        title = content.title or page.title
        kind = content.kind
        blocks = to_blocks(content.tree, base_url=base_url, links=wanted.links, title=title)
        if not _says_more(blocks, title) and wanted.mode != "raw":
            root = parse_html(source_text)
            remove_unseen(root)
            whole = main_content(root, mode="raw")
            kind = whole.kind
            blocks = to_blocks(whole.tree, base_url=base_url, links=wanted.links, title=title)
    # The source, rather than nothing: it shows the reader why the page has no text.
    return replace(page, blocks=blocks, kind=kind) if joined(blocks).strip() else page


def _says_more(blocks: list[Block], title: str) -> bool:
    return any(block.text.strip("# \n") != title for block in blocks)


def shown_text(
    pages: Sequence[list[Block]], max_length: int, *, summary: str = "", only_outline: bool = False
) -> tuple[str, bool]:
    """The pages as one text, and whether it was cut."""
    blocks: list[Block] = [Block("", f"> {escape_text(summary)}", "text")] if summary else []
    for page in pages:
        for index, block in enumerate(page):
            text = block.text
            if 0 < max_length < len(text) - _BEHIND_CHARS and block.kind == "text":
                text = text[: max_length + _BEHIND_CHARS]
            gap = "\n\n" if index == 0 and blocks else block.gap
            blocks.append(replace(block, gap=gap, text=strip(text)))
    if only_outline:
        blocks = [Block("", outline(blocks), "text")]
    return truncated(blocks, max_length)

"""A response as the text that is handed out. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from bridge.errors import FetchFailed, UsageError
from bridge.json_record import JsonRecord
from bridge.reading.charset import decode_text
from bridge.reading.fetch.page import base_url_of, is_empty_shell, next_page_url
from bridge.reading.fetch.response import FetchedResponse
from bridge.reading.fetch.unrendered import unrendered_blocks
from bridge.reading.fetch.unseen import remove_unseen
from bridge.reading.main_content import main_content
from bridge.reading.markdown.blocks import Block
from bridge.reading.markdown.convert import to_blocks
from bridge.reading.markdown.document import joined, outline, truncated
from bridge.reading.markdown.document import section as section_of
from bridge.reading.markdown.escape import escape_text
from bridge.reading.media_type import kind_of_body
from bridge.reading.metadata import PageFacts, head_title, page_facts
from bridge.snapshot.plain_html.dom import strip
from bridge.snapshot.plain_html.parse import compiled_selector, parse_html, select_first

Mode = Literal["main_content", "article", "raw"]
Links = Literal["inline", "none"]
#: What is looked at behind the limit of a text that is cut.
_BEHIND_CHARS = 4_000
# Declarations in a DOCTYPE (XML 1.0 §2.8), of which HTML, where it ends at the first `>`, takes the rest for text.
_INTERNAL_SUBSET = re.compile(r"\A([^<]*(?:<\?[^>]*>[^<]*)?<!DOCTYPE[^\[>]*)\[[^\]]*\]")


@dataclass(frozen=True)
class Heading(JsonRecord):
    """`anchor` is the id to put behind the `#`, "" where the page gives none."""

    level: int
    text: str
    anchor: str


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
    """One page as blocks of text, with its metadata; `kind` is `text` if the page is not HTML.

    Attributes:
        is_shell: The page has almost no text of its own, and scripts that would draw it.
        is_silent: There is no text at all beyond a title.
    """

    blocks: list[Block]
    kind: str
    content_type: str
    charset: str
    charset_source: str
    title: str = ""
    facts: PageFacts = field(default_factory=PageFacts)
    next_url: str = ""
    is_shell: bool = False
    is_silent: bool = False
    hidden_text_removed: int = 0

    @property
    def headings(self) -> tuple[Heading, ...]:
        return tuple(
            Heading(block.level, block.title, block.anchor) for block in self.blocks if block.kind == "heading"
        )


def page_text(response: FetchedResponse, wanted: Wanted) -> FetchedText:
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
    return html_text(source_text, response.url, wanted, page)


def text_of_body(body: bytes, response: FetchedResponse, wanted: Wanted) -> tuple[FetchedText, list[Block]]:
    """`page_text` of a response with that body, for `read_document`."""
    page = page_text(replace(response, body=body), wanted)
    return replace(page, blocks=[]), page.blocks


def html_text(source_text: str, url: str, wanted: Wanted, page: FetchedText) -> FetchedText:
    """The text of an HTML document; `page` has what is known of its bytes.

    Raises:
        FetchFailed: Nothing matches the selector.
        UsageError: The selector is not valid.
    """
    root = parse_html(source_text)
    hidden = remove_unseen(root)
    base_url = base_url_of(root, url)
    page = replace(
        page,
        title=head_title(root),
        facts=page_facts(root, url),
        next_url=next_page_url(root, base_url),
        is_shell=is_empty_shell(root),
        hidden_text_removed=hidden,
    )
    if wanted.selector is not None:
        part = select_first(root, wanted.selector)
        if part is None:
            raise FetchFailed(
                f"nothing on {url or 'the page'} matches the selector {wanted.selector[:200]!r}.", url=url
            )
        blocks = to_blocks(part, base_url=base_url, links=wanted.links)
        return replace(page, blocks=blocks, kind="page", is_shell=False, is_silent=not joined(blocks).strip())
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
    if _says_more(blocks, title):
        return replace(page, blocks=blocks, kind=kind)
    root = parse_html(source_text)
    remove_unseen(root)
    said = unrendered_blocks(root, page.facts, base_url=base_url, links=wanted.links, title=title)
    has_script = next(root.iter("script"), None) is not None
    return replace(page, blocks=said, kind=kind, is_shell=has_script, is_silent=not _says_more(said, title))


def _says_more(blocks: list[Block], title: str) -> bool:
    return any(block.text.strip("# \n") not in ("", title) for block in blocks)


def shown_text(
    pages: Sequence[list[Block]],
    max_length: int,
    *,
    summary: str = "",
    only_outline: bool = False,
    section: str | None = None,
    redact: Callable[[str], str] | None = None,
) -> tuple[str, bool]:
    """The pages as one text, and whether it was cut.

    Raises:
        UsageError: There is no such section.
    """
    blocks: list[Block] = [Block("", f"> {escape_text(summary)}", "text")] if summary else []
    for page in pages:
        for index, block in enumerate(page):
            text = block.text
            if 0 < max_length < len(text) - _BEHIND_CHARS and block.kind == "text":
                text = text[: max_length + _BEHIND_CHARS]
            gap = "\n\n" if index == 0 and blocks else block.gap
            blocks.append(replace(block, gap=gap, text=strip(text)))
    if redact is not None:  # before the section search, whose error quotes headings
        blocks = [
            replace(block, text=redact(block.text), title=redact(block.title), anchor=redact(block.anchor))
            for block in blocks
        ]
    if section is not None:
        blocks = section_of(blocks, section)
    if only_outline:
        blocks = [Block("", outline(blocks), "text")]
    return truncated(blocks, max_length)

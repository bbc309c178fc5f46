"""A response as the text that is handed out. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from bridge.errors import FetchFailed
from bridge.reading.charset import decode_text
from bridge.reading.extract import main_content
from bridge.reading.fetch_http import Response
from bridge.reading.fetch_page import (
    Heading,
    PageFacts,
    base_url_of,
    headings_of,
    is_empty_shell,
    next_page_url,
    page_facts,
    title_of,
)
from bridge.reading.markdown import to_markdown
from bridge.reading.media_type import kind_of_body
from bridge.snapshot.html_parse import parse_html, select_first

Mode = Literal["main_content", "article", "raw"]
Links = Literal["inline", "none"]


@dataclass(frozen=True)
class Wanted:
    """What of a page, and in which form."""

    selector: str | None = None
    links: Links = "inline"
    mode: Mode = "main_content"


@dataclass(frozen=True)
class PageText:
    """One page as text, with what it says about itself; `kind` is `text` for what is no HTML."""

    text: str
    kind: str
    content_type: str
    charset: str
    charset_source: str
    title: str = ""
    facts: PageFacts = PageFacts()
    headings: tuple[Heading, ...] = ()
    next_url: str = ""
    is_shell: bool = False


def page_text(response: Response, wanted: Wanted) -> PageText:
    """The text of a response whose body is not binary.

    Raises:
        FetchFailed: Nothing fits the selector.
        UsageError: It is no selector.
    """
    kind, content_type = kind_of_body(response.content_type, response.body)
    markup = kind == "html" or content_type.endswith("xml")
    decoded = decode_text(response.body, header=response.charset_label, markup=markup)
    if kind != "html":
        return PageText(decoded.text, "text", content_type, decoded.charset, decoded.source)
    root = parse_html(decoded.text)
    base_url = base_url_of(root, response.url)
    page = PageText(
        text="",
        kind="page",
        content_type=content_type,
        charset=decoded.charset,
        charset_source=decoded.source,
        title=title_of(root),
        facts=page_facts(root, response.url),
        headings=headings_of(root),
        next_url=next_page_url(root, base_url),
        is_shell=is_empty_shell(root),
    )
    if wanted.selector is not None:
        part = select_first(root, wanted.selector)
        if part is None:
            raise FetchFailed(f"nothing on {response.url} fits the selector {wanted.selector[:200]!r}.", url=response.url)
        page = replace(page, text=to_markdown(part, base_url=base_url, links=wanted.links))
    else:
        content = main_content(root, url=base_url, mode=wanted.mode)
        text = to_markdown(content.tree, base_url=base_url, links=wanted.links)
        page = replace(page, text=_titled(text, content.title or page.title), kind=content.kind)
    # Better the source than nothing: somebody can still see why there are no words in it.
    return page if page.text.strip() else replace(page, text=decoded.text.strip(), kind="text")


def _titled(markdown: str, title: str) -> str:
    """The title first, as a heading, where the content does not begin with it already."""
    words = " ".join(title.split())
    if not words or not markdown.strip():
        return markdown
    head, _, _ = markdown.lstrip().partition("\n")
    begins = head.lstrip("# ").strip().casefold()
    return markdown if begins and (begins in words.casefold() or words.casefold() in begins) else f"# {words}\n\n{markdown}"

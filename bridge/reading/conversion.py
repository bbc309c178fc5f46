"""HTML to Markdown in one call: title, main content, metadata."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bridge.errors import UsageError
from bridge.reading.charset import decode_text
from bridge.reading.fetch.text import FetchedText, Heading, Links, Mode, Wanted, html_text, shown_text
from bridge.reading.markdown.document import checked_length
from bridge.reading.metadata import PageFacts


@dataclass(frozen=True, slots=True)
class Converted:
    """An HTML document as Markdown.

    Attributes:
        markdown: The main content, with the title as its first heading.
        title: The title of the text, without the site's name where that is known.
        kind: `article` for one text, `list` for a page of cards or links, `page` where neither stands out.
        metadata: Description, author, dates, canonical URL and language, as far as the document says them.
        headings: The headings of the content, with the anchors of those that have one.
        hidden_text_removed: Texts left out because attributes or styles hide them from people.
        truncated: Whether `max_length` cut something off.
    """

    markdown: str
    title: str
    kind: str
    metadata: PageFacts
    headings: tuple[Heading, ...]
    hidden_text_removed: int
    truncated: bool

    def __str__(self) -> str:
        return self.markdown

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "metadata": self.metadata.to_json()}


def convert(
    html: str | bytes,
    base_url: str = "",
    *,
    mode: Mode = "main_content",
    selector: str | None = None,
    links: Links = "inline",
    outline: bool = False,
    section: str | None = None,
    max_length: int = 0,
) -> Converted:
    """The main content of an HTML document as Markdown, without a browser and without any request.

    Any text gives a result; it may be empty. Takes time in proportion to the length of the document.

    Args:
        html: A document or a fragment; of bytes the encoding is detected.
        base_url: What relative addresses are relative to; a `base` element in the document goes first.
        mode: The main content, an article in any case, or the whole body (`raw`).
        selector: Only the first element that matches this CSS selector.
        links: `none` keeps the text of links without their targets.
        outline: Only the headings, as a list.
        section: Only what is below the heading with these words or this anchor.
        max_length: Characters at most; 0 for no limit.

    Raises:
        UsageError: An argument is not valid, or there is no such section.
        FetchFailed: Nothing matches the selector.
    """
    if outline and section is not None:
        raise UsageError("outline and section exclude each other")
    for name, value, kinds in (("html", html, str | bytes), ("base_url", base_url, str)):
        if not isinstance(value, kinds):
            raise UsageError(f"{name} is a {type(value).__name__}; it must be text{' or bytes' * (name == 'html')}.")
    max_length = checked_length(max_length)
    wanted = Wanted(selector, links, mode)
    wanted.check()
    text = decode_text(html, markup=True).text if isinstance(html, bytes) else html
    page = html_text(text, base_url, wanted, FetchedText([], "page", "text/html", "", ""))
    markdown, is_cut = shown_text([page.blocks], max_length, only_outline=outline, section=section)
    first = page.headings[0] if page.headings else None
    title = first.text if first is not None and first.level == 1 and selector is None else page.facts.title
    return Converted(markdown, title, page.kind, page.facts, page.headings, page.hidden_text_removed, is_cut)

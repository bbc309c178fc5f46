"""`read`: the main text of the rendered page as Markdown, in one round trip."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bridge.cost import Cost
from bridge.deadline import Deadline
from bridge.errors import ExecutionContextDestroyed, ScriptFailed, UsageError
from bridge.json_record import JsonRecord
from bridge.page.snapshots.refs import RefTable
from bridge.page.target.attachment import CONTEXT_NAME, Attachment
from bridge.snapshot.address import shown_url

if TYPE_CHECKING:
    from bridge.reading.main_content import Mode
    from bridge.reading.markdown import LinkStyle
    from bridge.reading.markdown.blocks import Block
    from bridge.reading.metadata import PageFacts

#: Characters of HTML that the page may send. A longer page is truncated, and the result says so.
MAX_HTML_CHARS = 2_000_000
#: How long a page that is still empty may take to render.
SETTLE_S = 3.0
#: How long the walk may block the page. The rest is not read then, and the result says so.
WALK_S = 3.0
_RETRY_PAUSE_S = 0.05
_FREE = Cost(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """The options of `Page.read`."""

    mode: Mode = "main_content"
    max_length: int = 50_000
    selector: str | None = None
    outline: bool = False
    section: str | None = None
    links: LinkStyle = "inline"
    comments: bool = False
    redact: Callable[[str], str] | None = None
    metadata: bool = False

    def __post_init__(self) -> None:
        from bridge.reading.markdown.document import checked_length

        if self.mode not in ("main_content", "article", "raw"):
            raise UsageError(f"mode={self.mode!r}", hint='Use "main_content", "article" or "raw".')
        if self.links not in ("inline", "ref", "none"):
            raise UsageError(f"links={self.links!r}", hint='Use "inline", "ref" or "none".')
        if self.outline and self.section is not None:
            raise UsageError("outline and section exclude each other")
        if self.selector is not None and not self.selector.strip():
            raise UsageError("selector is empty; it must be a CSS selector.")
        checked_length(self.max_length)


@dataclass(frozen=True, slots=True)
class ReadResult(JsonRecord):
    """The page as Markdown.

    Attributes:
        kind: `article`, `list` or `page`.
        hidden_text_removed: How many texts were removed that are laid out and invisible: transparent, tiny, outside the
            page, in the background colour, `aria-hidden`, or of zero-width characters. Closed menus do not count, nor
            does text that lies under another element.
        truncated: Whether `max_length`, the page's size or the time limit cut something off.
        metadata: What the page says about itself, if `metadata=True` asked for it.
    """

    markdown: str
    title: str
    url: str
    kind: str
    hidden_text_removed: int
    truncated: bool
    cost: Cost = _FREE
    notices: tuple[str, ...] = ()
    metadata: PageFacts | None = None

    def __str__(self) -> str:
        return self.markdown


async def read(attachment: Attachment, refs: RefTable, request: ReadRequest, deadline: Deadline) -> ReadResult:
    """Read the page.

    Raises:
        UsageError: The selector matches nothing, or no section has that heading.
        DeadlineExceeded: The page kept navigating, or did not respond.
    """
    while True:
        main = attachment.state.main
        frame_id = main.frame_id if main else ""
        try:
            reply = await attachment.evaluate(frame_id, _expression(request, deadline), timeout_s=deadline.remaining_s)
            break
        except ExecutionContextDestroyed as error:
            if deadline.remaining_s <= _RETRY_PAUSE_S:
                raise deadline.exceeded("reading the page", error.message) from error
            await attachment.condition.wait(
                lambda: _has_context(attachment), timeout_s=min(_RETRY_PAUSE_S, deadline.remaining_s)
            )
    if not isinstance(reply, Mapping):
        raise ScriptFailed("the reading script returned no object")
    if isinstance(refused := reply.get("error"), Mapping):
        raise UsageError(str(refused.get("message", "the page cannot be read with these options")))
    context = attachment.state.context_of(frame_id, CONTEXT_NAME)
    async with deadline.bound("reading the page", lambda: "parsing its HTML"):
        return await _result(reply, request, refs, frame_id, context.key if context else "")


def _expression(request: ReadRequest, deadline: Deadline) -> str:
    from bridge.reading.injected import read_js

    return read_js(
        {
            "selector": request.selector or "",
            "mode": request.mode,
            "refs": request.links == "ref",
            "metadata": request.metadata,
            "limit": MAX_HTML_CHARS,
            "timeBudgetMs": round(min(WALK_S, deadline.remaining_s / 3) * 1000),
            "settleMs": round(min(SETTLE_S, deadline.remaining_s / 2) * 1000),
        }
    )


def _redacted(facts: PageFacts, redact: Callable[[str], str] | None) -> PageFacts:
    return facts if redact is None else replace(facts, **{name: redact(text) for name, text in facts.to_json().items()})


async def _result(
    reply: Mapping[str, Any], request: ReadRequest, refs: RefTable, frame_id: str, context_key: str
) -> ReadResult:
    from bridge.reading.rendered import Rendering, rendered_text, with_refs
    from bridge.reading.workers import ReaderEnded, in_reader, read_document

    links = _links(reply) if context_key else {}
    how = Rendering(
        url=shown_url(_text(reply, "url")),
        mode="raw" if request.selector else request.mode,
        links=request.links,
        title=_text(reply, "title"),
        has_title=not request.selector,
        comments=request.comments,
        metadata=request.metadata,
        link_mark=f"{secrets.token_hex(8)}-",
        link_numbers=frozenset(links),
    )
    try:
        found, blocks = await read_document(_text(reply, "html"), rendered_text, how)
    except ReaderEnded as error:
        raise ScriptFailed(f"the page could not be read: {error}") from error
    if links:
        blocks = with_refs(
            blocks, how.link_mark, lambda number: refs.assign(context_key, frame_id, *links[number], how.url)
        )
    markdown, is_cut = await in_reader(lambda: _markdown(blocks, request))
    hidden = reply.get("hidden")
    return ReadResult(
        markdown=markdown,
        title=found.title,
        url=how.url,
        kind="page" if request.selector else found.kind,
        hidden_text_removed=hidden if isinstance(hidden, int) else 0,
        truncated=is_cut or reply.get("truncated") is True,
        notices=() if markdown.strip() else ("the page has no text to read",),
        metadata=_redacted(found.facts, request.redact) if found.facts is not None else None,
    )


def _markdown(blocks: list[Block], request: ReadRequest) -> tuple[str, bool]:
    from bridge.reading.markdown import document

    if (redact := request.redact) is not None:  # before the section search, whose error quotes headings
        blocks = [
            replace(block, text=redact(block.text), title=redact(block.title), anchor=redact(block.anchor))
            for block in blocks
        ]
    if request.section is not None:
        blocks = document.section(blocks, request.section)
    if request.outline:
        blocks = document.outline_blocks(blocks)
    return document.truncated(blocks, request.max_length)


def _links(reply: Mapping[str, Any]) -> dict[int, tuple[str, str, str]]:
    """The script's names, roles and names of the links that the page sent, by their numbers."""
    found = reply.get("refs")
    return {
        number: (entry[0], entry[1], entry[2])
        for number, entry in enumerate(found if isinstance(found, list) else [])
        if isinstance(entry, list) and len(entry) == 3 and all(isinstance(word, str) for word in entry)
    }


def _text(reply: Mapping[str, Any], key: str) -> str:
    value = reply.get(key)
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else ""


def _has_context(attachment: Attachment) -> bool:
    main = attachment.state.main
    return main is not None and attachment.state.context_of(main.frame_id, CONTEXT_NAME) is not None

"""A page of the web as Markdown, without a browser.

    page = await webfetch("https://example.com/article", egress=egress)
    print(page.markdown)

Every address is checked before a connection is made, redirects included; `http` reads responses and `dial` makes
connections. There are no cookies, no credentials and no proxies from the environment.
"""

from __future__ import annotations

import re
import ssl
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from bridge.cost import Cost, est_tokens
from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, RequestTimedOut, UsageError
from bridge.json_record import JsonRecord
from bridge.policy.pinning import PinnedEgress
from bridge.reading.fetch.http import Fetcher
from bridge.reading.fetch.response import MAX_BODY_BYTES, FetchedResponse
from bridge.reading.fetch.response_text import read_response
from bridge.reading.fetch.text import FetchedText, Heading, Links, Mode, Wanted, shown_text
from bridge.reading.markdown.blocks import Block
from bridge.reading.markdown.document import checked_length
from bridge.reading.metadata import PageFacts
from bridge.reading.workers import in_reader

__all__ = ["FetchCache", "Fetched", "Heading", "PageFacts", "Render", "webfetch"]

_SHELL_NOTE = "The page is an empty shell that JavaScript fills; this is its text without JavaScript."
_NO_TEXT_NOTE = "The page has no text; it is drawn by its scripts."
_NOTHING_NOTE = "The page has no text."
_MOST_PAGES = 50


#: Opens an address that the egress has allowed where JavaScript runs, within a timeout in seconds, and returns the page
#: as Markdown. Passed in by a caller with a device session.
Render: TypeAlias = Callable[[str, float], Awaitable[str]]


@dataclass(frozen=True)
class Fetched(JsonRecord):
    """A fetched page.

    Attributes:
        markdown: The page as Markdown; text and JSON bodies are unchanged.
        url: The final URL, after all redirects.
        content_type: Without parameters; detected from the body if the server sent none.
        truncate_reasons: `maxBody` (the server had more than 5 MB), `maxLength`; empty if nothing was cut.
        body_bytes: Total of all pages, after content decoding.
        charset: The encoding used; `charset_source` is its origin: bom, header, meta, detected.
        kind: The kind of page: `article`, `list` (of cards or links), `page`, or `text` if it is not HTML.
        redirects: The URLs before the final one, the requested one first.
        notes: Remarks for a reader: an empty shell, a next page that failed.
        pages: The number of pages in it.
        hidden_text_removed: Texts left out because attributes or styles hide them from people.
        rendered: The text comes from `render`, not from the response.
    """

    JSON_HAS_EMPTY = True

    markdown: str
    url: str
    status: int
    content_type: str
    title: str
    truncate_reasons: tuple[str, ...]
    body_bytes: int
    charset: str
    charset_source: str
    kind: str
    cost: Cost
    redirects: tuple[str, ...] = ()
    metadata: PageFacts | None = None
    outline: tuple[Heading, ...] = ()
    notes: tuple[str, ...] = ()
    pages: int = 1
    hidden_text_removed: int = 0
    rendered: bool = False

    @property
    def truncated(self) -> bool:
        return bool(self.truncate_reasons)

    def __str__(self) -> str:
        return self.markdown

    def to_json(self) -> dict[str, Any]:
        return {**JsonRecord.to_json(self), "truncated": self.truncated}


@dataclass
class FetchCache:
    """Responses of the last seconds, for a caller that reads one page in several ways. Off unless passed in.

    The policy is still checked. Responses with `no-store` or `private` are not kept.

    Attributes:
        ttl_s: Seconds for which a response is reused.
        max_bytes: Limit of all kept bodies; the oldest are dropped first.
    """

    ttl_s: float = 60.0
    max_bytes: int = 20_000_000
    _kept: OrderedDict[str, tuple[float, FetchedResponse]] = field(default_factory=OrderedDict, repr=False)

    def get(self, url: str) -> FetchedResponse | None:
        kept = self._kept.get(url)
        if kept is None:
            return None
        if time.monotonic() - kept[0] > self.ttl_s:
            del self._kept[url]
            return None
        return kept[1]

    def put(self, url: str, response: FetchedResponse) -> None:
        self._kept.pop(url, None)
        if any(word in response.cache_control.lower() for word in ("no-store", "private")):
            return
        self._kept[url] = (time.monotonic(), response)
        while sum(len(kept.body) for _, kept in self._kept.values()) > self.max_bytes:
            self._kept.popitem(last=False)


async def webfetch(
    url: str,
    *,
    egress: PinnedEgress,
    max_length: int = 50_000,
    timeout_s: float = 30.0,
    selector: str | None = None,
    metadata: bool = False,
    outline: bool = False,
    section: str | None = None,
    redact: Callable[[str], str] | None = None,
    pages: int = 1,
    links: Links = "inline",
    mode: Mode = "main_content",
    cache: FetchCache | None = None,
    render: Render | None = None,
    user_agent: str | None = None,
    tls: ssl.SSLContext | None = None,
) -> Fetched:
    """The page at `url`.

    Args:
        egress: Decides which URLs may be opened, and resolves their hosts.
        max_length: Characters of the text; 0 or less means all of it.
        timeout_s: For everything together: names, connections, redirects, bodies, further pages.
        selector: Only the first element that matches this CSS selector.
        metadata: Fill in `metadata`, and start the text with the page's own description.
        outline: Only the headings, as a list; also in `outline`.
        section: Only what is below the heading with these words or this anchor.
        redact: Applied to the text before a section is looked for.
        pages: Follow `rel=next` up to this many pages in all.
        links: `none` keeps the text of links without their targets.
        mode: The main content, an article in any case, or the whole body.
        cache: Searched first; responses are stored in it.
        render: Renders a page that is empty without JavaScript; without it, a note reports the empty page.
        user_agent: What to send as User-Agent; that of the newest known WebView by default.
        tls: Certificate authorities other than the public ones.

    Raises:
        UsageError: An argument is not valid.
        PolicyRefused: A rule forbids the URL, one it leads to, or an address behind it.
        RequestTimedOut: `timeout_s` has passed.
        FetchFailed: A subclass names the failure: NameNotResolved, NetworkFailed, TlsFailed, TooManyRedirects,
            HttpFailed, EmptyBody, NotText.
    """
    if not 1 <= pages <= _MOST_PAGES:
        raise UsageError(f"pages is {pages}; it must be from 1 to {_MOST_PAGES}.")
    if not timeout_s > 0:
        raise UsageError(f"timeout_s is {timeout_s:g}; it must be more than 0.")
    if outline and section is not None:
        raise UsageError("outline and section exclude each other")
    if user_agent is not None and not re.fullmatch(r"[\x21-\x7e]([\x20-\x7e]{0,998}[\x21-\x7e])?", user_agent):
        raise UsageError("user_agent must be up to 1,000 printable ASCII characters.")
    max_length = checked_length(max_length)
    wanted = Wanted(selector, links, mode)
    wanted.check()
    started = time.perf_counter()
    deadline = Deadline.after(timeout_s)
    work = _Work(egress, Fetcher(egress, deadline, tls, user_agent), deadline, wanted, cache, render)
    try:
        async with deadline.bound(url, lambda: work.fetcher.wire.last_seen):
            first, texts = await work.read(url, pages)
            page = first.page
            summary = page.facts.description if metadata else ""
            markdown, cut = await in_reader(
                lambda: shown_text(
                    texts, max_length, summary=summary, only_outline=outline, section=section, redact=redact
                )
            )
    except DeadlineExceeded as error:
        wire = work.fetcher.wire
        raise RequestTimedOut(url, timeout_s, wire.last_seen, wire.phase) from error
    wire = work.fetcher.wire
    return Fetched(
        markdown=markdown,
        url=first.response.url,
        status=first.response.status,
        content_type=page.content_type,
        title=page.title,
        truncate_reasons=(*(("maxBody",) if work.body_truncated else ()), *(("maxLength",) if cut else ())),
        body_bytes=work.body_bytes,
        charset=page.charset,
        charset_source=page.charset_source,
        kind=page.kind,
        redirects=first.response.redirects,
        metadata=page.facts if metadata else None,
        outline=page.headings if outline else (),
        notes=tuple(work.notes),
        pages=len(texts),
        hidden_text_removed=work.hidden_text_removed,
        rendered=work.rendered,
        cost=Cost(
            ms=(time.perf_counter() - started) * 1000,
            round_trips=work.fetcher.requests,
            bytes_sent=wire.bytes_sent,
            bytes_received=wire.bytes_received,
            est_tokens=est_tokens(markdown),
        ),
    )


@dataclass(frozen=True)
class _Read:
    response: FetchedResponse
    page: FetchedText


@dataclass
class _Work:
    """One operation: its pages and notes about them."""

    egress: PinnedEgress
    fetcher: Fetcher
    deadline: Deadline
    wanted: Wanted
    cache: FetchCache | None
    render: Render | None
    notes: list[str] = field(default_factory=list)
    body_bytes: int = 0
    body_truncated: bool = False
    hidden_text_removed: int = 0
    rendered: bool = False

    async def read(self, url: str, pages: int) -> tuple[_Read, list[list[Block]]]:
        """The first page, and the texts of all requested pages that arrived."""
        first = await self._page(url)
        texts = [await self._rendered(first)]
        seen = {url, first.response.url}
        at = first
        while len(texts) < pages and at.page.next_url and at.page.next_url not in seen:
            next_url = at.page.next_url
            seen.add(next_url)
            try:
                at = await self._page(next_url)
            except BridgeError as error:
                self.notes.append(f"Page {len(texts) + 1} at {next_url} could not be fetched: {error.message}")
                break
            texts.append(at.page.blocks)
        return first, texts

    async def _page(self, url: str) -> _Read:
        response = await self._response(url)
        self.body_bytes += len(response.body)
        if response.body_truncated:
            self.body_truncated = True
            self.notes.append(f"{response.url} is larger than {MAX_BODY_BYTES:,} bytes; the rest was not read.")
        self.fetcher.wire.saw(f"reading {len(response.body):,} bytes", "reading the body")
        page = await read_response(response, self.wanted)
        self.hidden_text_removed += page.hidden_text_removed
        return _Read(response, page)

    async def _response(self, url: str) -> FetchedResponse:
        if self.cache is None:
            return await self.fetcher.get(url)
        address = await self.egress.check_url(url)
        kept = self.cache.get(address)
        if kept is not None:
            return kept
        response = await self.fetcher.get(address)
        self.cache.put(address, response)
        return response

    async def _rendered(self, first: _Read) -> list[Block]:
        """The text of the first page, rendered by a browser if it is empty without one."""
        if not first.page.is_shell:
            if first.page.is_silent:
                self.notes.append(_NOTHING_NOTE)
            return first.page.blocks
        shell_note = _NO_TEXT_NOTE if first.page.is_silent else _SHELL_NOTE
        if self.render is None:
            self.notes.append(shell_note)
            return first.page.blocks
        self.fetcher.wire.saw("rendering an empty shell", "rendering")
        try:
            text = await self.render(first.response.url, self.deadline.remaining_s)
        except BridgeError as error:
            self.notes.append(f"{shell_note} Rendering it failed: {error.message}")
            return first.page.blocks
        if not any(line and not line.startswith("#") for line in text.splitlines()):
            self.notes.append(f"{shell_note} Rendered, it shows no more.")
            return first.page.blocks
        self.rendered = True
        return [Block("", text, "text")]

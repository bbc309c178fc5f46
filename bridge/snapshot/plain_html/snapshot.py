"""Snapshots of HTML text, without a browser.

    result = snapshot_html(html, url="https://shop.example/")
    print(result.text)                                        # - searchbox "Search" [ref=e4]
    print(query_ref(html, "e4", QueryKind.ATTR))

The text has the form of live snapshots: the same roles, names, budgets and lines. It lacks what only a browser knows:
the effects of style sheets, `::before` text, shadow roots, and everything that scripts would do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal

from bridge.errors import RefNotFound, UsageError
from bridge.snapshot.lines.render import render_snapshot
from bridge.snapshot.model import NodeRef, RenderOptions, SnapshotResult
from bridge.snapshot.parse import STATE_ATTRS
from bridge.snapshot.plain_html.collect import Collecting, Collector
from bridge.snapshot.plain_html.dom import HtmlDocument, text_of
from bridge.snapshot.plain_html.names import Names
from bridge.snapshot.plain_html.parse import parse_html, select_first
from bridge.snapshot.plain_html.query import attributes, outer_html, seen_text

__all__ = [
    "HtmlDocument",
    "HtmlSnapshotOptions",
    "QueryKind",
    "build_document",
    "query",
    "query_ref",
    "snapshot_html",
]

_DEFAULT = Collecting()

#: The rest of a longer text is ignored.
MAX_HTML_CHARS = 5_000_000
_STATES = STATE_ATTRS | {"level", "valuenow"}


class QueryKind(Enum):
    """The property of an element that is queried."""

    TEXT = "text"
    ATTR = "attr"
    OUTER_HTML = "outer_html"


@dataclass(frozen=True)
class HtmlSnapshotOptions:
    """Limits and filters of a snapshot of a document.

    Attributes:
        interactive_only: Only elements that can be acted on or have a name, with the text and structure around them.
        include_attrs: The attributes that `NodeRef.attrs` carries, besides states.
        dedupe_text: Leave out text that repeats the name above it.
        cursor_interactive: Elements that are not controls but react to a click or to the keyboard have a ref too.
        scope: Only the subtree of the first match of this CSS selector, or of this ref.
        start: Only the lines from this ref on, to continue a cut snapshot at its `more=`.
        controls_only: Only elements that can be acted on.
        aria_hidden: Also what `aria-hidden` hides, marked `[aria-hidden]`.
        text: False shows controls and what places them, without other text.

    The others are those of `RenderOptions`.
    """

    max_chars_total: int = 12_000
    max_nodes: int = 200
    max_depth: int = 12
    max_text_per_node: int = 200
    max_attr_value_len: int = 150
    compact: bool = True
    format: Literal["text", "json"] = "text"
    interactive_only: bool = True
    include_attrs: tuple[str, ...] = ("href", "name", "type", "value", "placeholder", "aria-label", "role")
    dedupe_text: bool = True
    cursor_interactive: bool = True
    include_urls: bool = False
    find: str = ""
    scope: str = ""
    start: str = ""
    controls_only: bool = False
    aria_hidden: bool = False
    text: bool = True


def build_document(html: str) -> HtmlDocument:
    """Parses HTML text, for several snapshots and queries of it. Any text gives a document."""
    document = HtmlDocument.of(parse_html(html[:MAX_HTML_CHARS]))
    document.has_more = document.has_more or len(html) > MAX_HTML_CHARS
    document.chars = len(html)
    return document


def snapshot_html(
    html: str | HtmlDocument, options: HtmlSnapshotOptions | None = None, *, url: str = "about:blank"
) -> SnapshotResult:
    """The snapshot of a document: its text, and the nodes that its refs stand for.

    Args:
        html: HTML text, or a document from `build_document`.
        url: Where it came from; for the header.

    Raises:
        UsageError: A limit or a selector is not valid.
        RefNotFound: `scope` or `start` does not exist.
    """
    if not isinstance(html, str | HtmlDocument):
        raise UsageError(f"html is a {type(html).__name__}; it must be text.")
    options = options or HtmlSnapshotOptions()
    rendering = RenderOptions(
        max_chars_total=options.max_chars_total,
        max_nodes=options.max_nodes,
        max_depth=options.max_depth,
        max_text_per_node=options.max_text_per_node,
        max_attr_value_len=options.max_attr_value_len,
        compact=options.compact,
        format=options.format,
        include_urls=options.include_urls,
        find=options.find,
        controls_only=options.controls_only,
        text=options.text,
    )
    document = build_document(html) if isinstance(html, str) else html
    collecting = Collecting(
        # The renderer selects; its input is limited too, as in a page.
        max_nodes=max(500, 2 * options.max_nodes),
        budget_chars=max(80_000, 6 * options.max_chars_total),
        max_text_per_node=options.max_text_per_node,
        max_attr_value_len=options.max_attr_value_len,
        interactive_only=options.interactive_only,
        cursor_interactive=options.cursor_interactive,
        dedupe_text=options.dedupe_text,
        aria_hidden=options.aria_hidden,
    )
    if options.scope or options.start or collecting != _DEFAULT:
        _give_refs(document)
    start = _element(document, options.start) if options.start else None
    title = document.root.find(".//title")
    collector = Collector(
        document, Names(document), collecting, url=url, title=text_of(title, 2_000) if title is not None else ""
    )
    raw = collector.with_refs(collector.collect(_scope(document, options.scope), start))
    raw["stats"]["domNodes"] = document.count
    return _with_attrs(render_snapshot(raw, rendering, input_chars=document.chars), document, options)


def query(document: HtmlDocument, ref: str, kind: QueryKind, limit_chars: int = 4_000) -> str | dict[str, str]:
    """The text, the attributes or the HTML of one element, each cut at `limit_chars` and marked if so.

    Raises:
        RefNotFound: The document has no such ref.
        UsageError: The limit is not a valid number of characters.
    """
    if limit_chars < 0:
        raise UsageError(f"limit_chars is {limit_chars}; it must be 0 or more.")
    element = _element(document, ref)
    if kind is QueryKind.TEXT:
        return seen_text(document, element, limit_chars)
    if kind is QueryKind.ATTR:
        return attributes(element, limit_chars)
    return outer_html(element, limit_chars)


def query_ref(html: str, ref: str, kind: QueryKind, limit_chars: int = 4_000) -> str | dict[str, str]:
    """`query` on the document of an HTML text: a ref of any snapshot of the same text is the same element."""
    return query(build_document(html), ref, kind, limit_chars)


def _element(document: HtmlDocument, ref: str) -> Any:
    _give_refs(document)
    element = document.element_of(ref)
    if element is None:
        count = len(document.numbered)
        known = f"it has e1 to e{count}" if count else "nothing in it has a ref"
        raise RefNotFound(f"{ref[:80]!r} is not a ref of this document; {known}.")
    return element


def _give_refs(document: HtmlDocument) -> None:
    if not document.has_refs:
        collector = Collector(document, Names(document), _DEFAULT)
        collector.with_refs(collector.collect(document.root))


def _scope(document: HtmlDocument, scope: str) -> Any:
    if not scope:
        return document.root
    element = document.element_of(scope)
    if element is None:
        element = select_first(document.root, scope)
    if element is None:
        raise RefNotFound(f"nothing in the document matches {scope[:200]!r}.")
    return element


def _with_attrs(result: SnapshotResult, document: HtmlDocument, options: HtmlSnapshotOptions) -> SnapshotResult:
    """The refs with the attributes that were asked for."""
    refs: dict[str, NodeRef] = {}
    for ref, node in result.refs.items():
        element = _element(document, ref)
        attrs = {key: value for key, value in node.attrs.items() if key in _STATES or key in options.include_attrs}
        for key in options.include_attrs:
            said = element.get(key)
            if said and key not in attrs and key not in ("value", "type"):
                attrs[key] = said[: options.max_attr_value_len]
        refs[ref] = node._replace(attrs=attrs)
    return replace(result, refs=refs)

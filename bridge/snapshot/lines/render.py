"""Renders a raw tree as a short text with refs, inside hard limits.

    [snapshot] url=https://shop.example/ title="Gold" nodes=3 truncated=true truncateReasons=["maxNodes"] cutNodes=15
    - main:
      - heading "Gold today" [level=1] [ref=e3]
      - searchbox "Search" [placeholder="Search…"] [ref=e4]
      - list:
        - listitem "Gold 580.00/g" [ref=e6]
        - … (truncated, 15 more items, more=e7)

A line is two spaces per level, `- `, and one of: a role with its name, attributes and ref, ending in `:` when lines
follow below it; `text` with a string; a note about a cut. Names and texts are string literals (see `escape.quote`).
`cutNodes` and `cutTexts` count what the page sent and the limits left out. Text that is cut is counted only there;
nodes with a ref are also counted where they would be. `hidden_from_assistive` counts visible controls that
`aria-hidden` leaves out. If the document has no element, `note` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from bridge.cost import Cost
from bridge.snapshot.escape import clean, cut, url_token
from bridge.snapshot.lines.budget import select
from bridge.snapshot.lines.controls import only_controls, placed_controls
from bridge.snapshot.lines.forms import Facts, Form, JsonForm, TextForm
from bridge.snapshot.lines.layout import lay_out, only_from, only_matching
from bridge.snapshot.lines.outline import Outline, outline
from bridge.snapshot.model import Line, RenderOptions, SnapshotResult, SnapshotStats
from bridge.snapshot.parse import parse_snapshot

_URL_CHARS = 300
_FIND_CHARS = 60
# When a text of controls counts as full, and the number of tries to show more of them.
_UNFILLED, _FILLING_ROUNDS = 0.03, 5
# A page cannot make the header longer than this number is.
_MOST_HIDDEN = 999_999
_OWN_REASONS = ("maxCharsTotal", "maxNodes", "maxDepth", "maxTextPerNode")


class _Drawn(NamedTuple):
    """A text, and the refs and counts of what it shows."""

    text: str
    lines: list[Line]
    shown: Outline
    facts: Facts
    reasons: tuple[str, ...]


def render_snapshot(
    raw: Mapping[str, Any] | str | bytes,
    options: RenderOptions | None = None,
    *,
    cost: Cost | None = None,
    input_chars: int | None = None,
) -> SnapshotResult:
    """The text of a raw snapshot and the nodes that its refs stand for.

    Args:
        raw: The result of the injected script's `snapshot()`, as JSON or parsed.
        options: The limits; None means the defaults of `RenderOptions`.
        cost: The cost of getting it, passed through.
        input_chars: Length of the raw JSON when `raw` is already parsed.

    Raises:
        ScriptFailed: `raw` is not a snapshot.
        ActionFailed: The script refused to take one.
        RefNotFound: `options.start` is not in the tree.
    """
    options = options or RenderOptions()
    snapshot = parse_snapshot(raw, text_chars=options.max_text_per_node, value_chars=options.max_attr_value_len)
    url = url_token(snapshot.url)
    root = snapshot.root
    if options.controls_only:
        root = only_controls(root)
    elif not options.text and not options.find:
        root = placed_controls(root)
    entries = lay_out(root, options)
    if options.start:
        entries = only_from(entries, options.start)
    hidden = snapshot.js_stats.get("hiddenFromAssistive", 0)
    facts = Facts(
        nodes=len(entries), is_bare=snapshot.is_bare, hidden_from_assistive=max(0, min(int(hidden), _MOST_HIDDEN))
    )
    if options.find:
        entries, matches = only_matching(entries, clean(options.find), options.redact)
        facts = replace(facts, nodes=len(entries), find=cut(clean(options.find), _FIND_CHARS), matches=matches)
    form: Form = JsonForm(options, url) if options.format == "json" else TextForm(options, url)
    worst = _worst_facts(facts, snapshot.reasons, form, options.max_chars_total)
    place, shortened = _place(form, url, snapshot.title, options, len(form.head("", worst)))
    known = (*snapshot.reasons, *shortened, *(("maxTextPerNode",) if any(e.shortened for e in entries) else ()))
    uncut = replace(facts, reasons=known, truncated=bool(known) or snapshot.truncated)
    room = (
        options.max_chars_total - len(form.head(place, uncut)),
        options.max_chars_total - len(form.head(place, worst)),
    )
    costs = [form.cost(entry) for entry in entries]

    def drawn(extra: int) -> _Drawn:
        """The text, if the lines may cost `extra` characters more than their budget."""
        whole, cut_ = room
        selection = select(
            entries, options, room_whole=whole + extra, room_cut=cut_ + extra, costs=costs, cut_cost=form.cut_cost
        )
        shown = outline(entries, selection, options)
        own = (*selection.reasons, *shortened, *(("maxTextPerNode",) if shown.shortened else ()))
        reasons = tuple(dict.fromkeys((*snapshot.reasons, *own)))
        said = replace(
            facts,
            nodes=len(shown.refs),
            reasons=tuple(reason for reason in reasons if reason in worst.reasons),
            truncated=bool(reasons) or snapshot.truncated,
            cut_nodes=len(shown.cut_refs),
            cut_texts=shown.texts_cut,
            is_bare=worst.is_bare,
        )
        lines = [
            line if row.named else line._replace(name="")
            for row, line in [(row, row.entry.line(options, url)) for row in shown.rows]
        ]
        return _Drawn(form.join(form.head(place, said), shown.rows, lines), lines, shown, said, reasons)

    text, lines, shown, facts, reasons = (
        _filled(drawn, options.max_chars_total) if options.controls_only and options.format == "text" else drawn(0)
    )
    stats = SnapshotStats(
        js_stats=snapshot.js_stats,
        nodes_emitted=len(shown.refs),
        chars_emitted=len(text),
        truncated=facts.truncated,
        truncate_reasons=reasons,
        input_chars=snapshot.input_chars if input_chars is None else input_chars,
        nodes_cut=facts.cut_nodes,
        texts_cut=facts.cut_texts,
    )
    return SnapshotResult(
        text=text,
        refs=shown.refs,
        stats=stats,
        cost=cost,
        url=url,
        title=snapshot.title,
        more=shown.more,
        lines=tuple(lines),
        cut_refs=frozenset(shown.cut_refs),
    )


def _filled(drawn: Callable[[int], _Drawn], limit_chars: int) -> _Drawn:
    """The text of controls, which share lines: how much each costs is only known afterwards."""
    best, extra = drawn(0), 0
    step = limit_chars - len(best.text)
    for _ in range(_FILLING_ROUNDS):
        if "maxCharsTotal" not in best.reasons or step < limit_chars * _UNFILLED:
            break
        tried = drawn(extra + step)
        if len(tried.text) <= limit_chars and len(tried.shown.refs) >= len(best.shown.refs):
            best, extra = tried, extra + step
            step = limit_chars - len(best.text)
        else:
            step //= 2
    return best


def _worst_facts(facts: Facts, page_reasons: tuple[str, ...], form: Form, limit_chars: int) -> Facts:
    """The longest possible header. The page script's own reasons are dropped if they do not fit."""
    count = facts.nodes
    while True:
        reasons = tuple(dict.fromkeys((*_OWN_REASONS, *page_reasons)))
        worst = replace(facts, reasons=reasons, truncated=True, cut_nodes=count, cut_texts=count)
        if len(form.head("", worst)) <= limit_chars or not (page_reasons or facts.is_bare):
            return worst
        page_reasons, facts = page_reasons[:-1], replace(facts, is_bare=facts.is_bare and bool(page_reasons))


def _place(form: Form, url: str, title: str, options: RenderOptions, taken: int) -> tuple[str, tuple[str, ...]]:
    """The page's address and title for the header, and the reasons for cutting them."""
    title_chars = options.max_text_per_node
    reasons = ("maxTextPerNode",) if len(url) > _URL_CHARS or len(title) > title_chars else ()
    room = options.max_chars_total - taken
    place = form.place(cut(url, _URL_CHARS), cut(title, title_chars))
    if len(place) <= min(room, max(options.max_chars_total // 4, 64)):
        return place, reasons
    for chars in (120, 60, 40, 20):
        place = form.place(cut(url, chars), cut(title, min(chars, title_chars)))
        if len(place) <= min(room, options.max_chars_total // 4):
            return place, ("maxCharsTotal",)
    return "", ("maxCharsTotal",)

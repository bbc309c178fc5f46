"""The chosen lines in order, with a line for what was left out below each of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from bridge.snapshot.lines.budget import Selection
from bridge.snapshot.lines.layout import Entry
from bridge.snapshot.model import NodeRef, RenderOptions
from bridge.snapshot.parse import RawNode
from bridge.snapshot.roles import INTERACTIVE_ROLES, NAMED_BY_CONTENT

_SNIPPET_CHARS = 100


@dataclass(slots=True, eq=False)
class Row:
    """One line: `opens` when lines follow below it, `named` when it shows its name."""

    entry: Entry
    opens: bool = False
    named: bool = True


@dataclass(slots=True, eq=False)
class Outline:
    rows: list[Row]
    refs: dict[str, NodeRef]
    cut_refs: list[str]
    texts_cut: int
    shortened: bool

    @property
    def more(self) -> tuple[str, ...]:
        """The refs to continue from, in the order of the text."""
        return tuple(row.entry.node.more for row in self.rows if row.entry.kind == "cut" and row.entry.node.more)


@dataclass(slots=True, eq=False)
class _Left:
    """Counts of what was left out below one line."""

    count: int = 0
    more: str = ""


@dataclass(slots=True, eq=False)
class _LeftOut:
    below: dict[int, _Left] = field(default_factory=dict)
    refs: list[str] = field(default_factory=list)
    texts: int = 0


def outline(entries: list[Entry], selection: Selection, options: RenderOptions) -> Outline:
    """The rows of the text: the chosen lines, and cut lines where something with a ref is missing."""
    chosen = selection.chosen
    left = _LeftOut() if chosen is None else _left_out(entries, chosen)
    below = left.below if selection.cut_lines else {}
    rows: list[Row] = []
    row_of: list[Row | None] = [None] * len(entries)
    open_lines: list[int] = []
    for index, entry in enumerate(entries):
        if chosen is not None and not chosen[index]:
            continue
        while open_lines and entries[open_lines[-1]].depth >= entry.depth:
            _close(rows, entries, below, open_lines.pop())
        open_lines.append(index)
        row = Row(entry, index in below)
        row_of[index] = row
        rows.append(row)
        above = row_of[entry.parent] if entry.parent >= 0 else None
        if above is not None:
            above.opens = True
    while open_lines:
        _close(rows, entries, below, open_lines.pop())
    _close(rows, entries, below, -1)
    if options.compact:
        _say_names_once(rows)
    refs, shortened = _refs(entries, row_of)
    return Outline(rows, refs, left.refs, left.texts, shortened)


def _close(rows: list[Row], entries: list[Entry], below: dict[int, _Left], index: int) -> None:
    left = below.get(index)
    if left is not None:
        depth = entries[index].depth + 1 if index >= 0 else 0
        rows.append(Row(Entry(RawNode("", count=left.count, more=left.more), index, depth, "cut", "")))


def _left_out(entries: list[Entry], chosen: bytearray) -> _LeftOut:
    out = _LeftOut()
    top_of = list(range(len(entries)))
    counted = bytearray(len(entries))
    for index, entry in enumerate(entries):
        if chosen[index]:
            continue
        parent = entry.parent
        if parent >= 0 and not chosen[parent]:
            top_of[index] = top_of[parent]
        if entry.ref:
            out.refs.append(entry.ref)
        elif entry.kind != "cut":
            out.texts += 1 if entry.name else 0
            continue
        top = top_of[index]
        left = out.below.setdefault(entries[top].parent, _Left())
        if not counted[top]:
            counted[top] = 1
            left.count += entry.node.count if index == top and entry.kind == "cut" else 1
        left.more = left.more or entry.ref or entry.node.more
    return out


def _say_names_once(rows: list[Row]) -> None:
    """Takes the name from a box that is named by what is shown below it: `heading [level=2]:` with a link in it."""
    for index, row in enumerate(rows):
        entry = row.entry
        if not row.opens or not entry.name or entry.node.role in INTERACTIVE_ROLES or entry.node.cursor:
            continue
        first = rows[index + 1].entry
        if first.kind != "cut" and first.name == entry.name:
            row.named = False
        elif entry.node.role in NAMED_BY_CONTENT:
            words = ""
            for below in rows[index + 1 : index + 8]:
                if below.entry.depth <= entry.depth:
                    break
                words += below.entry.name
            row.named = words.replace(" ", "") != entry.name.replace(" ", "")


def _refs(entries: list[Entry], row_of: list[Row | None]) -> tuple[dict[str, NodeRef], bool]:
    refs: dict[str, NodeRef] = {}
    paths: dict[int, str] = {-1: ""}
    shortened = False
    for index, (entry, row) in enumerate(zip(entries, row_of, strict=True)):
        if row is None or entry.kind == "cut":
            continue
        shortened = shortened or entry.shortened
        node = entry.node
        if entry.kind == "text":
            continue
        above = paths[entry.parent]
        paths[index] = path = f"{above} > {node.role}" if above else node.role
        if node.ref:
            snippet = node.text
            if not snippet and row.opens and index + 1 < len(entries) and entries[index + 1].kind == "text":
                snippet = entries[index + 1].name
            snippet = snippet[:_SNIPPET_CHARS]
            refs[node.ref] = NodeRef(node.ref, node.tag, node.role, node.name or entry.name, node.attrs, snippet, path)
    return refs, shortened

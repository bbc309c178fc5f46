"""The lines of a tree before anything is cut.

The compact form keeps elements that a reader acts on and the structure that locates them: boxes without meaning are
replaced by their content, items with a single child by that child, and text appears once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bridge.errors import RefNotFound
from bridge.snapshot.escape import cut
from bridge.snapshot.lines.attributes import Attr, attr_word, shown_attrs
from bridge.snapshot.model import Line, RenderOptions
from bridge.snapshot.parse import RawNode
from bridge.snapshot.roles import (
    INTERACTIVE_ROLES,
    ITEM_ROLES,
    NAMED_BY_CONTENT,
    TELLING_ROLES,
    TRANSPARENT_ROLES,
)
from bridge.snapshot.split_text import TooManySpans, redacted_texts

# The node of lines of text: all that they show is in the entry.
_TEXT = RawNode("text")


@dataclass(slots=True, eq=False, repr=False)
class Entry:
    """A line before rendering: `parent` is the index of its parent line, -1 at the top.

    `tail` is where the last text begins in a line of several; `ref` is "" if it is not a node.
    `whole_line` and its `body` are cached.
    """

    node: RawNode
    parent: int
    depth: int
    kind: str
    name: str
    shortened: bool = False
    tail: int = 0
    ref: str = ""
    whole_line: Line | None = None
    body: str = ""

    def attrs(self, options: RenderOptions, page_url: str) -> list[Attr]:
        return shown_attrs(self.node, self.node.name or self.name, options, page_url) if self.kind == "node" else []

    def line(self, options: RenderOptions, page_url: str) -> Line:
        """The line with its name, cached."""
        line = self.whole_line
        if line is None:
            if self.kind == "cut":
                line = Line(self.depth, "cut", self.node.role, cut_words(self.node), (), "")
            elif self.kind == "text":
                line = Line(self.depth, "text", "text", self.name, (), "")
            else:
                attrs = self.attrs(options, page_url)
                words = tuple([attr_word(attr) for attr in attrs]) if attrs else ()
                line = Line(self.depth, "node", self.node.role, self.name, words, self.ref)
            self.whole_line = line
        return line


def cut_words(cut: RawNode) -> str:
    """The text of a cut: how many more, of what, and where to continue."""
    if cut.alike:
        plural = "es" if cut.role.endswith(("x", "s", "ch")) else "s"
        words = f"{cut.count} more {cut.role}{plural if cut.count > 1 else ''} alike"
    else:
        words = f"{cut.count} more item{'s' if cut.count > 1 else ''}"
    return f"{words}, more={cut.more}" if cut.more else words


def lay_out(root: RawNode, options: RenderOptions) -> list[Entry]:
    """The lines of the tree in document order, parents before children; only long texts are cut."""
    if options.compact:
        _count_lines(root)
    entries: list[Entry] = []
    top = RawNode("generic", children=[root])
    if root.role in TRANSPARENT_ROLES and not root.ref and not root.name:
        top = root
        _add_text(entries, root.text, -1, 0, "", options)
    stack: list[tuple[Iterator[RawNode], int, int, str]] = [(iter(top.children), -1, 0, "")]
    while stack:
        siblings, parent, depth, said = stack[-1]
        for node in siblings:
            if node.count:
                entries.append(Entry(node, parent, depth, "cut", ""))
            elif node.role == "text":
                _add_text(entries, node.text, parent, depth, said, options)
            elif not node.lines_below:
                continue
            else:
                inside = _add_node(entries, node, parent, depth, said, options)
                if node.children:
                    stack.append((iter(node.children), *inside))
                    break
        else:
            stack.pop()
    return entries


def only_matching(
    entries: list[Entry], words: str, redact: Callable[[str], str] | None = None
) -> tuple[list[Entry], int]:
    """The lines that contain the text, with their ancestors, and the number of matches; lines are redacted first."""
    wanted = words.casefold()
    keep = bytearray(len(entries))
    matches = 0
    names = _searched([entry.node.name or entry.name for entry in entries], redact)
    values = _searched([str(entry.node.attrs.get("value", "")) for entry in entries], redact)
    for index, texts in enumerate(zip(names, values, strict=True)):
        if any(wanted in text.casefold() for text in texts):
            matches += 1
            _keep_with_parents(entries, keep, index)
    return _kept(entries, keep), matches


def _searched(texts: list[str], redact: Callable[[str], str] | None) -> list[str]:
    """The texts redacted; "" for a text that is redacted only together with those beside it."""
    if redact is None:
        return texts
    try:
        hidden = redacted_texts(texts, redact)
    except TooManySpans:
        hidden = set(range(len(texts)))
    shown = [redact(text) if index in hidden else text for index, text in enumerate(texts)]
    return ["" if index in hidden and shown[index] == text else shown[index] for index, text in enumerate(texts)]


def only_from(entries: list[Entry], ref: str) -> list[Entry]:
    """The lines from the one with this ref on, and their ancestors.

    Raises:
        RefNotFound: No line has the ref.
    """
    start = next((index for index, entry in enumerate(entries) if entry.ref == ref), None)
    if start is None:
        raise RefNotFound(f"{ref} is not in this snapshot.")
    keep = bytearray(start) + b"\x01" * (len(entries) - start)
    _keep_with_parents(entries, keep, entries[start].parent)
    return _kept(entries, keep)


def _keep_with_parents(entries: list[Entry], keep: bytearray, index: int) -> None:
    while index >= 0 and not keep[index]:
        keep[index] = 1
        index = entries[index].parent


def _kept(entries: list[Entry], keep: bytearray) -> list[Entry]:
    moved: dict[int, int] = {-1: -1}
    kept: list[Entry] = []
    for index, entry in enumerate(entries):
        if keep[index]:
            moved[index] = len(kept)
            entry.parent = moved[entry.parent]
            kept.append(entry)
    return kept


def _count_lines(root: RawNode) -> None:
    """Notes in every node how many lines it will be at its own level (0: it has nothing to show), and whether it gives
    way to what is in it."""
    order = [root]
    for node in order:
        if node.children:
            order.extend(node.children)
    for node in reversed(order):
        if node.count or node.role == "text":
            continue
        below = sum([child.lines_below for child in node.children]) if node.children else 0
        if _is_transparent(node, below):
            node.gives_way = True
            node.lines_below = below + (1 if node.text else 0)
        elif not (node.ref or below or _has_words(node)):
            node.lines_below = 0


def _is_transparent(node: RawNode, below: int) -> bool:
    if node.ref or node.name:
        return False
    return node.role in TRANSPARENT_ROLES or (node.role in ITEM_ROLES and below == 1 and not node.text)


def _has_words(node: RawNode) -> bool:
    return bool(node.text) or (bool(node.name or "valuenow" in node.attrs) and node.role in TELLING_ROLES)


def _add_node(
    entries: list[Entry], node: RawNode, parent: int, depth: int, said: str, options: RenderOptions
) -> tuple[int, int, str]:
    """Adds the lines of the node itself; returns the parent, depth and shown text for its children."""
    text = node.text
    if options.compact:
        if node.gives_way:
            _add_text(entries, text, parent, depth, said, options)
            return parent, depth, said
        if said and node.role not in INTERACTIVE_ROLES and not node.cursor and _says(said, node.name or text):
            return parent, depth, said
    name = node.name
    if not name and (node.ref or node.role in TELLING_ROLES):
        name, text = text, ""
    if options.compact and node.role in INTERACTIVE_ROLES:
        _drop_label_before(entries, parent, name)
    shown = cut(name, options.max_name_chars)
    index = len(entries)
    entries.append(Entry(node, parent, depth, "node", shown, shown != name, 0, node.ref))
    if options.compact and name and node.role in NAMED_BY_CONTENT:
        said = f" {name} "
    if text and text not in (name, node.attrs.get("value")):
        _add_text(entries, text, index, depth + 1, said, options)
    return index, depth + 1, said


def _drop_label_before(entries: list[Entry], parent: int, name: str) -> None:
    """Removes the text or image right before a control that has it as its name."""
    last = entries[-1] if entries else None
    if last is None or last.parent != parent or not _same_label(last.name[last.tail :], name):
        return
    if last.kind == "text" and last.tail:
        last.name, last.tail = last.name[: last.tail].rstrip(), 0
    elif last.kind == "text" or (last.node.role == "img" and not last.node.cursor):
        entries.pop()


def _add_text(entries: list[Entry], text: str, parent: int, depth: int, said: str, options: RenderOptions) -> None:
    if not text or (said and _says(said, text)):
        return
    last = entries[-1] if entries else None
    limit = options.max_text_per_node
    if options.compact and last is not None and last.parent == parent:
        if last.kind == "text" and len(last.name) + len(text) < limit:
            last.tail = len(last.name) + 1
            last.name = f"{last.name} {text}"
            return
        if last.kind == "node" and last.node.role in INTERACTIVE_ROLES and _same_label(text, last.name):
            return
    shown = cut(text, limit)
    entries.append(Entry(_TEXT, parent, depth, "text", shown, shown != text))


def _says(said: str, words: str) -> bool:
    return not words or f" {words} " in said


def _same_label(text: str, name: str) -> bool:
    return bool(name) and text.strip(" :*") == name.strip(" :*")

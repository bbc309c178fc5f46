"""The forms without prose: the controls alone, and the controls with what places them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from bridge.snapshot.escape import cut
from bridge.snapshot.parse import RawNode
from bridge.snapshot.roles import INTERACTIVE_ROLES

#: Characters of content that distinguish a control without a name from the next one.
_WORDS_CHARS = 80
#: Containers that say where a control is (WAI-ARIA 1.2 §5.3.4), and those that do so if they have a name.
_PLACES = frozenset(
    "banner complementary contentinfo main navigation search dialog alertdialog iframe menu tablist".split()
)
_NAMED_PLACES = frozenset("form region radiogroup group toolbar tabpanel menubar tree grid treegrid table".split())
_ITEMS = frozenset("listitem row article".split())
#: Live regions, which announce how an action ended (WAI-ARIA 1.2 §6.5.1).
_NEWS = frozenset("alert status log".split())
_ITEM_NODES = 200
_LEVELS = 6


def placed_controls(root: RawNode) -> RawNode:
    """A tree of the controls, the landmarks around them and the headings above them.

    An item of a list or table keeps its first words if its controls have the same names as those of other items. Live
    regions keep all their words.
    """
    names = Counter(_identity(node) for node in _below(root) if _is_control(node))
    top = RawNode("document")
    order: list[RawNode] = []  # what is kept, in document order
    # Walked with a stack: a tree may be 20,000 levels deep.
    pending = [(root, top)]
    while pending:
        node, above = pending.pop()
        if node is not root and (kept := _kept(node, names)) is not None:
            above.children.append(kept)
            order.append(kept)
            if kept.children:
                continue
            above = kept
        elif _is_control(above) and not above.name and len(above.text) < _WORDS_CHARS:
            above.text = f"{above.text} {node.name or node.text}".strip()
        pending += [(child, above) for child in reversed(node.children)]
    _drop_what_places_nothing(order, top)
    return top


def _kept(node: RawNode, names: Counter[tuple[str, str]]) -> RawNode | None:
    """The node without what is below it, or None if only what is below it counts. Live regions stay whole."""
    if node.count or _is_control(node):
        return replace(node, text="" if node.name else node.text, children=[])
    if node.role in _NEWS:
        return replace(node)
    if node.role == "heading":
        return replace(node, name=node.name or _first_words(node), text="", children=[])
    if node.role in _PLACES or (node.role in _NAMED_PLACES and node.name):
        return replace(node, text="", children=[])
    if node.role in _ITEMS:
        inside = [below for below in _below(node, _ITEM_NODES) if _is_control(below)]
        if any(names[_identity(control)] > 1 for control in inside) and (words := node.name or _first_words(node)):
            return replace(node, name=words, text="", children=[])
    return None


def _drop_what_places_nothing(order: list[RawNode], top: RawNode) -> None:
    """Drop containers without a control, and headings whose section has none."""
    is_needed: set[int] = set()
    # By level: whether a control follows before the next heading of that level or a higher one.
    followed = [False] * (_LEVELS + 1)
    for node in reversed(order):
        node.children = [child for child in node.children if id(child) in is_needed or node.role in _NEWS]
        level = min(max(_level(node), 1), _LEVELS) if node.role == "heading" else 0
        if node.count or _is_control(node):
            followed = [True] * len(followed)
        elif not (node.children or node.role in _NEWS or (level and followed[level])):
            continue
        if level:
            followed[level:] = [False] * (len(followed) - level)
        is_needed.add(id(node))
    top.children = [child for child in top.children if id(child) in is_needed]


def _level(node: RawNode) -> int:
    level = node.attrs.get("level")
    if isinstance(level, int | str) and str(level).isdigit():
        return int(level)
    return int(node.tag[1]) if len(node.tag) == 2 and node.tag[1].isdigit() else 2


def _is_control(node: RawNode) -> bool:
    return bool(node.cursor or (node.ref and node.role in INTERACTIVE_ROLES))


def _identity(node: RawNode) -> tuple[str, str]:
    return node.role, node.name


def _below(root: RawNode, most: int | None = None) -> Iterator[RawNode]:
    """The nodes below `root` in document order, at most so many."""
    pending = root.children[::-1]
    while pending and most != 0:
        node = pending.pop()
        yield node
        pending += reversed(node.children)
        most = None if most is None else most - 1


def _first_words(node: RawNode) -> str:
    """The first words below a node that no control says."""
    words: list[str] = [node.text] if node.text else []
    pending = node.children[::-1]
    while pending and sum(map(len, words)) < _WORDS_CHARS and len(pending) < _ITEM_NODES:
        below = pending.pop()
        if node.role != "heading" and _is_control(below):
            continue
        if said := below.name or below.text:
            words.append(said)
        if not below.name:
            pending += reversed(below.children)
    return cut(" ".join(words), _WORDS_CHARS)


def only_controls(root: RawNode) -> RawNode:
    """A tree of the controls alone, in document order; nested controls stay nested.

    Cuts made in the page stay too: they may contain controls.
    """
    top = RawNode("document")
    pending = [(root, top)]
    while pending:
        node, above = pending.pop()
        if node.count or _is_control(node):
            kept = replace(node, text="" if node.name else node.text, children=[])
            above.children.append(kept)
            above = kept
        elif above is not top and not above.name and len(above.text) < _WORDS_CHARS:
            above.text = f"{above.text} {node.name or node.text}".strip()
        pending += [(child, above) for child in reversed(node.children)]
    return top

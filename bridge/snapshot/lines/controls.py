"""The controls-only form: elements that can be acted on, without structure and text."""

from __future__ import annotations

from dataclasses import replace

from bridge.snapshot.parse import RawNode
from bridge.snapshot.roles import INTERACTIVE_ROLES

#: Characters of content that distinguish a control without a name from the next one.
_WORDS_CHARS = 80


def only_controls(root: RawNode) -> RawNode:
    """A tree of the controls alone, in document order; nested controls stay nested.

    Cuts made in the page stay too: they may contain controls.
    """
    top = RawNode("document")
    # Walked with a stack: a tree may be 20,000 levels deep.
    pending = [(root, top)]
    while pending:
        node, above = pending.pop()
        if node.count or node.cursor or (node.ref and node.role in INTERACTIVE_ROLES):
            kept = replace(node, text="" if node.name else node.text, children=[])
            above.children.append(kept)
            above = kept
        elif above is not top and not above.name and len(above.text) < _WORDS_CHARS:
            above.text = f"{above.text} {node.name or node.text}".strip()
        pending += [(child, above) for child in reversed(node.children)]
    return top

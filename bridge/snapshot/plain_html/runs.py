"""Output of a walk over a document: runs of siblings, their nodes, and the tree built from them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bridge.snapshot.escape import cut
from bridge.snapshot.plain_html.dom import fold
from bridge.snapshot.plain_html.parse import Element

Node = dict[str, Any]


class Out(list[Any]):
    """Collects the nodes of a run; `text` is the text run that is still open."""

    __slots__ = ("text",)

    def __init__(self) -> None:
        super().__init__()
        self.text: Node | None = None


@dataclass(slots=True, eq=False)
class Run:
    """Siblings to walk, or waiting to be walked."""

    nodes: list[str | Element]
    index: int
    end: int
    out: Out
    depth: int = 0
    named: int = 0  # 1: a name says the text in here; 2: only nested controls count
    pointer: bool = False  # the cursor is a hand by inheritance
    counted: bool = False  # the parent already counts as clickable
    parent: Element | None = None
    is_block: bool = False
    has_ink: bool | None = None
    like: tuple[str, str] | None = None
    alike: int = 0
    waiting: Run | None = None
    is_slice: bool = False
    kind: str = ""

    def fork(self, start: int, end: int, *, kind: str = "", is_slice: bool = False) -> Run:
        """A run over some of the siblings, whose nodes come here into their place."""
        out = Out()
        self.out.append(out)
        self.out.text = None
        forked = Run(self.nodes, start, end, out, self.depth, self.named, self.pointer, self.counted, self.parent)
        forked.kind, forked.is_slice = kind or self.kind, is_slice
        return forked


def settle(top: Node, out: Out, limit: int, reasons: dict[str, None]) -> int:
    """Puts what waited into its place, folds texts, drops structure with nothing in it; how many nodes are left."""
    top["children"] = out
    order = [top]
    for node in order:
        node["children"] = kids = _flat(node["children"])
        order.extend(kid for kid in kids if "children" in kid)
    emitted = 0
    for node in reversed(order):
        kids = []
        for kid in node["children"]:
            if "tag" in kid:
                if kid.get("ref") or "frame" in kid or kid.get("children") or kid.get("text"):
                    kids.append(kid)
            elif "count" in kid:
                kids.append(kid)
            else:
                words = fold(kid["text"])
                shown = cut(words, limit)
                if shown != words:
                    reasons["maxTextPerNode"] = None
                if words and words != node.get("name"):
                    kids.append({"role": "text", "text": shown})
        del node["children"]
        if len(kids) == 1 and kids[0]["role"] == "text":
            node["text"] = kids[0]["text"]
        elif kids:
            node["children"] = kids
        emitted += len(kids)
    return emitted


def _flat(out: list[Any]) -> list[Node]:
    """The nodes of a run and of the runs that were forked from it, in the order of the document."""
    nodes: list[Node] = []
    stack = [iter(out)]
    while stack:
        for item in stack[-1]:
            if isinstance(item, Out):
                stack.append(iter(item))
                break
            nodes.append(item)
        else:
            stack.pop()
    return nodes

"""Looking things up in the raw JSON of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Node = dict[str, Any]


def nodes(raw: Node) -> Iterator[Node]:
    """Every node in reading order, cuts and texts among them."""
    assert "error" not in raw, raw
    todo = [raw["tree"]]
    while todo:
        node = todo.pop()
        yield node
        todo += reversed(node.get("children", []))


def find(raw: Node, role: str | None = None, name: str | None = None) -> Node:
    """The only node with this role and name."""
    found = [
        node
        for node in nodes(raw)
        if role in (None, node.get("role")) and (name is None or node.get("name") == name) and not node.get("more")
    ]
    assert len(found) == 1, f"{len(found)} × {role} {name!r} in {[brief(node) for node in nodes(raw)]}"
    return found[0]


def refs(raw: Node) -> dict[str, Node]:
    return {node["ref"]: node for node in nodes(raw) if "ref" in node}


def brief(node: Node) -> str:
    return f"{node.get('role')} {node.get('name') or node.get('text') or node.get('more') or ''}".strip()


def words(raw: Node) -> str:
    """All that a reader of the snapshot reads."""
    return " ".join(
        str(part)
        for node in nodes(raw)
        for part in (node.get("name"), node.get("text"), node.get("attrs", {}).get("value"))
        if part
    )

"""The two forms of a snapshot, and how many characters each of their parts takes.

Costs are upper bounds: a line may turn out shorter (a name said below, no colon), never longer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from bridge.snapshot.escape import quote
from bridge.snapshot.lines.layout import Entry
from bridge.snapshot.lines.outline import Row
from bridge.snapshot.model import Line, RenderOptions

#: Controls of one kind share a line of about this length.
_SHARED_LINE_CHARS = 240


NO_ELEMENT = "the document has no element"


@dataclass(frozen=True)
class Facts:
    """Facts for the header besides the page's address.

    Attributes:
        is_bare: The document has no element, not even a root.
        hidden_from_assistive: Visible controls that `aria-hidden` leaves out.
    """

    nodes: int
    reasons: tuple[str, ...] = ()
    truncated: bool = False
    cut_nodes: int = 0
    cut_texts: int = 0
    find: str = ""
    matches: int = 0
    is_bare: bool = False
    hidden_from_assistive: int = 0


class Form(Protocol):
    def place(self, url: str, title: str) -> str: ...
    def head(self, place: str, facts: Facts) -> str: ...
    def cost(self, entry: Entry) -> int: ...
    def cut_cost(self, depth: int) -> int: ...
    def join(self, head: str, rows: list[Row], lines: list[Line]) -> str: ...


class TextForm:
    """The outline that models read.

    Controls alone are a list, in which those of one kind that follow each other share a line, as in a menu:

        - link "News" [ref=e7], "Opinion" [ref=e8], "Sport" [ref=e9]
    """

    def __init__(self, options: RenderOptions, page_url: str) -> None:
        self._options = options
        self._page_url = page_url

    def place(self, url: str, title: str) -> str:
        return f" url={url} title={quote(title)}" if title else f" url={url}"

    def head(self, place: str, facts: Facts) -> str:
        found = f" find={quote(facts.find)} matches={facts.matches}" if facts.find else ""
        text = f"[snapshot]{place}{found} nodes={facts.nodes} truncated={'true' if facts.truncated else 'false'}"
        if facts.truncated:
            text += f" truncateReasons={json.dumps(facts.reasons, separators=(',', ':'))}"
        if facts.cut_nodes:
            text += f" cutNodes={facts.cut_nodes}"
        if facts.cut_texts:
            text += f" cutTexts={facts.cut_texts}"
        if facts.hidden_from_assistive:
            text += f" hidden_from_assistive={facts.hidden_from_assistive}"
        if facts.is_bare:
            text += f" note={quote(NO_ELEMENT)}"
        return text

    def cost(self, entry: Entry) -> int:
        entry.body = entry.line(self._options, self._page_url).body
        return 2 * entry.depth + 4 + len(entry.body)

    def cut_cost(self, depth: int) -> int:
        return 2 * depth + 72

    def join(self, head: str, rows: list[Row], lines: list[Line]) -> str:
        out = [head]
        shared = None
        for row, line in zip(rows, lines, strict=True):
            body = row.entry.body if row.named and row.entry.body else line.body
            kind = (line.depth, line.role) if self._options.controls_only and line.ref and not row.opens else None
            if kind is not None and kind == shared:
                without_role = body[len(line.role) :]
                if len(out[-1]) + len(without_role) < _SHARED_LINE_CHARS:
                    out[-1] = f"{out[-1]},{without_role}"
                    continue
            out.append(f"{'  ' * line.depth}- {body}{':' if row.opens else ''}")
            shared = kind
        return "\n".join(out)


class JsonForm:
    """The same lines as nested objects: `{"role", "name", "attrs", "ref", "children"}`."""

    def __init__(self, options: RenderOptions, page_url: str) -> None:
        self._options = options
        self._page_url = page_url

    def place(self, url: str, title: str) -> str:
        return f'"url":{_dump(url)},"title":{_dump(title)},'

    def head(self, place: str, facts: Facts) -> str:
        header: dict[str, Any] = {"find": facts.find, "matches": facts.matches} if facts.find else {}
        header |= {"nodes": facts.nodes, "truncated": facts.truncated, "truncateReasons": facts.reasons}
        if facts.cut_nodes:
            header["cutNodes"] = facts.cut_nodes
        if facts.cut_texts:
            header["cutTexts"] = facts.cut_texts
        if facts.hidden_from_assistive:
            header["hidden_from_assistive"] = facts.hidden_from_assistive
        if facts.is_bare:
            header["note"] = NO_ELEMENT
        return f'{{{place}{_dump(header)[1:-1]},"tree":[]}}'

    def cost(self, entry: Entry) -> int:
        return len(_dump(self._object(Row(entry)))) + len(',"children":[]')

    def cut_cost(self, depth: int) -> int:
        return 72

    def join(self, head: str, rows: list[Row], lines: list[Line]) -> str:
        tree: list[Any] = []
        levels = [tree]
        for row in rows:
            node = self._object(row)
            del levels[row.entry.depth + 1 :]
            levels[-1].append(node)
            if row.opens:
                levels.append([])
                node["children"] = levels[-1]
        return f"{head[:-3]}{_dump(tree)}}}"

    def _object(self, row: Row) -> dict[str, Any]:
        entry = row.entry
        node = entry.node
        if entry.kind == "cut":
            more = {"more": node.more} if node.more else {}
            return {"truncated": node.count, **({"alike": node.role} if node.alike else {}), **more}
        if entry.kind == "text":
            return {"text": entry.name}
        out: dict[str, Any] = {"role": node.role}
        if entry.name:
            out["name"] = entry.name
        attrs = dict(entry.attrs(self._options, self._page_url))
        if attrs:
            out["attrs"] = attrs
        if node.ref:
            out["ref"] = node.ref
        return out


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

"""The raw tree of a document without a browser, in the form that the injected script's `snapshot()` has. Pure.

The walk is that of `injected_js/src/snapshot.js`. Without a layout nothing is near or far: what repeats waits, in the
order of the document, and is walked while there is budget; what is left becomes a cut that says how to go on. Budgets
count work, not time, so that the same document gives the same tree.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from bridge.snapshot.escape import cut
from bridge.snapshot.plain_html.dom import HtmlDocument, fold, kids_of, strip, text_of
from bridge.snapshot.plain_html.names import Names, is_editable
from bridge.snapshot.plain_html.parse import Element
from bridge.snapshot.plain_html.roles import SKIPPED_TAGS, VOID_TAGS
from bridge.snapshot.plain_html.runs import Node, Out, Run, settle
from bridge.snapshot.plain_html.values import attrs_of
from bridge.snapshot.role_table import (
    CHILDREN_PRESENTATIONAL,
    CONTENT,
    INTERACTIVE,
    ROLE_TRAITS,
    SAID_BY_NAME,
    TRANSPARENT,
)

#: Elements walked in one snapshot.
MAX_VISITED = 40_000
_ALIKE = 8
_SLICE = 12
_MAX_DEPTH = 60
_SEARCH_STEPS = 500
_MOST_HIDDEN = 10_000
_FRAMES = frozenset(("iframe", "frame"))


@dataclass(frozen=True)
class Collecting:
    """Limits of the collection."""

    max_nodes: int = 500
    max_text_per_node: int = 200
    max_attr_value_len: int = 150
    budget_chars: int = 80_000
    interactive_only: bool = True
    cursor_interactive: bool = True
    dedupe_text: bool = True
    aria_hidden: bool = False


def is_veiled(element: Element) -> bool:
    """Is `aria-hidden` on it, or on what is around it?"""
    return any(at.get("aria-hidden") == "true" for at in (element, *element.iterancestors()))


@dataclass(eq=False)
class Collector:
    """One walk; `collect` is called once."""

    document: HtmlDocument
    names: Names
    options: Collecting
    url: str = ""
    title: str = ""
    _stack: list[Run] = field(default_factory=list)
    _queue: list[tuple[int, int, Run]] = field(default_factory=list)
    _left: list[Run] = field(default_factory=list)
    _reasons: dict[str, None] = field(default_factory=dict)
    _visited: int = 0
    _skipped: int = 0
    _hidden_controls: int = 0
    _spent: int = 0
    _refs: int = 0
    _order: int = 0
    _way: dict[Element, Element] = field(default_factory=dict)

    def collect(self, scope: Element, start: Element | None = None) -> Node:
        """The raw snapshot below `scope`, from the element `start` on."""
        at = start
        while at is not None and at is not scope:
            above = at.getparent()
            if above is not None:
                self._way[above] = at
            at = above
        top: Node = {"role": "document", "tag": "html"}
        out = Out()
        self._stack.append(Run([scope], 0, 1, out))
        over = self._walk()
        if self.document.has_more:
            self._reasons["maxElements"] = None
        if over and (self._stack or self._queue):
            self._reasons[over] = None
        if self.names.exhausted:
            self._reasons["maxWork"] = None
        left = [run.fork(run.index, run.end) for run in self._stack if run.index < run.end]
        left += [run for _, _, run in self._queue] + self._left
        for run in left:
            self._add_cut(run)
        emitted = settle(top, out, self.options.max_text_per_node, self._reasons)
        stats = {
            "visitedNodes": self._visited,
            "emittedNodes": emitted,
            "skippedHidden": self._skipped,
            "hiddenFromAssistive": self._hidden_controls,
            "hiddenTextRemoved": self.names.removed,
        }
        return {
            "url": self.url,
            "title": self.title,
            "tree": top,
            "stats": stats,
            "truncated": bool(left or self._reasons),
            "reasons": list(self._reasons),
        }

    def with_refs(self, raw: Node) -> Node:
        """The snapshot with its refs. The first snapshot of a document decides about them; see `HtmlDocument`."""
        nodes, todo = [], [raw["tree"]]
        while todo:
            node = todo.pop()
            if "place" in node:
                nodes.append(node)
            todo.extend(reversed(node.get("children", ())))
        if not self.document.has_refs:
            self.document.give_refs(node["place"] for node in nodes if "ref" in node)
        for node in nodes:
            place = node.pop("place")
            if "ref" in node:
                node["ref"] = self.document.ref_at(place)
            elif place:
                node["more"] = self.document.ref_at(place)
        return raw

    def _walk(self) -> str:
        """Walks until there is nothing left or a budget is spent; the reason then."""
        options, stack = self.options, self._stack
        while True:
            if not stack:
                if not self._queue:
                    return ""
                order, number, run = heapq.heappop(self._queue)
                end = min(run.index + _SLICE, run.end)
                first, rest = run.fork(run.index, end, is_slice=True), None
                if end < run.end:
                    rest = run.fork(end, run.end)
                    heapq.heappush(self._queue, (order + MAX_VISITED, number, rest))
                stack.append(first)
            if self._refs >= options.max_nodes:
                return "maxNodes"
            if self._spent >= options.budget_chars:
                return "budgetChars"
            if self._visited >= MAX_VISITED or self.names.exhausted:
                return "maxWork"
            run = stack[-1]
            if run.index >= run.end:
                if stack.pop().is_block:
                    run.out.text = None
                continue
            node = run.nodes[run.index]
            run.index += 1
            if isinstance(node, str):
                self._add_text(run, node)
            else:
                self._add_element(run, node)

    def _wait(self, run: Run, tag: str) -> None:
        last = run.waiting
        if last is not None and last.end == run.index - 1:
            last.end += 1
            return
        run.waiting = run.fork(run.index - 1, run.index, kind="alike")
        if tag == "option":
            self._left.append(run.waiting)
        else:
            self._order += 1
            heapq.heappush(self._queue, (self._order, self._order, run.waiting))

    def _add_text(self, run: Run, words: str) -> None:
        text = run.out.text
        if not words or words.isspace():
            if text is not None:
                text["text"] += " "
            return
        run.like = None
        if run.waiting is not None and run.waiting.end == run.index - 1:
            run.waiting.end += 1
            return
        if run.named:
            return
        if run.has_ink is None:
            run.has_ink = run.parent is None or self._has_ink(run.parent)
        if not run.has_ink:
            self.names.removed += 1
            return
        limit = self.options.max_text_per_node * 2
        piece = words[:limit]
        shown = strip(piece)
        if len(shown) != len(piece):
            self.names.removed += 1
        if text is None:
            text = run.out.text = {"text": ""}
            run.out.append(text)
        if len(text["text"]) < limit:
            text["text"] += shown
            self._spent += len(shown) + 24

    def _shown_controls(self, element: Element) -> int:
        """Controls that are rendered in what `aria-hidden` hides."""
        count, todo = 0, [element]
        while todo and count < _MOST_HIDDEN:
            at = todo.pop()
            if not self.document.is_absent(at) and not self.document.is_unseen(at):
                is_control = ROLE_TRAITS.get(self.names.role_of(at), 0) & INTERACTIVE and self.document.is_visible(at)
                count += bool(is_control)
                todo.extend(at.iterchildren())
        return count

    def _has_ink(self, parent: Element) -> bool:
        closed = parent.tag == "details" and parent.get("open") is None
        return self.document.is_visible(parent) and not self.document.is_inkless(parent) and not closed

    def _add_element(self, run: Run, element: Element) -> None:
        document, names, options = self.document, self.names, self.options
        tag = str(element.tag)
        out = run.out
        if tag == "br":
            out.text = None
            return
        if tag in SKIPPED_TAGS:
            return
        self._visited += 1
        if document.is_absent(element) or (document.is_gone(element) and not options.aria_hidden):
            if not document.is_absent(element) and not document.is_unseen(element):
                self._hidden_controls += self._shown_controls(element)
            self._skipped += 1
            return
        if not run.is_slice:
            like = (tag, element.get("class") or "")
            run.alike = run.alike + 1 if like == run.like else 1
            run.like = like
            if run.alike > _ALIKE and element not in self._way:
                self._wait(run, tag)
                return
        if document.is_unseen(element) and tag not in ("input", "select", "textarea"):
            if fold(text_of(element, 500)):
                names.removed += 1
            self._skipped += 1
            return
        role = names.role_of(element)
        flags = ROLE_TRAITS.get(role, TRANSPARENT)
        visible = document.is_visible(element)
        active = visible and bool(flags & INTERACTIVE)
        is_block = not document.is_inline(element)
        mark, pointer, counted = self._cursor(run, element, active) if visible else ("", run.pointer, run.counted)
        if is_block:
            out.text = None
        named, depth = run.named, run.depth
        if tag == "label":
            control = document.controls.get(element)
            if control is not None and not document.is_gone(control):
                named = 2
        inner = out
        if visible and (mark or active or tag in _FRAMES or not (flags & TRANSPARENT or named)):
            name = names.name_of(element, 2 if role == "generic" else 1)[: 4 * options.max_text_per_node]
            shown = active or bool(mark) or bool(flags & CONTENT and (name or not options.interactive_only))
            if role == "img" and not shown:
                return
            inner = Out()
            self._add_node(out, inner, element, role, name, mark, shown=shown, active=active)
            depth += 1
            if tag != "select":
                if flags & CHILDREN_PRESENTATIONAL:
                    named = 2
                elif name and options.dedupe_text and self._says_content(element, mark, flags):
                    named = named or 1
        if tag in VOID_TAGS:
            return
        kids = list(kids_of(element))
        if not kids:
            if is_block:
                inner.text = None
            return
        first = kids.index(self._way[element]) if element in self._way else 0
        below = Run(kids, first, len(kids), inner, depth, named, pointer, counted, element, is_block)
        if depth <= _MAX_DEPTH:
            self._stack.append(below)
        else:
            self._reasons["maxDepth"] = None
            self._left.append(below.fork(0, len(kids), kind="cut"))

    def _says_content(self, element: Element, mark: str, flags: int) -> bool:
        """True if an element is named by its content and not by its author."""
        return bool(flags & SAID_BY_NAME) and not (mark and self.names.author_name(element))

    def _cursor(self, run: Run, element: Element, active: bool) -> tuple[str, bool, bool]:
        """`clickable`, `focusable`, `editable` or "", and what the children inherit of it."""
        if not self.options.cursor_interactive:
            return "", False, False
        said = self.document.style(element).get("cursor")
        tag = element.tag
        pointer = said == "pointer" if said else run.pointer or (tag in ("a", "area") and active)
        mark = ""
        if not active and tag not in ("html", "body", "label", "option") and element in self.document.numbers:
            if is_editable(element):
                mark = "editable"
            elif (pointer and not run.counted and run.named != 1) or element.get("onclick") is not None:
                mark = "clickable"
            elif (element.get("tabindex") or "") >= "0":
                mark = "focusable"
        return mark, pointer, pointer and (run.counted or active or bool(mark))

    def _add_node(
        self, out: Out, inner: Out, element: Element, role: str, name: str, mark: str, *, shown: bool, active: bool
    ) -> None:
        options = self.options
        node: Node = {"role": role, "tag": element.tag}
        if name:
            node["name"] = cut(name, options.max_text_per_node)
        attrs = attrs_of(element, role, name, options.max_attr_value_len, lean=options.interactive_only)
        if options.aria_hidden and is_veiled(element):
            attrs["aria-hidden"] = True
        if attrs:
            node["attrs"] = attrs
        number = self.document.numbers.get(element)
        if shown and number is not None:
            node["place"] = number
            node["ref"] = "e"  # `with_refs` writes it out
            self._refs += 1
        if active:
            description = cut(self.names.description_of(element, name), options.max_text_per_node)
            if description:
                node["description"] = description
        if mark:
            node["cursorInteractive"] = mark
        if element.tag in _FRAMES:
            node["frame"] = -1
        self._spent += (
            60 + len(node.get("name", "")) + sum(len(key) + len(str(value)) + 6 for key, value in attrs.items())
        )
        out.append(node)
        out.text = None
        node["children"] = inner

    def _add_cut(self, run: Run) -> None:
        """Adds the nodes that were not walked, as a count and the ref to continue from."""
        rest = [node for node in run.nodes[run.index : run.end] if not isinstance(node, str)]
        rest = [element for element in rest if element.tag not in SKIPPED_TAGS and element.tag != "br"]
        if not rest:
            return
        steps = 0
        more = 0
        for element in rest[:_SLICE]:
            for below in element.iter():
                steps += 1
                number = self.document.numbers.get(below)
                if number is not None:
                    more = number
                if more or steps > _SEARCH_STEPS:
                    break
            if more or steps > _SEARCH_STEPS:
                break
        role = self.names.role_of(rest[0])
        run.out.append({"more": "", "place": more, "count": len(rest), "role": role, "kind": run.kind or "cut"})


__all__ = ["MAX_VISITED", "Collecting", "Collector"]

"""The blocks that have been written, each with the prefix of the quotes and list items it stands in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

BlockKind = Literal["text", "heading", "code", "table", "rule"]
#: Deeper quotes and lists are written at this level: each line carries its prefix, so depth costs its square.
MAX_NESTING = 24


@dataclass(slots=True)
class Block:
    """A block of Markdown: `gap` is what stands between it and the one before."""

    gap: str
    text: str
    kind: BlockKind
    level: int = 0
    title: str = ""
    anchor: str = ""


@dataclass(slots=True, eq=False)
class ListState:
    """An open list: `number` is the next item's, `marker` what follows a number or stands for a bullet."""

    is_ordered: bool
    number: int
    marker: str
    step: int = 1
    has_items: bool = False
    is_tight: bool = True


@dataclass(slots=True, eq=False)
class _Container:
    prefix: str
    first: str | None
    is_item: bool
    blocks: int = 0
    is_simple: bool = True


@dataclass(slots=True, eq=False)
class Blocks:
    """Collects finished blocks."""

    out: list[Block] = field(default_factory=list)
    _prefix: str = ""
    _first: str | None = None
    _join: str = ""
    _stack: list[_Container] = field(default_factory=list)
    _tight: bool = False
    _closed_list: tuple[str, bool, str] | None = None

    @property
    def depth(self) -> int:
        return len(self._stack)

    @property
    def top_is_item(self) -> bool:
        return bool(self._stack) and self._stack[-1].is_item

    def emit(self, text: str, kind: BlockKind = "text", *, level: int = 0, title: str = "", anchor: str = "") -> None:
        prefix = self._prefix
        if prefix and "\n" in text:
            bare = prefix.rstrip()
            lines = text.split("\n")
            text = "\n".join([lines[0], *(f"{prefix}{line}" if line else bare for line in lines[1:])])
        head = prefix if self._first is None else self._first
        gap = ""
        if self.out:
            gap = "\n" if self._tight else f"\n{self._join.rstrip()}\n" if self._join else "\n\n"
        self.out.append(Block(gap, f"{head}{text}", kind, level, title, anchor))
        self._first, self._join, self._tight, self._closed_list = None, prefix, False, None
        if self._stack:
            inner = self._stack[-1]
            inner.blocks += 1
            if inner.blocks > 1 or kind in ("code", "table"):
                inner.is_simple = False

    def follow_tightly(self) -> None:
        """The next block stands right below this one, as a definition below its term."""
        self._tight = True

    def push(self, first: str, rest: str, *, is_item: bool = False) -> bool:
        """Open a container whose first line begins with `first`; False where it would nest too deep."""
        if len(self._stack) >= MAX_NESTING:
            return False
        self._stack.append(_Container(self._prefix, self._first, is_item))
        self._first = (self._prefix if self._first is None else self._first) + first
        self._prefix += rest
        return True

    def pop(self) -> bool:
        """Close the innermost container; True when it held no more than one paragraph and what was tight in it."""
        done = self._stack.pop()
        # Nothing was written into it: what waits for the first line is again what waited outside.
        self._first = done.first if self._first is not None else None
        self._prefix = done.prefix
        if len(done.prefix) < len(self._join):
            self._join = done.prefix
        if self._stack and (done.blocks or not done.is_simple):
            outer = self._stack[-1]
            outer.is_simple = outer.is_simple and done.is_simple and done.is_item
            outer.blocks = max(outer.blocks, 1)
        return done.is_simple

    def begin_list(self, is_ordered: bool, start: int, step: int = 1) -> ListState:
        """Two lists in a row would be read as one: the second takes another marker (CommonMark §5.3)."""
        marker = "." if is_ordered else "-"
        if self._closed_list is not None and self._closed_list[:2] == (self._prefix, is_ordered):
            marker = {"-": "*", "*": "-", ".": ")", ")": "."}[self._closed_list[2]]
        return ListState(is_ordered, start, marker, step)

    def begin_item(self, state: ListState, number: int | None = None) -> bool:
        if number is not None:
            state.number = number
        interrupts = not state.is_ordered or state.number == 1
        if state.has_items:
            self._tight = state.is_tight
        elif self.top_is_item and self._stack[-1].blocks == 1 and self._stack[-1].is_simple and interrupts:
            self._tight = True
        label = f"{max(0, min(state.number, 999_999_999))}{state.marker} " if state.is_ordered else f"{state.marker} "
        state.number += state.step
        return self.push(label, " " * len(label), is_item=True)

    def end_item(self, state: ListState) -> None:
        written = self._stack[-1].blocks > 0
        state.is_tight = self.pop() and (state.is_tight or not state.has_items)
        if written:
            state.has_items = True
        elif state.is_ordered:
            state.number -= state.step
        self._tight = False

    def end_list(self, state: ListState) -> None:
        if state.has_items:
            self._closed_list = (self._prefix, state.is_ordered, state.marker)

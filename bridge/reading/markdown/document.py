"""Finished Markdown as blocks: its outline, one section of it, and cutting it without breaking anything."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from bridge.errors import UsageError
from bridge.reading.markdown.blocks import Block

_NAMED = 12
_WORD_BACK = 200
_LINK_TEXT = 2_000
_ATOM = re.compile(r"\\.|(`+)|(!?\[)|(\]\([^()\s]*(?: \"[^\"\n]*\")?\))|(\])", re.DOTALL)
_FENCE = re.compile(r"`{3,}")


def joined(blocks: Sequence[Block]) -> str:
    parts = [part for block in blocks for part in (block.gap, block.text)]
    return "".join(parts[1:])


def outline(blocks: Sequence[Block]) -> str:
    """The headings as a nested list, each a link to its anchor where it has one."""
    headings = [block for block in blocks if block.kind == "heading"]
    lines: list[str] = []
    above: list[int] = []
    for block in headings:
        while above and above[-1] >= block.level:
            above.pop()
        words = block.title.replace("[", "\\[").replace("]", "\\]")
        lines.append(f"{'  ' * len(above)}- {f'[{words}](#{block.anchor})' if block.anchor else words}")
        above.append(block.level)
    return "\n".join(lines)


def outline_blocks(blocks: Sequence[Block]) -> list[Block]:
    """The outline as blocks, one a heading, so that it is cut between headings."""
    lines = outline(blocks).split("\n")
    return [Block("\n" if at else "", line, "text") for at, line in enumerate(lines) if line]


def section(blocks: Sequence[Block], wanted: str) -> list[Block]:
    """The heading that `wanted` names, by its words or its anchor, and all up to the next one of its level.

    Raises:
        UsageError: No heading is called so; names those there are.
    """
    key = _folded(wanted.strip().lstrip("#"))
    headings = [(at, block) for at, block in enumerate(blocks) if block.kind == "heading"]
    tests: tuple[Callable[[Block], bool], ...] = (
        lambda block: key in (_folded(block.title), _folded(block.anchor)),
        lambda block: _folded(block.title).startswith(key),
        lambda block: key in _folded(block.title),
    )
    for test in tests if key else ():
        for at, block in headings:
            if test(block):
                end = next((other for other, below in headings if other > at and below.level <= block.level), None)
                return list(blocks[at:end])
    names = ", ".join(repr(block.title[:60]) for _, block in headings[:_NAMED])
    raise UsageError(
        f"unknown section {wanted[:80]!r}; the page has {names or 'no headings'}"
        f"{' and more' if len(headings) > _NAMED else ''}.",
        hint="Ask for the outline to see all of them." if headings else "",
    )


def checked_length(max_length: object) -> int:
    """A length that a caller gave, as a whole number.

    Raises:
        UsageError: It is not one.
    """
    if isinstance(max_length, bool) or not isinstance(max_length, int | float) or max_length % 1 != 0:
        raise UsageError(f"max_length is {str(max_length)[:80]!r}; it must be a whole number, or 0 for no limit.")
    return int(max_length)


def truncated(blocks: Sequence[Block], max_length: int) -> tuple[str, bool]:
    """The Markdown in at most `max_length` characters and a notice, and whether it was cut; 0 or less means unlimited.

    The cut is behind the last block that ends in the second half of the limit; where there is none, inside a block,
    between rows, lines or words, and never inside a link, a code span, a table row or a character.
    """
    if max_length <= 0:
        return joined(blocks), False
    length, kept = 0, 0
    for at, block in enumerate(blocks):
        length += len(block.text) + (len(block.gap) if at else 0)
        if length > max_length:
            break
        kept = at + 1
    if kept == len(blocks):
        return joined(blocks), False
    whole = joined(blocks[:kept])
    # A heading whose text is cut away says nothing.
    while kept > 1 and blocks[kept - 1].kind == "heading" and len(joined(blocks[: kept - 1])) * 2 >= max_length:
        kept -= 1
        whole = joined(blocks[:kept])
    if len(whole) * 2 < max_length:
        block = blocks[kept]
        gap = block.gap if kept else ""
        room = max_length - len(whole) - len(gap)
        part = _part(block, room) if room > 0 else ""
        if part:
            whole = f"{whole}{gap}{part}"
    notice = truncation_notice(max_length)
    whole = whole.rstrip()
    return (f"{whole}\n\n{notice}" if whole else notice), True


def truncation_notice(max_length: int) -> str:
    """The last line of a text that was cut."""
    return f"[Content truncated at {max_length} characters]"


def _part(block: Block, room: int) -> str:
    if block.kind == "code":
        first, *lines = block.text.split("\n")
        last = lines[-1]
        fence = _FENCE.search(last)
        assert fence is not None, "a code block ends with its fence"
        kept = _whole_lines([first, *lines[:-1]], room - len(last) - 1)
        if len(kept) > 1:
            return "\n".join([*kept, last])
        # One endless line of code: the only place where code is cut inside of a line.
        if lines[:-1] and room > len(first) + len(last) + 2:
            return f"{first}\n{_cut_characters(lines[0], room - len(first) - len(last) - 2)}\n{last}"
        return ""
    if block.kind == "table":
        kept = _whole_lines(block.text.split("\n"), room)
        return "\n".join(kept) if len(kept) > 2 else ""
    if block.kind in ("heading", "rule"):
        return ""
    return _cut_text(block.text, room)


def _whole_lines(lines: list[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < -1:
            break
        kept.append(line)
    return kept


def _cut_text(text: str, room: int) -> str:
    end = min(_safe_end(text, room), len(text))
    if end == room:
        back = max(0, end - _WORD_BACK)
        space = max(text.rfind(" ", back, end + 1), text.rfind("\n", back, end + 1))
        if space > 0 and _safe_end(text, space) == space:
            return text[:space].rstrip()
    return _cut_characters(text[:end] if end < room else text, min(end, room))


def _safe_end(text: str, room: int) -> int:
    """The last place up to `room` that is not inside a link, an image, a code span or an escape."""
    opened: list[int] = []
    at = 0
    while (found := _ATOM.search(text, at)) is not None and found.start() < room:
        at = found.end()
        if found[1]:
            closing = re.compile(rf"(?<!`){found[1]}(?!`)").search(text, at)
            if closing is not None:
                if closing.end() > room:
                    return opened[0] if opened else found.start()
                at = closing.end()
        elif found[2]:
            opened.append(found.start())
        elif found[3] and opened:
            start = opened.pop()
            if at > room:
                return opened[0] if opened else start
        elif found[4] and opened:
            opened.pop()
        elif at > room:
            return found.start()
    if not opened:
        return room
    # Is the bracket that is open here a link's, or only a bracket?
    depth = len(opened)
    for found in _ATOM.finditer(text, at, min(len(text), room + _LINK_TEXT)):
        if found[2]:
            depth += 1
        elif found[3] or found[4]:
            depth -= 1
            if depth < len(opened):
                if found[3]:
                    return opened[0] if depth == 0 or len(opened) == 1 else opened[depth]
                opened.pop()
                if not opened:
                    return room
    return room


def _cut_characters(text: str, end: int) -> str:
    """At most `end` characters, without cutting off an accent, a variation selector or half of a joined emoji."""
    while 0 < end < len(text) and (
        unicodedata.combining(text[end])
        or text[end] in "\u200d\ufe0e\ufe0f"
        or text[end - 1] == "\u200d"
        or 0x1F3FB <= ord(text[end]) <= 0x1F3FF
        or text[end - 1] == "\\"
    ):
        end -= 1
    return text[:end].rstrip()


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())

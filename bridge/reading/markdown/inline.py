"""The line that is being written: white space folded, emphasis and links opened only when something is in them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from bridge.reading.markdown.escape import code_span, escape_line_starts, escape_text, folded

_MARKED = "*~=_"


@dataclass(slots=True, eq=False)
class Mark:
    """Emphasis or a link around text; `at` is where it was opened in the line, -1 while it is not."""

    opening: str
    closing: str
    at: int = -1

    @property
    def is_link(self) -> bool:
        return self.opening == "["


class InlineLine:
    """Pieces of one paragraph. What is nested twice the same is written once; what holds nothing is not written."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._marks: list[Mark] = []
        self._space = False
        self._breaks = 0
        self._code_depth = 0
        self._code: list[str] = []
        self._code_at = -1
        self._last_code = ""
        self._closed: Mark | None = None
        self.break_text = "  \n"

    @property
    def is_empty(self) -> bool:
        return not self._parts and not self._code

    @property
    def wants_paragraph(self) -> bool:
        """Two line breaks in a row were written: what follows is another paragraph."""
        return self._breaks > 1

    @property
    def in_link(self) -> bool:
        return any(mark.is_link for mark in self._marks) if self._marks else False

    def text(self, raw: str) -> None:
        words = folded(raw)
        if words == " ":
            self._space = True
            return
        if words[0] == " ":
            self._space = True
            words = words[1:]
        ends_open = words[-1] == " "
        if ends_open:
            words = words[:-1]
        if self._code_depth:
            if self._space and self._code:
                self._code.append(" ")
                self._space = False
            self._code.append(words)
        else:
            self._words(escape_text(words, in_link=self.in_link))
        if ends_open:
            self._space = True

    def raw(self, markdown: str) -> None:
        """Something that is Markdown already."""
        self._flush_code()
        self._begin(markdown)
        self._parts.append(markdown)

    def space(self) -> None:
        self._space = True

    def forget_space(self) -> None:
        """Nothing is in the line: what waited for a word waits no more."""
        self._space, self._breaks = False, 0

    def line_break(self) -> None:
        if self._code_depth:
            self._space = True
        elif self._parts:
            self._breaks += 1
            self._space = False

    def open(self, opening: str, closing: str) -> Mark | None:
        """Start emphasis or, with `[`, a link; None where it would nest in its own kind or in code."""
        if opening == "[":
            if self.in_link:
                return None
            self._flush_code()
        elif self._code_depth or any(mark.opening == opening for mark in self._marks):
            return None
        mark = Mark(opening, closing)
        self._marks.append(mark)
        return mark

    def close(self, mark: Mark | None) -> None:
        if mark is None or mark not in self._marks:
            return
        if mark.is_link:
            self._flush_code()
        # Marks opened inside and left open by the page are closed first, and go on after it.
        at = self._marks.index(mark)
        self._shut(at)
        del self._marks[at]

    def begin_code(self) -> None:
        self._code_depth += 1

    def end_code(self) -> None:
        self._code_depth -= 1
        if not self._code_depth:
            self._flush_code()

    def take(self) -> str:
        """The paragraph so far, safe at each line's start; a new one begins, with the same marks around it."""
        text = self.take_flat()
        return escape_line_starts(text) if text else ""

    def take_flat(self) -> str:
        """The same for a place where no line begins a block: a heading, a cell."""
        if not self._parts and not self._code:
            self._space, self._breaks = False, 0
            return ""
        self._flush_code()
        if self._marks:
            self._shut(0)
        text = "".join(self._parts)
        self._parts.clear()
        self._space, self._breaks, self._code_at, self._closed = False, 0, -1, None
        return text

    def _words(self, words: str) -> None:
        parts = self._parts
        if parts and not self._space and not self._breaks:
            before = parts[-1][-1:]
            if words[0] in "([:" and before == "]":
                words = f"\\{words}"
            elif self._closed is not None and words[0].isalnum():
                self._move_punctuation_out()
            elif words[0] not in "\\[!" and before.isalnum() and _is_punctuation(words[0]) and self._is_opening():
                parts.append(words[0])
                words = words[1:]
                if not words:
                    return
        self._begin(words)
        parts.append(words)

    def _is_opening(self) -> bool:
        return any(mark.at < 0 and mark.opening[0] in _MARKED for mark in self._marks)

    def _move_punctuation_out(self) -> None:
        """`**Note:**text` does not end where it should (CommonMark §6.2, right-flanking); `**Note**:text` does."""
        parts = self._parts
        inside = parts[-2] if len(parts) > 2 else ""
        if len(inside) > 1 and _is_punctuation(inside[-1]) and inside[-2] != "\\" and inside[-1] not in "`)*~=":
            parts[-2], tail = inside[:-1], inside[-1]
            parts.append(tail)

    def _begin(self, following: str) -> None:
        """Write what was waiting for content: breaks, a space, opening marks."""
        parts = self._parts
        if parts:
            if self._breaks:
                parts.append(self.break_text)
            elif self._space:
                parts.append(" ")
            elif self._closed is not None:
                # Two of a kind side by side, `**a****b**`, would not be read as two.
                again = next((mark for mark in self._marks if mark.at < 0), None)
                if again is not None and again.opening == self._closed.opening:
                    parts.pop()
                    again.at = self._closed.at
        self._space, self._breaks, self._closed = False, 0, None
        for mark in self._marks:
            if mark.at < 0:
                if mark.opening == "[" and parts and parts[-1][-1:] == "!":
                    parts[-1] = f"{parts[-1][:-1]}\\!"
                mark.at = len(parts)
                parts.append(mark.opening)

    def _shut(self, first: int) -> None:
        """Close the open marks from `first` on, innermost first; they open again with the next content."""
        for mark in reversed(self._marks[first:]):
            if mark.at >= 0:
                self._parts.append(mark.closing)
                self._closed = Mark(mark.opening, mark.closing, mark.at) if not mark.is_link else None
                mark.at = -1

    def _flush_code(self) -> None:
        if not self._code:
            return
        code = "".join(self._code)
        self._code.clear()
        parts = self._parts
        is_open = all(mark.at >= 0 for mark in self._marks)
        if self._code_at == len(parts) - 1 >= 0 and not self._space and not self._breaks and is_open:
            self._last_code += code
            parts[-1] = code_span(self._last_code)
            return
        space, self._space = self._space, False
        if space and parts:
            self._space = True
        self._begin(code)
        self._code_at, self._last_code = len(parts), code
        parts.append(code_span(code))


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"

"""What a model reads after a call: our words, then the page's inside a fence, never more than fits."""

from __future__ import annotations

from dataclasses import dataclass, field

from bridge.ops import ContentMarkers

MAX_ANSWER_CHARS = 12_000
_CUT = "… ({left} more characters were cut: answers end at {limit}.)"
_CUT_CHARS = 100


@dataclass(frozen=True, slots=True)
class Image:
    """A picture beside the words."""

    image_bytes: bytes = field(repr=False)
    mime: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call.

    Attributes:
        text: Our words; no page can have written in them.
        page_text: Words of the page at `page_url`; `shown` fences them.
        max_chars: Bound of the whole; tools that a length is given to have one of their own.
    """

    text: str
    page_text: str = ""
    page_url: str = ""
    image: Image | None = None
    is_error: bool = False
    max_chars: int = MAX_ANSWER_CHARS

    def shown(self, fence: ContentMarkers) -> str:
        """The whole as a model reads it, at most `max_chars` characters; what is cut is said, outside of the fence."""
        own = _cut(self.text, self.max_chars if not self.page_text else self.max_chars // 2)
        if not self.page_text:
            return own
        marks = len(fence.around("", self.page_url))
        room = self.max_chars - len(own) - marks - 1
        content = self.page_text.replace(fence.nonce, "\N{HORIZONTAL ELLIPSIS}")
        if len(content) <= room:
            return f"{own}\n{fence.around(content, self.page_url)}".lstrip("\n")
        kept = content[: max(room - _CUT_CHARS, 0)]
        said = _CUT.format(left=len(content) - len(kept), limit=self.max_chars)
        return f"{own}\n{fence.around(kept, self.page_url)}\n{said}".lstrip("\n")


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    kept = text[: limit - _CUT_CHARS]
    return kept + _CUT.format(left=len(text) - len(kept), limit=limit)

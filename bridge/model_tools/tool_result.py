"""The text of a tool result: the bridge's own text, then page content inside markers, within a limit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.ops import ContentMarkers

MAX_RESULT_CHARS = 12_000
#: `max_chars` of a result whose caller asked for all of it.
NO_LIMIT = 10**9
_CUT = "… ({left} more characters were cut: results are limited to {limit}.)"
_CUT_CHARS = 100


@dataclass(frozen=True, slots=True)
class Image:
    """An image beside the text."""

    image_bytes: bytes = field(repr=False)
    mime: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of one call.

    Attributes:
        text: The bridge's own words; nothing that a page may have written.
        page_text: Content of the page at `page_url`; `render` puts it inside markers.
        max_chars: Bound of the whole. Tools with a length argument set their own.
        fields: For a result that is a JSON object: its fields, instead of `text`. Notes become fields of it.
    """

    text: str
    page_text: str = ""
    page_url: str = ""
    image: Image | None = None
    is_error: bool = False
    max_chars: int = MAX_RESULT_CHARS
    fields: Mapping[str, Any] | None = None

    def render(self, markers: ContentMarkers) -> str:
        """The text for the model, at most `max_chars` characters. A note outside the markers reports what was cut."""
        own = _cut(self.text, self.max_chars if not self.page_text else self.max_chars // 2)
        if not self.page_text:
            return own
        room = self.max_chars - len(own) - len(markers.wrap("", self.page_url)) - 1
        content = self.page_text.replace(markers.nonce, "\N{HORIZONTAL ELLIPSIS}")
        if len(content) <= room:
            return f"{own}\n{markers.wrap(content, self.page_url)}".lstrip("\n")
        kept = content[: max(room - _CUT_CHARS, 0)]
        note = _CUT.format(left=len(content) - len(kept), limit=self.max_chars)
        return f"{own}\n{markers.wrap(kept, self.page_url)}\n{note}".lstrip("\n")


def json_object(
    fields: Mapping[str, Any], notes: Iterable[str], page_notes: Iterable[str], markers: ContentMarkers, page_url: str
) -> str:
    """A JSON object with notes: `notes` in our own words, `page_notes` as one string inside markers."""
    own, quoting = list(notes), list(page_notes)
    more = {
        **({"notes": own} if own else {}),
        **({"page_notes": markers.wrap("\n".join(quoting), page_url)} if quoting else {}),
    }
    return json.dumps({**fields, **more}, ensure_ascii=False)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    kept = text[: limit - _CUT_CHARS]
    return kept + _CUT.format(left=len(text) - len(kept), limit=limit)

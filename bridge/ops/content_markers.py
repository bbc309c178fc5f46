"""Wraps page content in markers that no page can forge, so that a reader knows what is data."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bridge.snapshot.escape import url_token


@dataclass(frozen=True, slots=True)
class ContentMarkers:
    """A pair of markers with a nonce that pages do not know.

    Attributes:
        nonce: 16 hex digits, new for each session.
    """

    nonce: str = field(default_factory=lambda: secrets.token_hex(8))

    def wrap(self, content: str, url: str) -> str:
        """`content` between two markers; the first names its origin.

        The nonce is removed from the content first: a page that has seen it (a model may type it into a field) still
        cannot forge the end. The replacement keeps the rest from joining into another nonce.
        """
        clean = content.replace(self.nonce, "\N{HORIZONTAL ELLIPSIS}")
        return f"{self._mark}{origin_of(url)}>\n{clean}\n{self._end}"

    def unwrap(self, text: str) -> tuple[str, str]:
        """The content between the markers and the origin they name; without markers, `text` and ""."""
        first, _, rest = text.partition("\n")
        content, _, last = rest.rpartition("\n")
        if not first.startswith(self._mark) or not first.endswith(">") or last != self._end:
            return text, ""
        return content, first[len(self._mark) : -1]

    @property
    def _mark(self) -> str:
        return f"<page-content {self.nonce} origin="

    @property
    def _end(self) -> str:
        return f"</page-content {self.nonce}>"


def origin_of(url: str) -> str:
    """Such as `https://shop.example:8443`; the scheme for an address without a host, such as `about:`."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "unknown"
    if not parts.scheme:
        return "unknown"
    return url_token(f"{parts.scheme}://{host}" if host else f"{parts.scheme}:")

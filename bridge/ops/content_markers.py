"""Marks where a page's words begin and end, so that whoever reads them knows what is data."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bridge.snapshot.escape import url_token


@dataclass(frozen=True, slots=True)
class ContentMarkers:
    """A pair of marks with a nonce that no page can know.

    Attributes:
        nonce: 16 hex digits, new for each session.
    """

    nonce: str = field(default_factory=lambda: secrets.token_hex(8))

    def around(self, content: str, url: str) -> str:
        """`content` between two marks that name the origin it came from.

        The nonce is taken out of the content first: a page that was told it (a model may type it into a field) still
        cannot forge the end. What stands in its place keeps the rest from closing up into another nonce.
        """
        inside = content.replace(self.nonce, "\N{HORIZONTAL ELLIPSIS}")
        return f"{self._mark}{origin_of(url)}>\n{inside}\n{self._end}"

    def inside(self, text: str) -> tuple[str, str]:
        """What stands between the marks, and the origin that they name; the text itself and "" where there are none."""
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
    """`https://shop.example:8443`; for an address without a host its scheme, such as `about:`."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "unknown"
    if not parts.scheme:
        return "unknown"
    return url_token(f"{parts.scheme}://{host}" if host else f"{parts.scheme}:")

"""A page as the server sent it, after content decoding."""

from __future__ import annotations

from dataclasses import dataclass

#: Limit of the body after content decoding.
MAX_BODY_BYTES = 5_000_000


@dataclass(frozen=True)
class FetchedResponse:
    """A page as the server sent it, after content decoding.

    Attributes:
        url: The final URL.
        body_truncated: There was more than `MAX_BODY_BYTES`.
        redirects: The URLs before the final one, in order; empty without a redirect.
    """

    url: str
    status: int
    content_type: str
    charset_label: str
    cache_control: str
    body: bytes
    body_truncated: bool
    redirects: tuple[str, ...]

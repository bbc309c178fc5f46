"""Addresses as callers write them."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from bridge.errors import UsageError

# A text with a scheme (URL §4.1). Without "//" it may also be a host with a port, except for these schemes.
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://|(about|data|javascript|blob|view-source):", re.IGNORECASE)


def checked_url(url: str) -> str:
    """`url`, with https:// added to a bare host name.

    Raises:
        UsageError: It is empty or has no host.
    """
    if not isinstance(url, str):
        raise UsageError(f"the address is {url!r}; it must be a string.")
    text = url.strip()
    if not text or any(ord(character) < 0x20 for character in text):
        raise UsageError(f"{url[:200]!r} is not a valid URL", hint="Write it as https://example.com/.")
    if not _SCHEME.match(text):
        text = f"https://{text}"
    try:
        host = urlsplit(text).netloc
    except ValueError as error:
        raise UsageError(f"{url[:200]!r} is not a valid URL: {error}") from error
    if is_fetched(text) and not host:
        raise UsageError(f"{url[:200]!r} has no host", hint="Write it as https://example.com/.")
    return text


def is_fetched(url: str) -> bool:
    """True if the document is requested from a server, so that request interception sees it."""
    return url.startswith(("http://", "https://"))

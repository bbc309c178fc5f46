"""Addresses as callers write them."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from bridge.errors import UsageError
from bridge.policy.address import is_loopback, parse_address

# A text with a scheme (URL §4.1). Without "//" it may also be a host with a port, except for these schemes.
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://|(about|data|javascript|blob|view-source):", re.IGNORECASE)


def checked_url(url: str) -> str:
    """`url`, with https:// added to a bare host name, or http:// to a host of this machine.

    Raises:
        UsageError: It is empty, or has no valid host.
    """
    if not isinstance(url, str):
        raise UsageError(f"the address is {url!r}; it must be a string.")
    text = url.strip()
    if not text or any(ord(character) < 0x20 for character in text):
        raise UsageError(f"{url[:200]!r} is not a valid URL", hint="Write it as https://example.com/.")
    if not _SCHEME.match(text):
        here = parse_address(f"http://{text}").host
        text = f"http://{text}" if here is not None and is_loopback(here) else f"https://{text}"
    try:
        host = urlsplit(text).netloc
    except ValueError as error:
        raise UsageError(f"{url[:200]!r} is not a valid URL: {error}") from error
    if is_fetched(text) and not host:
        raise UsageError(f"{url[:200]!r} has no host", hint="Write it as https://example.com/.")
    if is_fetched(text) and parse_address(text).host is None:
        raise UsageError(f"{url[:200]!r} is not a valid URL: its host or port is not valid")
    return text


def is_fetched(url: str) -> bool:
    """True if the document is requested from a server, so that request interception sees it."""
    return url.startswith(("http://", "https://"))

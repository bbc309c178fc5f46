"""Addresses as people know them."""

from __future__ import annotations

import re

# The host app writes 16 random bytes behind a new tab's address, by which the tab is found among the others.
_TAB_NONCE = re.compile(r"(?<=^about:blank)#[0-9a-f]{32}$")


def shown_url(url: str) -> str:
    """The address of a document; that of a tab which has not gone anywhere is about:blank and nothing behind it."""
    return _TAB_NONCE.sub("", url)

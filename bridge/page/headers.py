"""Headers as the browser tells them, within bounds: they come from servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

URL_CHARS = 8_000
_KEPT = 100
_CHARS = 8_000


def kept_headers(found: Any) -> dict[str, str]:
    """By small names: HTTP's field names know no case, and HTTP/2 has them so (RFC 9113 §8.2)."""
    if not isinstance(found, Mapping):
        return {}
    return {str(name).lower(): str(value)[:_CHARS] for name, value in list(found.items())[:_KEPT]}

"""HTTP headers, within bounds because they come from servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

URL_CHARS = 8_000
_KEPT = 100
_CHARS = 8_000


def kept_headers(found: Any) -> dict[str, str]:
    """The headers by lower-case name, as in HTTP/2 (RFC 9113 §8.2)."""
    if not isinstance(found, Mapping):
        return {}
    return {str(name).lower(): str(value)[:_CHARS] for name, value in list(found.items())[:_KEPT]}


def body_bytes(headers: Mapping[str, str]) -> int | None:
    """Length of the body (RFC 9110 §8.6) from headers by lower-case name; None if it is encoded or not given."""
    length = headers.get("content-length", "")
    if headers.get("content-encoding", "identity") != "identity" or not re.fullmatch("[0-9]{1,18}", length):
        return None
    return int(length)


def media_type(header: str) -> str:
    """`type/subtype` of a Content-Type header (RFC 9110 §8.3.1); "" if the header is not valid."""
    found = re.fullmatch(r"[\w!#$&^.+-]{1,64}/[\w!#$&^.+-]{1,64}", header.partition(";")[0].strip(), re.ASCII)
    return found[0].lower() if found else ""

"""Detects the kind of a body by its Content-Type, and by its first bytes where that is missing or wrong. Pure."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["html", "text", "binary"]

_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
_TEXT_TYPE = re.compile(
    r"text/.*|.*\+(json|xml|yaml)|application/(json|json5|jsonl|x-ndjson|ld\+json|xml|javascript|x-javascript|ecmascript"
    r"|x-sh|x-shellscript|sql|graphql|yaml|x-yaml|toml|x-www-form-urlencoded|x-httpd-php|rtf|x-subrip)|message/.*"
    r"|image/svg\+xml|model/(gltf\+json|vrml)"
)
# MIME Sniffing §6 and the archives that are met most.
_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "audio, video or image in RIFF"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/x-rar"),
    (b"\x7fELF", "an ELF program"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"wOF", "font/woff"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"\x00asm", "application/wasm"),
)
_HTML_START = re.compile(
    rb"\s*(?:<!--(?:(?!-->).)*-->\s*)*<(!doctype\s+html|html|head|body)[\s>]", re.IGNORECASE | re.DOTALL
)
# MIME Sniffing §3 "binary data byte"
_BINARY_BYTES = bytes(byte for byte in range(0x20) if byte not in (0x09, 0x0A, 0x0C, 0x0D, 0x1B))
_TYPE = re.compile(r"\s*([!#$%&'*+.^_`|~\w-]+/[!#$%&'*+.^_`|~\w-]+)", re.ASCII)
_CHARSET = re.compile(r";\s*charset\s*=\s*(\"[^\"]*\"|[^\s;]+)", re.IGNORECASE)
_SNIFF_BYTES = 1445


def parse_content_type(header: str) -> tuple[str, str]:
    """The type without parameters in small letters ("" where there is none), and the `charset` parameter or ""."""
    found = _TYPE.match(header)
    charset = _CHARSET.search(header)
    return found[1].lower() if found else "", charset[1].strip('"') if charset else ""


def kind_by_type(content_type: str) -> Kind | None:
    """The kind that the Content-Type names, or None."""
    if content_type in _HTML_TYPES:
        return "html"
    if content_type in (
        "",
        "application/octet-stream",
        "binary/octet-stream",
        "application/unknown",
        "unknown/unknown",
    ):
        return None
    return "text" if _TEXT_TYPE.fullmatch(content_type) else "binary"


def kind_of_body(content_type: str, body: bytes) -> tuple[Kind, str]:
    """The kind of the body, and the media type to report."""
    seen = sniffed_type(body)
    if seen:
        return "binary", seen
    said = kind_by_type(content_type)
    if said is not None:
        return said, content_type
    return (
        ("html", content_type or "text/html")
        if _HTML_START.match(body, 0, _SNIFF_BYTES)
        else ("text", content_type or "text/plain")
    )


def sniffed_type(body: bytes) -> str:
    """The type of what can only be binary, "" for what can be text."""
    head = body[:_SNIFF_BYTES]
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or _is_utf16(head):
        return ""
    return "application/octet-stream" if head.translate(None, _BINARY_BYTES) != head else ""


def _is_utf16(head: bytes) -> bool:
    """Latin text in UTF-16 without a byte order mark: every other byte is zero, and none of the others is."""
    even, odd = head[::2], head[1::2]
    return len(head) >= 16 and ((not even.strip(b"\0") and 0 not in odd) or (not odd.strip(b"\0") and 0 not in even))

"""DER (X.690), as far as keys and PKCS#7 signatures need it. Tags are not interpreted."""

from __future__ import annotations

from dataclasses import dataclass

SEQUENCE, INTEGER, OCTET_STRING, CONTEXT_0 = 0x30, 0x02, 0x04, 0xA0


@dataclass(frozen=True, slots=True)
class DerElement:
    """One tag-length-value; `whole` includes the tag and the length."""

    tag: int
    content: bytes
    whole: bytes


def elements(der: bytes) -> list[DerElement]:
    """The consecutive elements in `der`.

    Raises:
        ValueError: A length runs past the end.
    """
    found: list[DerElement] = []
    at = 0
    while at + 2 <= len(der):
        start, tag, length = at, der[at], der[at + 1]
        at += 2
        if length & 0x80:
            width = length & 0x7F
            if width > 4:
                raise ValueError("a DER length of more than 4 bytes")
            length = int.from_bytes(der[at : at + width], "big")
            at += width
        if at + length > len(der):
            raise ValueError("DER runs past its end")
        found.append(DerElement(tag, der[at : at + length], der[start : at + length]))
        at += length
    return found


def sequence(der: bytes) -> list[DerElement]:
    """The elements inside the SEQUENCE that `der` starts with."""
    outer = elements(der)
    if not outer or outer[0].tag != SEQUENCE:
        raise ValueError("not a DER sequence")
    return elements(outer[0].content)

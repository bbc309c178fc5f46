"""Just enough DER (X.690) to walk a key or a PKCS#7 signature; no meaning is attached to tags here."""

from __future__ import annotations

from dataclasses import dataclass

SEQUENCE, INTEGER, OCTET_STRING, CONTEXT_0 = 0x30, 0x02, 0x04, 0xA0


@dataclass(frozen=True, slots=True)
class Element:
    """One tag-length-value; `whole` includes the tag and the length."""

    tag: int
    content: bytes
    whole: bytes


def elements(der: bytes) -> list[Element]:
    """The elements that stand one after the other in `der`.

    Raises:
        ValueError: A length runs past the end.
    """
    found: list[Element] = []
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
        found.append(Element(tag, der[at : at + length], der[start : at + length]))
        at += length
    return found


def sequence(der: bytes) -> list[Element]:
    """The elements inside the SEQUENCE that `der` starts with."""
    outer = elements(der)
    if not outer or outer[0].tag != SEQUENCE:
        raise ValueError("not a DER sequence")
    return elements(outer[0].content)

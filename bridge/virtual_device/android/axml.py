"""A parser for Android's binary XML, the format of AndroidManifest.xml inside an APK.

Source: AOSP frameworks/base `libs/androidfw/include/androidfw/ResourceTypes.h` (ResChunk_header, ResStringPool_header,
ResXMLTree_attrExt, Res_value). Every chunk is: type u16, header size u16, chunk size u32.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

_STRING_POOL, _XML, _START_ELEMENT, _END_ELEMENT, _RESOURCE_MAP = 0x0001, 0x0003, 0x0102, 0x0103, 0x0180
_UTF8_FLAG = 1 << 8
_NONE = 0xFFFFFFFF
_TYPE_REFERENCE, _TYPE_STRING, _TYPE_BOOLEAN = 0x01, 0x03, 0x12
_MAX_STRINGS, _MAX_ELEMENTS, _MAX_DEPTH = 100_000, 50_000, 100

# Attribute names may be stripped from the string pool; then the resource id identifies them (AOSP public.xml).
_ATTRIBUTE_IDS = {
    0x01010003: "name",
    0x01010006: "permission",
    0x01010010: "exported",
    0x0101000F: "debuggable",
    0x0101020C: "minSdkVersion",
    0x0101021B: "versionCode",
    0x0101021C: "versionName",
    0x01010270: "targetSdkVersion",
    0x010104EC: "usesCleartextTraffic",
    0x01010576: "versionCodeMajor",
}

Value = str | int | bool


class MalformedXml(ValueError):
    """It is not Android binary XML."""


@dataclass(slots=True)
class XmlElement:
    """An element; attribute names come without namespace."""

    name: str
    attributes: dict[str, Value] = field(default_factory=dict)
    children: list[XmlElement] = field(default_factory=list)

    def find_all(self, name: str) -> Iterator[XmlElement]:
        """Direct children of that name."""
        return (child for child in self.children if child.name == name)

    def find(self, name: str) -> XmlElement | None:
        return next(self.find_all(name), None)


def parse(document: bytes) -> XmlElement:
    """The root element.

    Raises:
        MalformedXml: The bytes are not valid binary XML.
    """
    try:
        return _Parser(document).root()
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise MalformedXml(f"broken binary XML: {error}") from error


class _Parser:
    def __init__(self, document: bytes) -> None:
        self._document = document
        self._strings: list[str] = []
        self._resource_ids: tuple[int, ...] = ()

    def root(self) -> XmlElement:
        kind, first_chunk, size = struct.unpack_from("<HHI", self._document)
        if kind != _XML or size > len(self._document):
            raise MalformedXml("no binary XML header")
        stack = [XmlElement("")]
        count = 0
        for kind, header_bytes, at, end in self._chunks(first_chunk, size):
            if kind == _STRING_POOL:
                self._strings = self._string_pool(at, end)
            elif kind == _RESOURCE_MAP:
                count_ids = (end - at - header_bytes) // 4
                self._resource_ids = struct.unpack_from(f"<{count_ids}I", self._document, at + header_bytes)
            elif kind == _START_ELEMENT:
                count += 1
                if count > _MAX_ELEMENTS or len(stack) > _MAX_DEPTH:
                    raise MalformedXml("too many elements")
                element = self._element(at + header_bytes, end)
                stack[-1].children.append(element)
                stack.append(element)
            elif kind == _END_ELEMENT:
                if len(stack) == 1:
                    raise MalformedXml("an end tag without a start tag")
                stack.pop()
        if len(stack) != 1 or len(stack[0].children) != 1:
            raise MalformedXml("not one root element")
        return stack[0].children[0]

    def _chunks(self, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        while at + 8 <= end:
            kind, header_bytes, size = struct.unpack_from("<HHI", self._document, at)
            if size < 8 or header_bytes < 8 or header_bytes > size or at + size > end:
                raise MalformedXml(f"the chunk at {at} exceeds the document")
            yield kind, header_bytes, at, at + size
            at += size

    def _string_pool(self, at: int, end: int) -> list[str]:
        count, _styles, flags, strings_at, _ = struct.unpack_from("<5I", self._document, at + 8)
        if count > _MAX_STRINGS:
            raise MalformedXml("too many strings")
        offsets = struct.unpack_from(f"<{count}I", self._document, at + 28)
        pool = self._document[at + strings_at : end]
        decode = _utf8_string if flags & _UTF8_FLAG else _utf16_string
        return [decode(pool, offset) for offset in offsets]

    def _element(self, at: int, end: int) -> XmlElement:
        _ns, name, first, width, count = struct.unpack_from("<IIHHH", self._document, at)
        if width < 20 or at + first + width * count > end:
            raise MalformedXml("attributes exceed their element")
        element = XmlElement(self._string(name))
        for index in range(count):
            self._attribute(element, at + first + index * width)
        return element

    def _attribute(self, element: XmlElement, at: int) -> None:
        _ns, name, raw, _size, _zero, kind, number = struct.unpack_from("<IIIHBBI", self._document, at)
        key = self._string(name)
        if name < len(self._resource_ids):
            key = _ATTRIBUTE_IDS.get(self._resource_ids[name], key)
        value: Value
        if kind == _TYPE_STRING:
            value = self._string(number)
        elif kind == _TYPE_BOOLEAN:
            value = number != 0
        elif kind == _TYPE_REFERENCE:
            value = f"@0x{number:08x}"
        elif raw != _NONE:
            value = self._string(raw)
        else:
            value = number
        element.attributes[key] = value

    def _string(self, index: int) -> str:
        return "" if index == _NONE else self._strings[index]


def _utf8_string(pool: bytes, at: int) -> str:
    _chars, at = _length8(pool, at)
    size, at = _length8(pool, at)
    return _slice(pool, at, size).decode("utf-8", "replace")


def _utf16_string(pool: bytes, at: int) -> str:
    (size,) = struct.unpack_from("<H", pool, at)
    at += 2
    if size & 0x8000:
        (low,) = struct.unpack_from("<H", pool, at)
        size, at = ((size & 0x7FFF) << 16) | low, at + 2
    return _slice(pool, at, size * 2).decode("utf-16-le", "replace")


def _length8(pool: bytes, at: int) -> tuple[int, int]:
    size = pool[at]
    if size & 0x80:
        return ((size & 0x7F) << 8) | pool[at + 1], at + 2
    return size, at + 1


def _slice(pool: bytes, at: int, size: int) -> bytes:
    if at + size > len(pool):
        raise MalformedXml("a string exceeds its pool")
    return pool[at : at + size]

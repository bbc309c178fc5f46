"""What a dex file refers to, and what the classes of a jar have: the two sides of an API check."""

from __future__ import annotations

import struct
import zipfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_OF_OBJECT = {"equals", "getClass", "hashCode", "notify", "notifyAll", "toString", "wait"}


@dataclass
class JavaClass:
    """`refers` and `members` are (class, name, descriptor); of a class file."""

    name: str
    parents: list[str]
    members: set[tuple[str, str]]
    refers: set[tuple[str, str, str]] = field(default_factory=set)


def parse_class(content: bytes) -> JavaClass:
    """JVM specification §4."""
    (count,) = struct.unpack_from(">H", content, 8)
    pool: list[tuple[int, ...] | str | None] = [None] * count
    at, index = 10, 1
    while index < count:
        tag = content[at]
        if tag == 1:
            (length,) = struct.unpack_from(">H", content, at + 1)
            pool[index] = content[at + 3 : at + 3 + length].decode("utf-8", "surrogatepass")
            at += 3 + length
        elif tag in (7, 8, 16, 19, 20):
            pool[index] = (tag, *struct.unpack_from(">H", content, at + 1))
            at += 3
        elif tag in (3, 4, 9, 10, 11, 12, 17, 18):
            pool[index] = (tag, *struct.unpack_from(">HH", content, at + 1))
            at += 5
        elif tag in (5, 6):
            at += 9
            index += 1
        elif tag == 15:
            at += 4
        else:
            raise ValueError(f"constant of tag {tag}")
        index += 1

    def text(index: int) -> str:
        value = pool[index]
        if isinstance(value, tuple):
            return text(value[1])
        return value or ""

    _, this, parent, interfaces = struct.unpack_from(">HHHH", content, at)
    at += 8
    names = [parent, *struct.unpack_from(f">{interfaces}H", content, at)]
    at += 2 * interfaces
    members = set()
    for _ in range(2):
        (many,) = struct.unpack_from(">H", content, at)
        at += 2
        for _ in range(many):
            _, name, descriptor, attributes = struct.unpack_from(">HHHH", content, at)
            at += 8
            members.add((text(name), text(descriptor)))
            for _ in range(attributes):
                (length,) = struct.unpack_from(">I", content, at + 2)
                at += 6 + length
    refers = set()
    for entry in pool:
        if isinstance(entry, tuple) and entry[0] in (9, 10, 11):
            pair = pool[entry[2]]
            assert isinstance(pair, tuple)
            refers.add((text(entry[1]), text(pair[1]), text(pair[2])))
    return JavaClass(text(this), [text(name) for name in names if name], members, refers)


class Framework:
    """The classes of an android-all jar, read as they are asked for."""

    def __init__(self, jar: Path) -> None:
        self._archive = zipfile.ZipFile(jar)
        self._names = set(self._archive.namelist())
        self._parsed = cache(self._parse)

    def __contains__(self, name: str) -> bool:
        return f"{name}.class" in self._names

    def has(self, owner: str, name: str, descriptor: str) -> bool:
        """Whether the class or one above it has that field or method."""
        if owner not in self:
            # The jar has none of Java's own classes; javac --release 8 has seen to those.
            return owner.startswith("java/") and (owner != "java/lang/Object" or name in _OF_OBJECT)
        found = self._parsed(owner)
        return (name, descriptor) in found.members or any(self.has(up, name, descriptor) for up in found.parents)

    def _parse(self, name: str) -> JavaClass:
        return parse_class(self._archive.read(f"{name}.class"))


def dex_references(dex: bytes) -> set[tuple[str, str, str]]:
    """Every (class, name, descriptor) of field_ids and method_ids; source.android.com, Dalvik executable format."""

    def number(at: int) -> int:
        return int(struct.unpack_from("<I", dex, at)[0])

    def string(index: int) -> str:
        at = number(number(0x3C) + 4 * index)
        while dex[at] & 0x80:
            at += 1
        return dex[at + 1 : dex.index(b"\0", at + 1)].decode("utf-8", "surrogatepass")

    def type_name(index: int) -> str:
        return string(number(number(0x44) + 4 * index))

    def descriptor(index: int) -> str:
        at = number(0x4C) + 12 * index
        list_at = number(at + 8)
        count = number(list_at) if list_at else 0
        types = struct.unpack_from(f"<{count}H", dex, list_at + 4) if count else ()
        return f"({''.join(map(type_name, types))}){type_name(number(at + 4))}"

    found = set()
    for size_at, is_method in ((0x50, False), (0x58, True)):
        for index in range(number(size_at)):
            owner, kind, name = struct.unpack_from("<HHI", dex, number(size_at + 4) + 8 * index)
            shape = descriptor(kind) if is_method else type_name(kind)
            found.add((type_name(owner).removeprefix("L").removesuffix(";"), string(name), shape))
    return found

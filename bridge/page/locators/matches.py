"""Elements that locators found, as they were when the page was searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Match:
    """One element as it was when the page was searched; `value` of a password is None.

    Attributes:
        frame_id: The frame that it is in.
        read: The value of the read that the search asked for.
    """

    ref: str
    role: str
    name: str
    text: str
    attrs: Mapping[str, str]
    visible: bool
    enabled: bool
    editable: bool
    checked: bool
    focused: bool
    value: str | None
    values: tuple[str, ...] | None
    frame_id: str = ""
    read: Any = None

    def described(self) -> str:
        name = self.name or self.text[:60]
        return f'{self.ref} {self.role} "{name}"' if name else f"{self.ref} {self.role}"


@dataclass(frozen=True, slots=True)
class LocatorMatches:
    """The result of a search: how many elements match, and the first of them.

    Attributes:
        states: What each frame's script reported, for it to report the next change.
        unread: The addresses of frames whose renderer does not answer; matches there are not counted.
    """

    count: int
    matches: tuple[Match, ...]
    states: tuple[str | None, ...] = ()
    unread: tuple[str, ...] = ()

    def described(self) -> str:
        if self.unread:
            seen = replace(self, unread=()).described()
            return f"{seen}; the frame at {self.unread[0][:200]} does not respond"
        if not self.count:
            return "nothing matches"
        more = f" and {self.count - len(self.matches)} more" if self.count > len(self.matches) else ""
        return f"{', '.join(match.described() for match in self.matches)}{more}"


def match_of(ref: str, frame_id: str, item: Mapping[str, Any]) -> Match:
    """The element that the script described in `item`."""
    values = item.get("values")
    return Match(
        ref=ref,
        role=str(item["role"]),
        name=str(item["name"]),
        text=str(item["text"]),
        attrs=item["attrs"],
        visible=bool(item["visible"]),
        enabled=bool(item["enabled"]),
        editable=bool(item["editable"]),
        checked=bool(item["checked"]),
        focused=bool(item["focused"]),
        value=item["value"] if isinstance(item.get("value"), str) else None,
        values=tuple(str(value) for value in values) if isinstance(values, list) else None,
        frame_id=frame_id,
        read=item.get("read"),
    )

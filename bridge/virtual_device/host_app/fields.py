"""Validates the fields of control requests (PROTOCOL.md §5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NoReturn

MAX_SIDE_PX = 10_000
MAX_AREA_PX = 40_000_000
_PROFILE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TAB = re.compile(r"[A-Za-z0-9]{1,32}")


class RequestRefused(Exception):
    """The reply is an error; `facts` are its fields besides code and message."""

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.facts = facts


class Fields:
    """Typed access to fields; each method raises `bad_request` with the name of the field."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    def __contains__(self, name: str) -> bool:
        return self._fields.get(name) is not None

    def integer(self, name: str, low: int, high: int, default: int | None = None) -> int:
        value = self._fields.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self._bad(name, f"an integer from {low} to {high}")
        return value

    def text(self, name: str, low: int, high: int) -> str:
        value = self._fields.get(name)
        if not isinstance(value, str) or not low <= len(value) <= high:
            self._bad(name, f"a string of {low} to {high} characters")
        return value

    def flag(self, name: str) -> bool:
        value = self._fields.get(name, False)
        if not isinstance(value, bool):
            self._bad(name, "true or false")
        return value

    def one_of(self, name: str, *allowed: str) -> str:
        """One of the allowed strings; the first is the default."""
        value = self._fields.get(name, allowed[0])
        if value not in allowed:
            self._bad(name, f"one of {', '.join(allowed)}")
        return str(value)

    def tab(self) -> str:
        value = self._fields.get("tab")
        if not isinstance(value, str) or not _TAB.fullmatch(value):
            self._bad("tab", "a tab id")
        return value

    def profile(self) -> str | None:
        value = self._fields.get("profile")
        if value is not None and not (isinstance(value, str) and _PROFILE.fullmatch(value)):
            self._bad("profile", "1 to 64 of A-Z a-z 0-9 _ -")
        return value

    def size(self) -> tuple[int, int, int]:
        """width_px, height_px, density_dpi"""
        width, height = (self.integer(name, 1, MAX_SIDE_PX) for name in ("width_px", "height_px"))
        if width * height > MAX_AREA_PX:
            raise RequestRefused("bad_request", f"{width} x {height} exceeds {MAX_AREA_PX} pixels.", field="height_px")
        return width, height, self.integer("density_dpi", 72, 640)

    def raw(self, name: str) -> Any:
        return self._fields.get(name)

    def _bad(self, name: str, wanted: str) -> NoReturn:
        shown = repr(self._fields.get(name))[:60]
        raise RequestRefused("bad_request", f"{name} is {shown}, not {wanted}.", field=name)

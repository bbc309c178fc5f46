"""The JSON form of results, from their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar


@dataclass(frozen=True)
class JsonRecord:
    """A frozen dataclass with a JSON form: its fields by name, in order, and theirs likewise.

    Bytes are left out, and a field whose default is empty (None, "" or an empty tuple) while it is empty.

    Attributes:
        JSON_HAS_EMPTY: The JSON form has empty fields too.
    """

    __slots__ = ()

    JSON_HAS_EMPTY: ClassVar[bool] = False

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            has_empty_default = field.default is not MISSING and field.default in (None, "", ())
            if isinstance(value, bytes) or (has_empty_default and not self.JSON_HAS_EMPTY and value == field.default):
                continue
            out[field.name] = json_value(value)
        return out


def json_value(value: Any) -> Any:
    """The JSON form of a value: of records, mappings, sequences, paths and plain values."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Mapping):
        return {key: json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return str(value) if isinstance(value, Path) else value

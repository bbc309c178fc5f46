"""JSON as a stranger writes it: any depth, any number, and never more than an error."""

from __future__ import annotations

import json
import re
from typing import Any

# The decoder of one string literal, which the standard library exports without declaring its type.
scanstring = json.decoder.scanstring  # type: ignore[attr-defined]
_SPACE = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null|NaN|-?Infinity")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "NaN": None, "Infinity": None, "-Infinity": None}


def decode_json(text: str) -> Any:
    """The value of a JSON text. `NaN` and the infinities, which are not JSON, become None.

    The standard decoder recurses once per level and refuses integers of more than 4,300 digits; where it gives up, a
    decoder without either bound takes over.

    Raises:
        ValueError: The text is not JSON; the message says where.
    """
    try:
        return json.loads(text, parse_constant=_WORDS.get)
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError):
        return _decode_deep(text)


def js_literal(value: Any) -> str:
    """The value as an expression that is safe in any script, inline `<script>` element or evaluated string.

    ASCII only, so U+2028 and U+2029 cannot end a line; `<` and `>` escaped, so nothing closes the element.

    Raises:
        ValueError: The value has no JSON form (NaN, a cycle, another type, 1,000 levels), or it has the key
            `__proto__`, which in an object literal sets the prototype instead (ECMA-262 §B.3.1).
    """
    try:
        text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if '"__proto__":' in text:
        raise ValueError("the key __proto__ is not allowed")
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _number(token: str) -> int | float:
    try:
        return int(token)
    except ValueError:  # a fraction, an exponent, or more digits than Python takes for an integer
        return float(token)


def _decode_deep(text: str) -> Any:
    """An iterative decoder: one turn of the loop per value."""
    space = _SPACE.match
    containers: list[Any] = []
    keys: list[str] = []

    def at(index: int) -> int:
        return space(text, index).end()  # type: ignore[union-attr]

    def key_at(index: int) -> int:
        if text[index : index + 1] != '"':
            raise json.JSONDecodeError("Expecting property name", text, index)
        key, index = scanstring(text, index + 1)
        index = at(index)
        if text[index : index + 1] != ":":
            raise json.JSONDecodeError("Expecting ':' delimiter", text, index)
        keys.append(key)
        return at(index + 1)

    index = at(0)
    while True:
        char = text[index : index + 1]
        value: Any
        if char in ("{", "["):
            index = at(index + 1)
            value = {} if char == "{" else []
            if text[index : index + 1] != ("}" if char == "{" else "]"):
                containers.append(value)
                if char == "{":
                    index = key_at(index)
                continue
            index += 1
        elif char == '"':
            value, index = scanstring(text, index + 1)
        else:
            token = _SCALAR.match(text, index)
            if token is None:
                raise json.JSONDecodeError("Expecting value", text, index)
            value = _WORDS[token[0]] if token[0] in _WORDS else _number(token[0])
            index = token.end()
        while True:
            index = at(index)
            if not containers:
                if index != len(text):
                    raise json.JSONDecodeError("Extra data", text, index)
                return value
            inner = containers[-1]
            if isinstance(inner, dict):
                inner[keys.pop()] = value
            else:
                inner.append(value)
            char = text[index : index + 1]
            if char == ",":
                index = at(index + 1)
                if isinstance(inner, dict):
                    index = key_at(index)
                break
            if char != ("}" if isinstance(inner, dict) else "]"):
                raise json.JSONDecodeError("Expecting ',' delimiter", text, index)
            index += 1
            value = containers.pop()

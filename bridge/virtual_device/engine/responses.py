"""CDP responses that the relay sends instead of Chromium."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def error_response(message: Mapping[str, Any], code: int, text: str) -> bytes:
    return _answer(message, "error", {"code": code, "message": text})


def result_response(message: Mapping[str, Any], result: Mapping[str, Any]) -> bytes:
    return _answer(message, "result", result)


def _answer(message: Mapping[str, Any], kind: str, value: Mapping[str, Any]) -> bytes:
    answer: dict[str, Any] = {"id": message.get("id"), kind: value}
    if message.get("sessionId") is not None:
        answer["sessionId"] = message["sessionId"]
    return dumped(answer)


def dumped(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()

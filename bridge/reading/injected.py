"""The reader as packaged: built from `injected_js/src/reading/`, sent with each reading of a rendered page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from bridge.snapshot.injected import packaged_script
from bridge.snapshot.json_text import js_literal


@cache
def source() -> str:
    """The script; evaluating it in our isolated world defines `__reader` there."""
    return packaged_script("bridge.reading", "extractor.min.js")


def read_js(options: Mapping[str, Any]) -> str:
    """An expression for our isolated world: a promise of `{html, title, url, hidden, truncated, refs}` or `{error}`."""
    return f"(()=>{{{source()};return __reader.read({js_literal(dict(options))})}})()"

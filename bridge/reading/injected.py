"""The reader as packaged: built from `injected_js/src/reading/`, sent with each reading of a rendered page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from bridge.snapshot.json_text import js_literal


@cache
def source() -> str:
    """The script; evaluating it in our isolated world defines `__reader` there."""
    return files("bridge.reading").joinpath("extractor.min.js").read_text("utf-8")


def read_js(options: Mapping[str, Any]) -> str:
    """An expression for our isolated world: a promise of `{html, title, url, hidden, truncated, refs}` or `{error}`."""
    return f"(()=>{{{source()};return __reader.read({js_literal(dict(options))})}})()"

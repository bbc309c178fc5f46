"""The trace file: one HTML document with the viewer and the JSON; it loads nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from bridge.errors import UsageError
from bridge.surfaces.trace.recorder import FORMAT, VERSION

_OPENING = '<script type="application/json" id="trace">'
_CLOSING = "</script>"
_LARGEST_BYTES = 200_000_000


def to_html(trace: dict[str, Any]) -> str:
    """The document. Page content is only in the JSON, without `<`, and is shown as text."""
    style, script = _resource("viewer.css"), _resource("viewer.js")
    # json.dumps writes ASCII only; lone surrogates, which UTF-8 cannot encode, are escaped.
    facts = json.dumps(trace, separators=(",", ":")).replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<title>Trace</title>\n'
        f"<style>{style}</style>\n</head>\n<body>\n{_resource('viewer.html')}"
        f"{_OPENING}{facts}{_CLOSING}\n<script>{script}</script>\n</body>\n</html>\n"
    )


def write_trace(path: Path, trace: dict[str, Any]) -> None:
    """Write the document atomically, readable only by its owner."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    unfinished = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(to_html(trace))
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def read_trace(path: Path) -> dict[str, Any]:
    """Read a trace from its HTML document, or from a JSON file of `trace export`.

    Raises:
        UsageError: It cannot be read, or is not a trace of this version.
    """
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise UsageError(f"{path} is too large for a trace")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not a trace") from error
    start = text.find(_OPENING)
    if start >= 0:
        text = text[start + len(_OPENING) : text.find(_CLOSING, start)]
    try:
        trace = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not a trace") from error
    if not isinstance(trace, dict) or trace.get("format") != FORMAT:
        raise UsageError(f"{path} is not a trace")
    if trace.get("version") != VERSION:
        raise UsageError(f"{path} is a trace of version {str(trace.get('version'))[:20]}; this program reads {VERSION}")
    return trace


@cache
def _resource(name: str) -> str:
    return (files("bridge.surfaces.trace") / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The hash of an inline script or style (CSP 3 §2.3.1)."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"

"""Output of commands: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import click

from bridge.errors import BridgeError, UsageError

# C0 without tab and line ends, DEL and C1 control a terminal (ECMA-48). Lone surrogates are not text.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]|\r(?!\n)")
# Embeddings, overrides and isolates (UAX #9) affect a terminal beyond their own text.
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_BREAKS = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029 ]+")
_FOR_PYTHON = re.compile(r" \(in Python: .*?\)(?=\.|$)| \(\w+=… in Python\)")
_NOT_ASCII = re.compile("[^ -~]")


def json_line(value: Any) -> str:
    """`value` as JSON on one line; characters that control a terminal or cannot be encoded are escaped."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return _NOT_ASCII.sub(lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text)


def print_json(command: str, results: Mapping[str, Any], *, exit_code: int = 0) -> None:
    """Print the JSON object of a command's results."""
    failed = {"exit_code": exit_code} if exit_code else {}
    click.echo(json_line({"ok": not exit_code, "command": command, **results, **failed}))


def report_failure(error: BridgeError, as_json: bool) -> int:
    """Print the error as one line on stderr, with `--json` as one object on stdout; returns the exit code.

    Hints speak of commands and options here: what they add for Python is left out.
    """
    error.hint = _FOR_PYTHON.sub("", error.hint).replace("session.reconnect()", "the command again")
    if as_json:
        with suppress(OSError):  # stdout is closed, or its disk is full
            click.echo(json_line({"ok": False, "error": error.to_json(), "exit_code": error.exit_code}))
            return error.exit_code
    note(str(error))
    return error.exit_code


def note(text: str) -> None:
    """Print one line on stderr for the user."""
    click.echo(one_line(text, to=sys.stderr), err=True)


def with_metadata(text: str, metadata: Mapping[str, Any] | None) -> str:
    """`text` below what its page says about itself, one line for each fact."""
    lines = [f"{name}: {one_line(str(value))}" for name, value in (metadata or {}).items()]
    return "\n".join([*lines, "", text]) if lines else text


def one_line(text: str, *, to: TextIO | None = None) -> str:
    """`text` on one line without characters that control a terminal: messages may quote pages and devices.

    Only lines of a snapshot contain `[ref=`, so any here is forged and removed.
    """
    text = printable(_BREAKS.sub(" ", text).strip(" "), to=to)
    if "[ref=" in text:
        from bridge.snapshot.escape import without_refs

        text = without_refs(text)
    return text


def printable(text: str, *, to: TextIO | None = None) -> str:
    """`text` without characters that control a terminal. Bidirectional controls are kept outside terminals.

    Args:
        to: The stream that `text` is printed on; stdout by default.
    """
    text = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)
    return _BIDI.sub("\N{REPLACEMENT CHARACTER}", text) if (to or sys.stdout).isatty() else text


def check_writable(target: Path | None) -> None:
    """Raise UsageError early for a file that cannot be written."""
    if target is not None and not target.parent.is_dir():
        raise UsageError(f"the folder {target.parent} does not exist.")
    if target is not None and target.is_dir():
        raise UsageError(f"{target} is a folder.")


def write_file(target: Path, content: bytes | str) -> None:
    """Write a file that the user has named, completely or not at all. Lone surrogates become "?".

    Raises:
        UsageError: The file cannot be written; an existing file is unchanged.
    """
    import secrets
    import shutil

    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    try:
        if target.exists() and not target.is_file():  # such as /dev/stdout
            target.write_bytes(data)
            return
        place = target.resolve()  # writes through a symbolic link
        unfinished = place.with_name(f".{secrets.token_hex(8)}.unfinished")
        try:
            unfinished.write_bytes(data)
            if place.exists():
                shutil.copymode(place, unfinished)
            unfinished.replace(place)
        finally:
            unfinished.unlink(missing_ok=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: a symbolic link loop
        reason = error.strerror if isinstance(error, OSError) else None
        raise UsageError(f"cannot write {target}: {reason or error}.") from error


def is_terminal() -> bool:
    """True if stdout is a terminal that shows colours (https://no-color.org/)."""
    import os

    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"

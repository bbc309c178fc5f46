"""What commands print: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import click

from bridge.errors import BridgeError, UsageError


class Spent(Protocol):
    """A cost record."""

    @property
    def ms(self) -> float: ...
    @property
    def round_trips(self) -> int: ...
    @property
    def bytes_sent(self) -> int: ...
    @property
    def bytes_received(self) -> int: ...


def print_json(command: str, results: Mapping[str, Any]) -> None:
    """The one object of a command that succeeded."""
    click.echo(json.dumps({"ok": True, "command": command, **results}, ensure_ascii=False))


def report_failure(error: BridgeError, as_json: bool) -> int:
    """Print the error as one line on stderr, with `--json` as one object on stdout; returns the exit code."""
    if as_json:
        failure = {"ok": False, "error": error.to_json(), "exit_code": error.exit_code}
        click.echo(json.dumps(failure, ensure_ascii=False, default=str))
    else:
        click.echo(one_line(str(error)), err=True)
    return error.exit_code


def note(text: str) -> None:
    """One line on stderr for the person who watches."""
    click.echo(one_line(text), err=True)


def one_line(text: str) -> str:
    """`text` on one line and without what would steer a terminal: messages may quote pages and devices."""
    folded = " ".join(text.split())
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in folded)


def printable(text: str) -> str:
    """`text` with its lines, without what would steer a terminal."""
    return "\n".join(
        "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)
        for line in text.split("\n")
    )


def cost_words(cost: Spent) -> str:
    """`12 ms · 2 round trips · 0.3 kB sent, 4.1 kB received`."""
    trips = "1 round trip" if cost.round_trips == 1 else f"{cost.round_trips} round trips"
    return (
        f"{cost.ms:.0f} ms · {trips} · {_kilobytes(cost.bytes_sent)} sent, {_kilobytes(cost.bytes_received)} received"
    )


def write_file(target: Path, content: bytes) -> None:
    """Write a file that the user has named.

    Raises:
        UsageError: It cannot be written there.
    """
    try:
        target.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}.") from error


def is_terminal() -> bool:
    """Whether stdout is a terminal that shows colours (https://no-color.org/)."""
    import os

    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _kilobytes(size_bytes: int) -> str:
    return f"{size_bytes / 1000:.1f} kB"

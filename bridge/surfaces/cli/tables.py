"""Prints rows as a table."""

from __future__ import annotations

import sys

from bridge.surfaces.cli.output import one_line

_PIPE_COLUMNS = 100_000


def print_table(rows: list[dict[str, object]]) -> None:
    """Print a table with a heading; nothing without rows."""
    if not rows:
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_edge=False)
    for name in rows[0]:
        # The first column goes into other commands, so it stays on one line. Nothing is cut, so that it can be copied.
        is_key = not table.columns
        table.add_column(
            name.upper(),
            no_wrap=is_key,
            overflow="fold",
            min_width=max(len(_text(row[name])) for row in rows) if is_key else None,
        )
    for row in rows:
        # Text, not markup: models and serials come from the device.
        table.add_row(*(Text(_text(value)) for value in row.values()))
    # In a pipe each row is one line.
    Console(width=None if sys.stdout.isatty() else _PIPE_COLUMNS).print(table)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return one_line(str(value))

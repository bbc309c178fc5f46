"""Rows as a table for people."""

from __future__ import annotations

import sys

from bridge.surfaces.cli.output import one_line


def print_table(rows: list[dict[str, object]]) -> None:
    """Columns under their names; nothing for no rows."""
    if not rows:
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_edge=False)
    for name in rows[0]:
        table.add_column(name.upper())
    for row in rows:
        # Text, not markup: models and serials are the device's own words.
        table.add_row(*(Text(_words(value)) for value in row.values()))
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return one_line(str(value))

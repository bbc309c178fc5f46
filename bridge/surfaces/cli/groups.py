"""Help pages of command groups."""

from __future__ import annotations

from collections.abc import Iterable

import click

# The formatter wraps it; a shortened sentence would be unclear.
_WHOLE_SENTENCE = 200


class Commands(click.Group):
    """A group whose help describes each command in a whole sentence, however narrow the terminal."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_section("Commands", self.commands.values(), formatter, width=max(map(len, self.commands)))

    def format_section(
        self, title: str, commands: Iterable[click.Command], formatter: click.HelpFormatter, *, width: int
    ) -> None:
        """Names and sentences under a title; the sentences begin after `width` characters."""
        with formatter.section(title):
            formatter.write_dl(
                [(str(command.name).ljust(width), command.get_short_help_str(_WHOLE_SENTENCE)) for command in commands]
            )

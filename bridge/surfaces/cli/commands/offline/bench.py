"""`bench`: runs the benchmarks of a source checkout."""

from __future__ import annotations

from pathlib import Path

import click

import bridge
from bridge.errors import UsageError


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]…")
@click.pass_context
def bench(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Run the benchmarks against other tools: `tools/bench` of the repository.

    ARGS are passed on: --quick (under five minutes), --only ROW, --list, --out FILE.json. The other tools are installed
    from npm and PyPI into .cache of the repository.
    """
    import subprocess

    program = Path(bridge.__file__).resolve().parents[1] / "tools" / "bench"
    if not program.is_file():
        raise UsageError(
            "the installed package does not include the benchmarks.",
            hint="Clone the repository and run tools/bench there.",
        )
    context.exit(subprocess.run([program, *arguments], check=False).returncode)


COMMANDS = (bench,)

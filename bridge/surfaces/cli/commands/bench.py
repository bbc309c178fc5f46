"""`bench`: the benchmarks, which stand in the repository and are not installed with the package."""

from __future__ import annotations

from pathlib import Path

import click

import bridge
from bridge.errors import UsageError


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]…")
@click.pass_context
def bench(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Measure this project beside its peers: `tools/bench` of the repository.

    ARGS go there: --quick (under five minutes), --only ROW, --list, --out FILE.json. The peers are installed into
    .cache of the repository, from npm and PyPI.
    """
    import subprocess

    program = Path(bridge.__file__).resolve().parents[1] / "tools" / "bench"
    if not program.is_file():
        raise UsageError(
            "the benchmarks are not installed with the package: they need the pages of its tests.",
            hint="Clone the repository and run tools/bench there.",
        )
    context.exit(subprocess.run([program, *arguments], check=False).returncode)


COMMANDS = (bench,)

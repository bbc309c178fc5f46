"""Commands for trace files."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.surfaces.cli.groups import Commands
from bridge.surfaces.cli.options import FILE, CommonOptions, common_options
from bridge.surfaces.cli.output import note, print_json, write_file

_file = click.argument("file", type=FILE)
_out = click.option("--out", type=FILE, metavar="FILE", help="Output file (default: stdout).")


@click.group(cls=Commands)
def trace() -> None:
    """Export a trace file as JSON, or turn it into a test."""


@trace.command()
@_file
@_out
@click.option("--screenshots", type=FILE, metavar="FOLDER", help="Write the screenshots there, not into the JSON.")
@common_options
def export(options: CommonOptions, file: Path, out: Path | None, screenshots: Path | None) -> None:
    """Print the trace in FILE as JSON.

    With --json: trace, or with --out: file, operations.
    """
    import json

    from bridge.surfaces.trace.document import read_trace
    from bridge.surfaces.trace.images import write_screenshots

    found = read_trace(file)
    if screenshots is not None:
        found["screenshots"] = write_screenshots(found["screenshots"], screenshots)
    if out is not None:
        write_file(out, json.dumps(found, indent=1))
        if options.as_json:
            print_json("trace export", {"file": str(out), "operations": len(found["operations"])})
        else:
            note(f"saved {out}")
    elif options.as_json:
        print_json("trace export", {"trace": found})
    else:
        click.echo(json.dumps(found, indent=1))


@trace.command("to-pytest")
@_file
@_out
@click.option("--async", "is_async", is_flag=True, help="Write an asynchronous test; it needs pytest-asyncio.")
@click.option("--with-grants", is_flag=True, help="Include the session's grants for ports of this machine.")
@common_options
def to_pytest(options: CommonOptions, file: Path, out: Path | None, is_async: bool, with_grants: bool) -> None:
    """Print a pytest test that repeats the trace in FILE by roles and names.

    With --json: source, left_out, file?
    """
    from bridge.surfaces.trace.document import read_trace
    from bridge.surfaces.trace.replay import test_source

    made = test_source(read_trace(file), is_async=is_async, with_grants=with_grants)
    if out is not None:
        write_file(out, made.source)
    if options.as_json:
        results = {"source": made.source, "left_out": list(made.left_out), **({"file": str(out)} if out else {})}
        print_json("trace to-pytest", results)
        return
    if out is None:
        click.echo(made.source, nl=False)
    else:
        note(f"saved {out}")
    for why in made.left_out:
        note(f"left out: {why}")


COMMANDS = (trace,)

"""`demo`: drives five small pages that come with the package."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.options import FOLDER, SessionOptions, session_options
from bridge.surfaces.cli.output import is_terminal, print_json, printable, write_file

if TYPE_CHECKING:
    from bridge.surfaces.demo.steps import DemoStep

_SHOWN_LINES = 24


@click.command()
@click.option(
    "--out",
    type=FOLDER,
    default=Path(),
    metavar="DIR",
    help="Folder for snapshot.txt and annotated.png (default: the current one).",
)
@session_options
def demo(options: SessionOptions, out: Path) -> None:
    """Drive five small pages that come with the package, and print each step with its cost.

    With --json: device, steps: [{page, did, outcome, cost}], files, cost.
    """
    from dataclasses import replace

    from bridge.cost import Cost
    from bridge.surfaces.cli.runner import CommandProgress, opened_session, run_async
    from bridge.surfaces.demo.server import serve_demo_pages
    from bridge.surfaces.demo.steps import DemoFiles, run_demo

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot create {out}: {error.strerror}.") from error
    files = DemoFiles(out / "snapshot.txt", out / "annotated.png")
    steps = CommandProgress(options.timeout_s)
    printer = _Printer(quiet=options.as_json)

    async def work() -> None:
        done: list[DemoStep] = []
        total = Cost(0.0, 0, 0, 0)
        with serve_demo_pages() as server:
            local = replace(options, local_ports=(*options.local_ports, server.port))
            async with opened_session(local, steps) as session:
                kind = "virtual device" if session.is_virtual else "device"
                device = {"serial": session.serial, "virtual": session.is_virtual}
                page = await session.new_page()
                printer.opening(f"{kind} {session.serial}, WebView {session.host.webview_version}")
                async for step in run_demo(page, server, files):
                    steps.current = f"the step after {step.did} on the {step.page} page"
                    done.append(step)
                    if step.file is not None:
                        write_file(step.file, step.content)
                    total += step.cost
                    printer.step(step)
        if options.as_json:
            results = {"device": device, "steps": [step.to_json() for step in done]}
            print_json("demo", {**results, "files": files.to_json(), "cost": total.to_json()})
        printer.closing(f"{len(done)} steps: {total}", f"{files.snapshot} and {files.annotated}")

    run_async("demo", options, steps, work())


class _Printer:
    """Prints steps as they happen: in colour on a terminal, not at all with --json."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._page = ""
        self._console = None
        if not quiet and is_terminal():
            from rich.console import Console

            self._console = Console(highlight=False)

    def opening(self, text: str) -> None:
        self._line(text, "bold")

    def step(self, step: DemoStep) -> None:
        if step.page != self._page:
            self._page = step.page
            self._line("")
            self._line(step.page, "bold cyan")
        self._line(f"  {step.did}", "bold")
        lines = printable(step.outcome).split("\n")
        for line in lines[:_SHOWN_LINES]:
            self._line(f"    {line}", _style(line))
        if len(lines) > _SHOWN_LINES:
            self._line(f"    … {len(lines) - _SHOWN_LINES} more lines", "dim")
        self._line(f"    {step.cost}", "dim")

    def closing(self, summary: str, files: str) -> None:
        self._line("")
        self._line(summary, "bold")
        self._line(f"saved {files}", "green")

    def _line(self, text: str, style: str = "") -> None:
        if self._quiet:
            return
        if self._console is None:
            click.echo(text)
            sys.stdout.flush()
            return
        from rich.text import Text

        self._console.print(Text(text, style=style), soft_wrap=True)


def _style(line: str) -> str:
    """The colour of a line of a delta: added green, removed red, changed yellow."""
    for mark, style in (("+ ", "green"), ("- - ", "red"), ("~ ", "yellow")):
        if line.startswith(mark):
            return style
    return ""


COMMANDS = (demo,)

"""`doctor`: what works, what does not, and what helps."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from bridge.surfaces.cli.options import TEXT, CommonOptions, common_options
from bridge.surfaces.cli.output import is_terminal, note, one_line, print_json

if TYPE_CHECKING:
    from bridge.surfaces.doctor.report import Report, ReportRow

_STYLES = {"pass": "green", "warn": "yellow", "fail": "bold red", "skipped": "bright_black"}
_MARK_WIDTH = 8
_NAME_WIDTH = 32
_NARROW = 80
_LEAST_WIDTH = 20


@click.command()
@click.option(
    "--device", type=TEXT, default="auto", show_default=True, metavar="auto|virtual|SERIAL", help="The device."
)
@click.option(
    "--wait",
    is_flag=True,
    help="First wait until the device has booted and its package service and WebView are ready (300 s, or --timeout).",
)
@click.option("--fix", is_flag=True, help="Repair problems: build the APK in a source checkout, install the host app.")
@click.option(
    "--device-checks",
    is_flag=True,
    help="Also test the device itself: frames, screenshots, WebGL, files, proxy, profiles, idle, renderer crash. "
    "Takes a minute and ends the host app.",
)
@common_options
def doctor(options: CommonOptions, device: str, wait: bool, fix: bool, device_checks: bool) -> None:
    """Check this machine, the device and the path to a page, and suggest fixes.

    Each check has its own deadline. The exit code is that of the first failure; warnings do not fail. With --json:
    rows: [{name, status: pass|warn|fail|skipped, said, fix?, ms}], exit_code.
    """
    from bridge.surfaces.cli.runner import CommandProgress, run_async
    from bridge.surfaces.doctor.examination import WAIT_S, Order, examine, whole_report

    report = whole_report(_quiet if options.as_json else _print_row, options.timeout_s)
    wait_s = (options.timeout_s or WAIT_S) if wait else None
    order = Order(device, options.adb_server, wait_s, fix, device_checks, note)
    run_async("doctor", options, CommandProgress(None), examine(order, report))
    if options.as_json:
        rows = [row.to_json() for row in report.rows]
        print_json("doctor", {"rows": rows, "exit_code": report.exit_code}, exit_code=report.exit_code)
    else:
        _print_summary(report)
    if report.exit_code:
        sys.stdout.flush()
        sys.exit(report.exit_code)


def _quiet(row: ReportRow) -> None:
    pass


def _print_row(row: ReportRow) -> None:
    status = row.verdict.status
    mark = f"{status:{_MARK_WIDTH}}"
    if is_terminal():
        mark = click.style(mark, fg=_STYLES[status].removeprefix("bold "), bold=status == "fail")
    fix = f"-> {one_line(row.verdict.fix)}" if row.verdict.fix and status != "pass" else ""
    for line in row_lines(mark, row.name, (one_line(row.verdict.finding), fix), _columns()):
        click.echo(line)
    sys.stdout.flush()


def row_lines(mark: str, name: str, texts: Iterable[str], columns: int | None) -> list[str]:
    """The lines of a row: texts in a column beside the name, or below it in a narrow terminal.

    Args:
        mark: `_MARK_WIDTH` characters wide when printed.
        columns: Width of the terminal; None keeps each text on one line.
    """
    import textwrap

    is_narrow = columns is not None and columns < _NARROW
    margin = " " * (_MARK_WIDTH if is_narrow else _MARK_WIDTH + _NAME_WIDTH)
    width = sys.maxsize if columns is None else max(columns - 1, len(margin) + _LEAST_WIDTH)
    lines: list[str] = []
    for text in filter(None, texts):
        # Words are never broken: they may be paths to copy.
        lines += textwrap.wrap(
            text, width, initial_indent=margin, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
        )
    if is_narrow:
        return [f"{mark}{name}", *lines]
    return [f"{mark}{name:{_NAME_WIDTH}}{lines[0][len(margin) :]}", *lines[1:]] if lines else [f"{mark}{name}"]


def _columns() -> int | None:
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _print_summary(report: Report) -> None:
    counted = ((report.count("pass"), "passed"), (report.count("warn"), "warned"), (report.count("fail"), "failed"))
    counts = [f"{count} {word}" for count, word in (*counted, (report.count("skipped"), "skipped"))]
    click.echo(f"\n{', '.join(counts)}")


COMMANDS = (doctor,)

"""`doctor`: what works, what does not, and what helps."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
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
    help="Also test the device itself: taps, keys, dialogs, frames, screenshots, files, the demo, the screen off and "
    "more. Takes three minutes on a phone, ends the host app, and switches the screen off and on.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="CHECK",
    help="Only this device check, by the name in its row; can be given several times.",
)
@click.option(
    "--dark",
    type=click.FloatRange(0, 3600),
    metavar="SECONDS",
    help="How long the screen is off before frames and taps are checked (60 s; on a virtual device 1 s).",
)
@click.option(
    "--cable", is_flag=True, help="Also check that a session survives unplugging the cable; asks you to unplug it."
)
@click.option(
    "--sample-apk",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The app of tools/build-host-app --sample: install it, attach to it, and remove it.",
)
@click.option(
    "--report",
    "report_path",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write the report to FILE (.html or .json) for a bug report, without serials, names and addresses.",
)
@common_options
def doctor(
    options: CommonOptions,
    device: str,
    wait: bool,
    fix: bool,
    device_checks: bool,
    only: tuple[str, ...],
    dark: float | None,
    cable: bool,
    sample_apk: Path | None,
    report_path: Path | None,
) -> None:
    """Check this machine, the device and the path to a page, and suggest fixes.

    Each check has its own deadline. The exit code is that of the first failure; warnings do not fail. With --json:
    rows: [{name, status: pass|warn|fail|skipped, finding, feature?, meaning?, fix?, ms}], exit_code; meaning is what a
    device check that did not pass means for its feature.
    """
    from bridge.errors import UsageError
    from bridge.surfaces.cli.runner import CommandProgress, run_async
    from bridge.surfaces.doctor.examination import WAIT_S, Order, examine, whole_report
    from bridge.surfaces.doctor.saved_report import check_report_path, save_report

    if not device_checks and (only or dark is not None or cable or sample_apk is not None):
        raise UsageError("--only, --dark, --cable and --sample-apk belong to --device-checks")
    if report_path is not None:
        check_report_path(report_path)

    report = whole_report(_quiet if options.as_json else _print_row, options.timeout_s)
    wait_s = (options.timeout_s or WAIT_S) if wait else None
    serials: set[str] = set()
    order = Order(
        device,
        options.adb_server,
        wait_s,
        fix,
        device_checks,
        note,
        only=frozenset(only),
        dark_s=dark,
        has_cable_check=cable,
        sample_apk=sample_apk,
        serials=serials,
    )
    run_async("doctor", options, CommandProgress(None), examine(order, report))
    if report_path is not None:
        save_report(report, report_path, serials)
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
    texts = (one_line(row.verdict.finding), row.endangered, fix)
    for line in row_lines(mark, row.name, texts, _columns()):
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

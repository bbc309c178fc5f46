"""Commands that capture a page: screenshots, recordings, console and network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from bridge.surfaces.cli.dispatch import print_result, run_command
from bridge.surfaces.cli.options import FILE, REF, TEXT, Number, SessionOptions, WholeNumber, page_options
from bridge.surfaces.cli.output import check_writable, note, write_file

_SUFFIXES = {"png": "png", "jpeg": "jpg", "webp": "webp"}
_RECORDING_FORMATS = ["webp", "gif"]
_limit = click.option(
    "--limit",
    type=WholeNumber(1, 2_000),
    default=100,
    show_default=True,
    metavar="N",
    help="Maximum number of entries; the newest are printed.",
)
_tab = click.option(
    "--tab", type=TEXT, metavar="TAB|all", help="An open or closed tab, or all (default: the current tab)."
)
_after = click.option(
    "--after", type=WholeNumber(min=0), default=0, metavar="NUMBER", help="Only entries after this number."
)


@click.command()
@click.option("--full-page", is_flag=True, help="The whole page instead of the viewport.")
@click.option("--ref", type=REF, metavar="REF", help="Only this element.")
@click.option("--annotate", is_flag=True, help="Draw a box with its ref around each interactive element.")
@click.option(
    "--format",
    "image_format",
    type=click.Choice(list(_SUFFIXES)),
    show_default="by the file's name, else png",
)
@click.option("--quality", type=WholeNumber(0, 100), metavar="N", help="For jpeg and webp.")
@click.option(
    "--scale",
    type=click.Choice(["css", "device"]),
    default="css",
    show_default=True,
    help="One pixel per CSS pixel, or device pixels.",
)
@click.option(
    "--max-height",
    "max_height_px",
    type=WholeNumber(1, 10_000),
    default=10_000,
    metavar="PX",
    help="Maximum height of the screenshot.",
)
@click.option(
    "--out",
    "--output",
    "out",
    type=FILE,
    metavar="FILE",
    help="Output file (default: screenshot.png).",
)
@page_options
def screenshot(
    options: SessionOptions,
    url: str | None,
    wait_for: str | None,
    image_format: str | None,
    out: Path | None,
    **wanted: Any,
) -> None:
    """Save a screenshot of the viewport, the whole page or one element.

    With --json: file, format, width_px, height_px, scale, strategy, truncated, legend, notices?, cost.
    """
    image_format = image_format or _format_of(out, list(_SUFFIXES))
    target = out or Path(f"screenshot.{_SUFFIXES[image_format]}")
    check_writable(target)
    params = {**wanted, "type": image_format}
    has_ref = wanted["ref"] is not None
    result = run_command("screenshot", options, "screenshot", params, url=url, wait_for=wait_for, needs_refs=has_ref)
    write_file(target, result.blob)
    size = f"{result.json['width_px']} x {result.json['height_px']} px"
    print_result("screenshot", options, result, f"saved {target} ({size})", {"file": str(target)})


@click.command()
@click.option("--seconds", "duration_s", type=Number(0.1, 600), default=3.0, show_default=True, metavar="S")
@click.option(
    "--format", "recording_format", type=click.Choice(_RECORDING_FORMATS), show_default="by the file's name, else webp"
)
@click.option("--max-frames", type=WholeNumber(1, 5_000), default=300, show_default=True, metavar="N")
@click.option("--max-width", "max_width_px", type=WholeNumber(16, 4_096), default=412, show_default=True, metavar="PX")
@click.option(
    "--out",
    "--output",
    "out",
    type=FILE,
    metavar="FILE",
    help="Output file (default: recording.webp).",
)
@page_options
def record(
    options: SessionOptions,
    url: str | None,
    wait_for: str | None,
    recording_format: str | None,
    out: Path | None,
    **wanted: Any,
) -> None:
    """Record the page for some seconds as an animated image.

    With --json: file, format, frames, duration_ms, width_px, height_px, size_bytes, truncated, notices?, cost.
    """
    recording_format = recording_format or _format_of(out, _RECORDING_FORMATS)
    target = out or Path(f"recording.{recording_format}")
    check_writable(target)
    params = {**wanted, "format": recording_format}
    result = run_command("record", options, "record", params, url=url, wait_for=wait_for)
    write_file(target, result.blob)
    frames = result.json["frames"]
    facts = f"{frames} {'frame' if frames == 1 else 'frames'}, {result.json['duration_ms'] / 1000:.1f} s"
    print_result("record", options, result, f"saved {target} ({facts})", {"file": str(target)})


@click.command()
@click.option("--level", type=click.Choice(["debug", "info", "warning", "error"]), help="Minimum severity.")
@click.option("--text", type=TEXT, metavar="TEXT", help="Only messages that contain this text.")
@_tab
@_after
@_limit
@page_options
def console(options: SessionOptions, url: str | None, wait_for: str | None, **wanted: Any) -> None:
    """Print console messages and uncaught errors of a tab, or of all tabs, closed ones included.

    With --json: entries, last, dropped, more.
    """
    from bridge.snapshot.escape import plain, without_refs

    result = run_command("console", options, "console", wanted, url=url, wait_for=wait_for)
    lines = []
    for entry in result.json["entries"]:
        where = f" ({plain(entry['location'])})" if entry["location"] else ""
        # No line of a message may look like another message.
        text = "\n".join(entry["text"].splitlines()).replace("\n", f"\n{'':14}")
        lines.append(f"{entry['number']:>5}{_tab_of(entry, wanted)} {entry['level']:<7} {text}{where}")
        lines.extend(f"      at {plain(frame)}" for frame in entry.get("stack", ()))
    print_result("console", options, result, without_refs("\n".join(lines)), {})
    _note_if_empty(lines, options, wanted, "nothing was logged")


@click.command()
@click.option(
    "--filter", "address", type=TEXT, metavar="TEXT", help="Only URLs that contain this text; a glob if it has a *."
)
@click.option("--method", type=TEXT, metavar="METHOD")
@click.option("--status", type=TEXT, metavar="STATUS", help="A status, or a class such as 4xx.")
@click.option("--type", "resource_type", type=TEXT, metavar="TYPE", help="document, script, image, xhr, fetch, …")
@click.option("--failed", is_flag=True, default=None, help="Only requests that failed.")
@click.option("--har", type=FILE, metavar="FILE", help="Also write all requests of the tab to this file as HAR 1.2.")
@_tab
@_after
@_limit
@page_options
def network(
    options: SessionOptions,
    url: str | None,
    wait_for: str | None,
    address: str | None,
    har: Path | None,
    **wanted: Any,
) -> None:
    """Print the network requests of a tab, or of all tabs, closed ones included; credentials in headers are redacted.

    With --json: entries, last, dropped, more, file?.
    """
    from bridge.snapshot.escape import without_refs

    check_writable(har)
    params = {**wanted, "url": address, "har": har is not None}
    result = run_command("network", options, "network", params, url=url, wait_for=wait_for)
    if har is not None:
        write_file(har, result.blob)
    lines = []
    for entry in result.json["entries"]:
        outcome = entry.get("failure") or entry["status"] or entry["state"]
        took = "" if entry["duration_ms"] is None else f" {entry['duration_ms']:.0f} ms"
        size = f"{entry['encoded_bytes'] / 1000:.1f} kB"
        request = f"{outcome} {entry['method']} {entry['url']} ({entry['type']}, {size}{took})"
        lines.append(f"{entry['number']:>5}{_tab_of(entry, wanted)} {request}")
    if har is not None:
        lines.append(f"saved {har}")
    text = without_refs("\n".join(lines))
    print_result("network", options, result, text, {"file": str(har)} if har is not None else {})
    _note_if_empty(lines, options, {**wanted, "url": address}, "nothing was requested")


def _tab_of(entry: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    return f" {entry['tab']}" if wanted["tab"] == "all" else ""


def _format_of(out: Path | None, formats: Sequence[str]) -> str:
    """The format of the file name's suffix, else the first of the formats."""
    suffix = "" if out is None else out.suffix.lower().removeprefix(".")
    return next((name for name in formats if suffix in (name, _SUFFIXES.get(name))), formats[0])


def _note_if_empty(lines: list[str], options: SessionOptions, wanted: Mapping[str, Any], text: str) -> None:
    is_narrowed = any(value for key, value in wanted.items() if key != "limit")
    if not lines and not options.as_json:
        note(f"{text} that matches" if is_narrowed else text)


COMMANDS = (screenshot, record, console, network)

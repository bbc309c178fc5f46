"""Commands that look at a page from outside: pictures, recordings, console and network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from bridge.surfaces.cli.commands.actions import checked_ref, on_a_page
from bridge.surfaces.cli.dispatch import perform, print_answer
from bridge.surfaces.cli.options import FILE, WORDS, Number, SessionOptions, WholeNumber
from bridge.surfaces.cli.output import check_writable, note, write_file

_SUFFIXES = {"png": "png", "jpeg": "jpg", "webp": "webp"}
_FILM_FORMATS = ["webp", "gif"]
_limit = click.option(
    "--limit",
    type=WholeNumber(1, 2_000),
    default=100,
    show_default=True,
    metavar="N",
    help="The newest so many.",
)
_after = click.option(
    "--after", type=WholeNumber(min=0), default=0, metavar="NUMBER", help="Only what came after this one."
)


@click.command()
@click.option("--full-page", is_flag=True, help="The whole page, not only what is in view.")
@click.option("--ref", metavar="REF", help="Only this element.")
@click.option("--annotate", is_flag=True, help="Draw boxes that are numbered like the refs of a snapshot.")
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
    help="One pixel per CSS pixel, or what the device draws.",
)
@click.option(
    "--max-height",
    "max_height_px",
    type=WholeNumber(1, 10_000),
    default=10_000,
    metavar="PX",
    help="Of the picture.",
)
@click.option(
    "--out",
    "--output",
    "out",
    type=FILE,
    metavar="FILE",
    help="Where to (default: screenshot.png).",
)
@on_a_page
def screenshot(
    options: SessionOptions,
    url: str | None,
    wait_for: str | None,
    image_format: str | None,
    out: Path | None,
    ref: str | None,
    **wanted: Any,
) -> None:
    """Save a picture of the viewport, the whole page or one element.

    With --json: file, format, width_px, height_px, scale, strategy, truncated, legend, notices?, cost.
    """
    image_format = image_format or _format_of(out, list(_SUFFIXES))
    target = out or Path(f"screenshot.{_SUFFIXES[image_format]}")
    check_writable(target)
    params = {**wanted, "format": image_format, "ref": None if ref is None else checked_ref(ref)}
    answer = perform(
        "screenshot", options, "screenshot", params, url=url, wait_for=wait_for, shows_refs=ref is not None
    )
    write_file(target, answer.blob)
    size = f"{answer.json['width_px']} x {answer.json['height_px']} px"
    print_answer("screenshot", options, answer, f"saved {target} ({size})", {"file": str(target)})


@click.command()
@click.option("--seconds", "duration_s", type=Number(0.1, 600), default=3.0, show_default=True, metavar="S")
@click.option("--format", "film_format", type=click.Choice(_FILM_FORMATS), show_default="by the file's name, else webp")
@click.option("--max-frames", type=WholeNumber(1, 5_000), default=300, show_default=True, metavar="N")
@click.option("--max-width", "max_width_px", type=WholeNumber(16, 4_096), default=412, show_default=True, metavar="PX")
@click.option(
    "--out",
    "--output",
    "out",
    type=FILE,
    metavar="FILE",
    help="Where to (default: recording.webp).",
)
@on_a_page
def record(
    options: SessionOptions,
    url: str | None,
    wait_for: str | None,
    film_format: str | None,
    out: Path | None,
    **wanted: Any,
) -> None:
    """Save what the page draws in the next seconds as an animated picture.

    With --json: file, format, frames, duration_ms, width_px, height_px, size_bytes, truncated, notices?, cost.
    """
    film_format = film_format or _format_of(out, _FILM_FORMATS)
    target = out or Path(f"recording.{film_format}")
    check_writable(target)
    params = {**wanted, "format": film_format}
    answer = perform("record", options, "record", params, url=url, wait_for=wait_for)
    write_file(target, answer.blob)
    frames = answer.json["frames"]
    facts = f"{frames} {'frame' if frames == 1 else 'frames'}, {answer.json['duration_ms'] / 1000:.1f} s"
    print_answer("record", options, answer, f"saved {target} ({facts})", {"file": str(target)})


@click.command()
@click.option("--level", type=click.Choice(["debug", "info", "warning", "error"]), help="The least severe to show.")
@click.option("--text", type=WORDS, metavar="TEXT", help="Only messages with this text in them.")
@_after
@_limit
@on_a_page
def console(options: SessionOptions, url: str | None, wait_for: str | None, **wanted: Any) -> None:
    """Print what the tab's pages have logged, uncaught errors included.

    With --json: entries, last, dropped, more.
    """
    from bridge.snapshot.escape import plain, without_refs

    answer = perform("console", options, "console", wanted, url=url, wait_for=wait_for)
    lines = []
    for entry in answer.json["entries"]:
        where = f" ({plain(entry['location'])})" if entry["location"] else ""
        # A message may have lines; none of them may look like another message.
        text = "\n".join(entry["text"].splitlines()).replace("\n", f"\n{'':14}")
        lines.append(f"{entry['number']:>5} {entry['level']:<7} {text}{where}")
        lines.extend(f"      at {plain(frame)}" for frame in entry.get("stack", ()))
    print_answer("console", options, answer, without_refs("\n".join(lines)), {})
    _say_if_nothing(lines, options, wanted, "nothing was logged")


@click.command()
@click.option(
    "--filter", "address", type=WORDS, metavar="TEXT", help="Only addresses with this in them; a glob if it has a *."
)
@click.option("--method", type=WORDS, metavar="METHOD")
@click.option("--status", type=WORDS, metavar="STATUS", help="A number, or a class such as 4xx.")
@click.option("--type", "resource_type", type=WORDS, metavar="TYPE", help="document, script, image, xhr, fetch, …")
@click.option("--failed", is_flag=True, default=None, help="Only requests that failed.")
@click.option("--har", type=FILE, metavar="FILE", help="Write all of them there as HAR 1.2.")
@_after
@_limit
@on_a_page
def network(
    options: SessionOptions,
    url: str | None,
    wait_for: str | None,
    address: str | None,
    har: Path | None,
    **wanted: Any,
) -> None:
    """Print the tab's requests; values of headers that let somebody in are left out.

    With --json: entries, last, dropped, more, file?.
    """
    from bridge.snapshot.escape import without_refs

    check_writable(har)
    params = {**wanted, "url": address, "har": har is not None}
    answer = perform("network", options, "network", params, url=url, wait_for=wait_for)
    if har is not None:
        write_file(har, answer.blob)
    lines = []
    for entry in answer.json["entries"]:
        outcome = entry.get("failure") or entry["status"] or entry["state"]
        took = "" if entry["duration_ms"] is None else f" {entry['duration_ms']:.0f} ms"
        size = f"{entry['encoded_bytes'] / 1000:.1f} kB"
        lines.append(f"{entry['number']:>5} {outcome} {entry['method']} {entry['url']} ({entry['type']}, {size}{took})")
    if har is not None:
        lines.append(f"saved {har}")
    text = without_refs("\n".join(lines))
    print_answer("network", options, answer, text, {"file": str(har)} if har is not None else {})
    _say_if_nothing(lines, options, {**wanted, "url": address}, "nothing was requested")


def _format_of(out: Path | None, formats: Sequence[str]) -> str:
    """What a file of that name holds, where it says; else the first of the formats."""
    suffix = "" if out is None else out.suffix.lower().removeprefix(".")
    return next((name for name in formats if suffix in (name, _SUFFIXES.get(name))), formats[0])


def _say_if_nothing(lines: list[str], options: SessionOptions, wanted: Mapping[str, Any], words: str) -> None:
    is_narrowed = any(value for key, value in wanted.items() if key != "limit")
    if not lines and not options.as_json:
        note(f"{words} that fits" if is_narrowed else words)


COMMANDS = (screenshot, record, console, network)

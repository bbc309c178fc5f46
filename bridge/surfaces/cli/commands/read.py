"""`read`: the text of a page as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.dispatch import print_result, run_command
from bridge.surfaces.cli.options import FILE, TEXT, SessionOptions, WholeNumber, session_options
from bridge.surfaces.cli.output import check_writable, note, write_file


@click.command()
@click.argument("url", required=False)
@click.option("--url", "url_option", metavar="URL", help="The same, as an option.")
@click.option("--wait-for", type=TEXT, metavar="TEXT", help="Wait for this text on the page first.")
@click.option(
    "--mode", type=click.Choice(["main_content", "article", "raw"]), default="main_content", show_default=True
)
@click.option(
    "--max-length",
    type=WholeNumber(min=0),
    default=50_000,
    show_default=True,
    metavar="N",
    help="Maximum length of the text; 0 for no limit.",
)
@click.option("--selector", type=TEXT, metavar="CSS", help="Only the first match.")
@click.option("--outline", is_flag=True, help="Only the headings.")
@click.option("--section", type=TEXT, metavar="HEADING", help="Only the section under this heading (text or anchor).")
@click.option("--links", type=click.Choice(["inline", "ref", "none"]), default="inline", show_default=True)
@click.option("--comments", is_flag=True, help="Include reader comments.")
@click.option("--out", type=FILE, metavar="FILE", help="Write the text to FILE.")
@session_options
def read(
    options: SessionOptions,
    url: str | None,
    url_option: str | None,
    wait_for: str | None,
    mode: Any,
    max_length: int,
    selector: str | None,
    outline: bool,
    section: str | None,
    links: Any,
    comments: bool,
    out: Path | None,
) -> None:
    """Print the main text at URL, or of the open page, as Markdown; the page is rendered first.

    With --json: markdown, title, url, kind, hidden_text_removed, truncated, cost.
    """
    if outline and section is not None:
        raise UsageError("--outline and --section cannot be combined.")
    if url is not None and url_option is not None:
        raise UsageError("read takes at most one URL.")
    check_writable(out)
    params = {
        "mode": mode,
        "max_length": max_length,
        "selector": selector,
        "outline": outline,
        "section": section,
        "links": links,
        "comments": comments,
    }
    result = run_command("read", options, "read", params, url=url or url_option, wait_for=wait_for)
    text = str(result.json["markdown"])
    if out is not None:
        write_file(out, f"{text}\n")
    print_result("read", options, result, f"saved {out}" if out else text, {"file": str(out)} if out else {})
    if not options.as_json and result.json["hidden_text_removed"]:
        note(f"hidden texts removed: {result.json['hidden_text_removed']}")


COMMANDS = (read,)

"""`read`: a page's text as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.dispatch import perform, print_answer
from bridge.surfaces.cli.options import FILE, WORDS, SessionOptions, WholeNumber, session_options
from bridge.surfaces.cli.output import check_writable, note, write_file


@click.command()
@click.argument("url", required=False)
@click.option("--url", "url_option", metavar="URL", help="The same, as an option.")
@click.option("--wait-for", type=WORDS, metavar="TEXT", help="Read when this text is on the page.")
@click.option(
    "--mode", type=click.Choice(["main_content", "article", "raw"]), default="main_content", show_default=True
)
@click.option(
    "--max-length",
    type=WholeNumber(min=0),
    default=50_000,
    show_default=True,
    metavar="N",
    help="Bound of the text; 0 is none.",
)
@click.option("--selector", type=WORDS, metavar="CSS", help="Only what is below the first element that this finds.")
@click.option("--outline", is_flag=True, help="Only the headings.")
@click.option(
    "--section", type=WORDS, metavar="HEADING", help="Only what is below this heading (its words or its anchor)."
)
@click.option("--links", type=click.Choice(["inline", "ref", "none"]), default="inline", show_default=True)
@click.option("--comments", is_flag=True, help="The readers' comments too.")
@click.option("--out", type=FILE, metavar="FILE", help="Write the text there.")
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
    """Print what there is to read at URL, or on the open page, as Markdown: as rendered, without what surrounds it.

    With --json: markdown, title, url, kind, hidden_text_removed, truncated, cost.
    """
    if outline and section is not None:
        raise UsageError("--outline and --section exclude each other.")
    if url is not None and url_option is not None:
        raise UsageError("read takes one URL.")
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
    answer = perform("read", options, "read", params, url=url or url_option, wait_for=wait_for)
    text = str(answer.json["markdown"])
    if out is not None:
        write_file(out, f"{text}\n")
    print_answer("read", options, answer, f"saved {out}" if out else text, {"file": str(out)} if out else {})
    if not options.as_json and answer.json["hidden_text_removed"]:
        note(f"hidden texts removed: {answer.json['hidden_text_removed']}")


COMMANDS = (read,)

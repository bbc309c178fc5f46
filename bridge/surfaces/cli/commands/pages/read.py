"""`read`: the text of a page as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.commands.offline.fetch import read_file
from bridge.surfaces.cli.dispatch import print_text, run_command
from bridge.surfaces.cli.options import TEXT, SessionOptions, max_length_option, out_option, session_options
from bridge.surfaces.cli.output import check_writable, note, with_metadata


@click.command()
@click.argument("url", required=False)
@click.option("--url", "url_option", metavar="URL", help="The same, as an option.")
@click.option("--html", metavar="FILE", help="Read HTML text instead of a page; - for stdin. Needs no device.")
@click.option("--base-url", metavar="URL", help="With --html: what relative addresses are relative to.")
@click.option("--wait-for", type=TEXT, metavar="TEXT", help="Wait for this text on the page first.")
@click.option(
    "--mode", type=click.Choice(["main_content", "article", "raw"]), default="main_content", show_default=True
)
@max_length_option
@click.option("--selector", type=TEXT, metavar="CSS", help="Only the first match.")
@click.option("--outline", is_flag=True, help="Only the headings.")
@click.option("--section", type=TEXT, metavar="HEADING", help="Only the section under this heading (text or anchor).")
@click.option("--links", type=click.Choice(["inline", "ref", "none"]), default="inline", show_default=True)
@click.option("--comments", is_flag=True, help="Include reader comments.")
@click.option("--metadata", is_flag=True, help="Include description, author, dates, language and image.")
@out_option
@session_options
def read(
    options: SessionOptions,
    url: str | None,
    url_option: str | None,
    html: str | None,
    base_url: str | None,
    wait_for: str | None,
    out: Path | None,
    **wanted: Any,
) -> None:
    """Print the main text at URL, or of the open page, as Markdown; the page is rendered first.

    With --json: markdown, title, url, kind, hidden_text_removed, truncated, metadata, cost; with --html headings
    instead of url and cost.
    """
    if wanted["outline"] and wanted["section"] is not None:
        raise UsageError("--outline and --section cannot be combined.")
    if url is not None and url_option is not None:
        raise UsageError("read takes at most one URL.")
    if html is not None and (url or url_option or wait_for or wanted["comments"] or wanted["links"] == "ref"):
        raise UsageError("--html cannot be combined with a URL, --wait-for, --comments or --links ref.")
    if base_url is not None and html is None:
        raise UsageError("--base-url needs --html.")
    check_writable(out)
    if html is not None:
        from bridge.page.navigation.url import checked_url

        kept = ("mode", "max_length", "selector", "outline", "section", "links", "metadata")
        base_url = checked_url(base_url) if base_url is not None else None
        read_file(options, html, out, base_url=base_url, **{name: wanted[name] for name in kept})
        return
    result = run_command("read", options, "read", wanted, url=url or url_option, wait_for=wait_for)
    text = str(result.json["markdown"])
    print_text("read", options, result, text if out else with_metadata(text, result.json.get("metadata")), out)
    if not options.as_json and result.json["hidden_text_removed"]:
        note(f"hidden texts removed: {result.json['hidden_text_removed']}")


COMMANDS = (read,)

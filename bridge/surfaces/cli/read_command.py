"""`read`: a page's text as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.options import SessionOptions, session_options
from bridge.surfaces.cli.output import cost_words, note, print_json, printable, write_file

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.surfaces.cli.running import Steps

READ_TIMEOUT_S = 10.0


@click.command()
@click.argument("url")
@click.option("--wait-for", metavar="TEXT", help="Read when this text is on the page.")
@click.option(
    "--mode", type=click.Choice(["main_content", "article", "raw"]), default="main_content", show_default=True
)
@click.option("--max-length", type=int, default=50_000, show_default=True, help="Bound of the text; 0 is none.")
@click.option("--selector", metavar="CSS", help="Only what is below the first element that this finds.")
@click.option("--outline", is_flag=True, help="Only the headings.")
@click.option("--section", metavar="HEADING", help="Only what is below this heading (its words or its anchor).")
@click.option("--links", type=click.Choice(["inline", "ref", "none"]), default="inline", show_default=True)
@click.option("--comments", is_flag=True, help="The readers' comments too.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the text there.")
@session_options
def read(
    options: SessionOptions,
    url: str,
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
    """Print what there is to read at URL as Markdown: as rendered, without what surrounds it or cannot be seen.

    With --json: markdown, title, url, kind, hidden_text_removed, truncated, cost.
    """
    from bridge.surfaces.cli.running import Steps, checked_address, opened_page, run_async

    if outline and section is not None:
        raise UsageError("--outline and --section exclude each other.")
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise UsageError(f"{out} cannot be written.")
    address = checked_address(url, options)
    steps = Steps(options.timeout_s)

    async def work() -> None:
        async with opened_page(options, steps, address, wait_for) as page:
            await show(page, steps)

    async def show(page: Page, steps: Steps) -> None:
        result = await page.read(
            mode=mode,
            max_length=max_length,
            selector=selector,
            outline=outline,
            section=section,
            links=links,
            comments=comments,
            timeout_s=steps.begin("reading the page", READ_TIMEOUT_S),
        )
        if out is not None:
            write_file(out, f"{result.markdown}\n".encode())
        if options.as_json:
            print_json("read", {**result.to_json(), **({"file": str(out)} if out else {})})
            return
        click.echo(f"saved {out}" if out else printable(result.markdown))
        if result.hidden_text_removed:
            note(f"{result.hidden_text_removed} hidden texts removed")
        note(cost_words(result.cost))

    run_async("read", options, steps, work())

"""Commands that read without a device: fetch a page by HTTP, take a snapshot of HTML text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.options import (
    TEXT,
    CommonOptions,
    SessionOptions,
    WholeNumber,
    max_length_option,
    out_option,
    session_options,
    start_options,
)
from bridge.surfaces.cli.output import check_writable, note, print_json, printable, with_metadata, write_file

FETCH_TIMEOUT_S = 30.0
RENDER_TIMEOUT_S = 120.0
#: Limit of HTML text for a snapshot; the input may be endless.
MAX_HTML_BYTES = 20_000_000


@click.command()
@click.argument("url")
@max_length_option
@click.option("--selector", type=TEXT, metavar="CSS", help="Only the first match.")
@click.option(
    "--mode",
    type=click.Choice(["main_content", "article", "raw"]),
    default="main_content",
    show_default=True,
    help="raw also includes navigation and footers.",
)
@click.option("--metadata", is_flag=True, help="Include description, author, dates, language and image.")
@click.option("--outline", is_flag=True, help="Only the headings.")
@click.option("--section", type=TEXT, metavar="HEADING", help="Only the section under this heading (text or anchor).")
@click.option(
    "--pages",
    type=WholeNumber(1, 50),
    default=1,
    show_default=True,
    metavar="N",
    help="Follow rel=next for up to N pages.",
)
@click.option("--links", type=click.Choice(["inline", "none"]), default="inline", show_default=True)
@out_option
@click.option("--render", is_flag=True, help="If the page is empty without JavaScript, open it on a device (--device).")
@session_options
def fetch(options: SessionOptions, url: str, out: Path | None, render: bool, **wanted: Any) -> None:
    """Fetch URL by HTTP and print it as Markdown: no device, no JavaScript, no cookies.

    With --json: markdown, url, status, content_type, title, truncated, truncate_reasons, body_bytes, charset,
    charset_source, kind, redirects, metadata, outline, notes, pages, hidden_text_removed, rendered, cost.
    """
    from bridge.page.navigation.url import checked_url
    from bridge.policy.pinning import PinnedEgress
    from bridge.surfaces.cli.runner import CommandProgress, opened_page, run_async

    check_writable(out)
    if wanted["outline"] and wanted["section"] is not None:
        raise UsageError("--outline and --section cannot be combined.")
    address = checked_url(url)
    start = start_options(options)
    egress = PinnedEgress(start.policy(), start.grants())
    usual_s = RENDER_TIMEOUT_S if render else FETCH_TIMEOUT_S

    async def rendered(address: str, timeout_s: float) -> str:
        note(f"{address} is empty without JavaScript; opening it on a device")
        async with opened_page(options, CommandProgress(timeout_s), address, None) as (_, page):
            kept = ("mode", "max_length", "selector", "outline", "section", "links")
            return (await page.read(**{name: wanted[name] for name in kept})).markdown

    async def work() -> None:
        from bridge.reading.fetch import webfetch

        timeout_s = usual_s if options.timeout_s is None else options.timeout_s
        page = await webfetch(
            address, egress=egress, timeout_s=timeout_s, render=rendered if render else None, **wanted
        )
        if out is not None:
            write_file(out, f"{page.markdown}\n")
        if options.as_json:
            print_json("fetch", {**page.to_json(), **({"file": str(out)} if out else {})})
            return
        facts = page.metadata.to_json() if page.metadata is not None else None
        click.echo(printable(with_metadata(f"saved {out}" if out else page.markdown, facts)))
        for text in page.notes:
            note(text)
        where = "" if page.url == address else f"{page.url} · "
        note(f"{where}{page.content_type} · {page.cost}")

    # The fetch has the deadline, because its error says more than the command's.
    run_async("fetch", options, CommandProgress(None), work())


def html_input(source: str) -> tuple[bytes, str]:
    """HTML from a file, or from stdin for "-", and its URL."""
    from bridge.reading.media_type import sniffed_type

    name = "the input on stdin" if source == "-" else source
    if source == "-":
        body, url = sys.stdin.buffer.read(MAX_HTML_BYTES + 1), "about:blank"
    else:
        path = Path(source)
        try:
            with path.open("rb") as file:
                body, url = file.read(MAX_HTML_BYTES + 1), path.resolve().as_uri()
        except OSError as error:
            raise UsageError(f"cannot read {source}: {error.strerror}.") from error
    if len(body) > MAX_HTML_BYTES:
        raise UsageError(f"{name} is larger than {MAX_HTML_BYTES:,} bytes.")
    if (binary := sniffed_type(body)) and body.strip():
        raise UsageError(f"{name} is not HTML: it is binary ({binary}, {len(body):,} bytes).")
    return body, url


def read_file(
    options: CommonOptions, source: str, out: Path | None, *, base_url: str | None, metadata: bool, **wanted: Any
) -> None:
    """`read --html`: the main text of HTML from a file, or from stdin for "-"."""
    from bridge.reading import convert

    body, url = html_input(source)
    found = convert(body, base_url or ("" if source == "-" else url), **wanted)
    if out is not None:
        write_file(out, f"{found.markdown}\n")
    if options.as_json:
        print_json("read", {**found.to_json(), **({"file": str(out)} if out else {})})
        return
    facts = found.metadata.to_json() if metadata else None
    click.echo(printable(with_metadata(f"saved {out}" if out else found.markdown, facts)))
    if found.hidden_text_removed:
        note(f"hidden texts removed: {found.hidden_text_removed}")


def snapshot_of_file(
    options: CommonOptions,
    source: str,
    *,
    everything: bool,
    interactive: bool,
    controls: bool,
    aria_hidden: bool,
    max_chars: int,
    scope: str | None,
    more: str | None,
    find: str | None,
    out: Path | None,
) -> None:
    """`snapshot --html`: a snapshot of HTML text from a file, or from stdin for "-"."""
    from bridge.reading.charset import decode_text
    from bridge.snapshot import HtmlSnapshotOptions, snapshot_html

    body, url = html_input(source)
    wanted = HtmlSnapshotOptions(
        max_chars_total=max_chars,
        interactive_only=not everything,
        scope=scope or "",
        start=more or "",
        find=find or "",
        controls_only=controls,
        aria_hidden=aria_hidden,
        text=not interactive,
    )
    shot = snapshot_html(decode_text(body, markup=True).text, wanted, url=url)
    if out is not None:
        write_file(out, f"{shot.text}\n")
    if options.as_json:
        print_json("snapshot", {**shot.to_json(), **({"file": str(out)} if out else {})})
        return
    click.echo(f"saved {out}" if out else printable(shot.text))


COMMANDS = (fetch,)

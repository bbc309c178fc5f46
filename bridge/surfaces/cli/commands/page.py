"""Commands that navigate, take snapshots, query and wait."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.commands.actions import checked_ref, page_options
from bridge.surfaces.cli.commands.reading import snapshot_of_file
from bridge.surfaces.cli.dispatch import print_result, run_command
from bridge.surfaces.cli.options import FILE, TEXT, SessionOptions, WholeNumber, session_options
from bridge.surfaces.cli.output import check_writable, note, one_line, write_file

if TYPE_CHECKING:
    from bridge.surfaces.session_command import CommandResult


@click.command("open")
@click.argument("url", required=False)
@click.option("--url", "url_option", metavar="URL", help="The same, as an option.")
@click.option("--new-tab", is_flag=True, help="Open it in a new tab.")
@click.option("--wait-for", type=TEXT, metavar="TEXT", help="Wait for this text on the page.")
@session_options
def open_command(
    options: SessionOptions, url: str | None, url_option: str | None, new_tab: bool, wait_for: str | None
) -> None:
    """Open URL and keep the session for the following commands, until 'close'.

    With --json: tab, url, title, status, waited_for, cost.
    """
    from bridge.page.navigation.url import checked_url
    from bridge.surfaces.cli.runner import checked_address
    from bridge.surfaces.daemon.session_files import is_kept

    if (url is None) == (url_option is None):
        raise UsageError("open requires one URL.", hint="Such as: webview-bridge open https://example.com/")
    wanted = url or url_option or ""
    # An open session applies its own options; otherwise the address is checked before anything is started.
    address = checked_url(wanted) if is_kept(options.session_name) else checked_address(wanted, options)
    params = {"url": address, "new_tab": new_tab, "wait_for": wait_for}
    _print_location("open", options, run_command("open", options, "open", params, starts=True))


@click.command()
@session_options
def back(options: SessionOptions) -> None:
    """Go one step back in the tab's history.

    With --json: url, title, status, waited_for, cost.
    """
    _print_location("back", options, run_command("back", options, "back", {}))


@click.command()
@session_options
def forward(options: SessionOptions) -> None:
    """Go one step forward in the tab's history.

    With --json: url, title, status, waited_for, cost.
    """
    _print_location("forward", options, run_command("forward", options, "forward", {}))


@click.command("reload")
@session_options
def reload_command(options: SessionOptions) -> None:
    """Reload the page.

    With --json: url, title, status, waited_for, cost.
    """
    _print_location("reload", options, run_command("reload", options, "reload", {}))


@click.command()
@click.option(
    "--all", "everything", is_flag=True, help="Include all text and structure, not only interactive elements."
)
@click.option("--controls", is_flag=True, help="Only interactive elements; similar ones share a line.")
@click.option(
    "--max-chars",
    type=WholeNumber(min=200),
    default=12_000,
    show_default=True,
    metavar="N",
    help="Maximum length of the text.",
)
@click.option("--scope", type=TEXT, metavar="CSS|REF", help="Only the subtree of the first match.")
@click.option("--more", type=TEXT, metavar="REF", help="Continue a truncated snapshot at more=REF.")
@click.option("--find", type=TEXT, metavar="TEXT", help="Only elements with this text, and what contains them.")
@click.option(
    "--html", type=TEXT, metavar="FILE|-", help="Take the snapshot of an HTML file or stdin, without a device."
)
@click.option("--out", type=FILE, metavar="FILE", help="Write the text to FILE.")
@page_options
def snapshot(
    options: SessionOptions,
    url: str | None,
    html: str | None,
    wait_for: str | None,
    everything: bool,
    controls: bool,
    max_chars: int,
    scope: str | None,
    more: str | None,
    find: str | None,
    out: Path | None,
) -> None:
    """Print the page as a short tree of roles and names with refs.

    With --json: text, refs, stats, url, title, more, cost.
    """
    check_writable(out)
    if html is not None and (url is not None or wait_for is not None):
        raise UsageError("--html cannot be combined with --url or --wait-for.")
    if everything and controls:
        raise UsageError("--all and --controls cannot be combined.")
    if html is not None:
        snapshot_of_file(
            options,
            html,
            everything=everything,
            controls=controls,
            max_chars=max_chars,
            scope=scope,
            more=more,
            find=find,
            out=out,
        )
        return
    params = {
        "interactive_only": not everything,
        "controls_only": controls,
        "max_chars": max_chars,
        "scope": scope,
        "more": more,
        "find": find,
    }
    result = run_command("snapshot", options, "snapshot", params, url=url, wait_for=wait_for)
    text = str(result.json["text"])
    if out is not None:
        write_file(out, f"{text}\n")
    print_result("snapshot", options, result, f"saved {out}" if out else text, {"file": str(out)} if out else {})


@click.command()
@click.argument("ref")
@click.argument("kind", metavar="KIND", type=click.Choice(["text", "html", "value", "attrs", "computed_styles", "box"]))
@click.option(
    "--limit",
    type=WholeNumber(min=1),
    default=2_000,
    show_default=True,
    metavar="N",
    help="Maximum number of characters.",
)
@page_options
def get(options: SessionOptions, ref: str, kind: str, limit: int, url: str | None, wait_for: str | None) -> None:
    """Print one property of the element REF: text, HTML, value, attributes, computed styles or box.

    With --json: ref, kind, value, truncated, cost.
    """
    params = {"ref": checked_ref(ref), "kind": kind, "limit": limit}
    result = run_command("get", options, "query", params, url=url, wait_for=wait_for, needs_refs=True)
    value = result.json["value"]
    print_result("get", options, result, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), {})


@click.command()
@click.option("--text", type=TEXT, metavar="TEXT", help="Until the page shows this text.")
@click.option("--selector", type=TEXT, metavar="CSS", help="Until a visible element matches this selector.")
@click.option("--role", type=TEXT, metavar="ROLE", help="Until an element has this ARIA role.")
@click.option("--name", metavar="NAME", help="With --role: and this accessible name.")
@click.option("--address", type=TEXT, metavar="GLOB", help="Until the tab's URL matches this pattern.")
@click.option("--gone", type=TEXT, metavar="CSS", help="Until no visible element matches this selector.")
@session_options
def wait(options: SessionOptions, address: str | None, **given: str | None) -> None:
    """Wait for a condition on the page.

    With --json: awaited, waited_ms, cost.
    """
    condition = {key: value for key, value in {**given, "url": address}.items() if value is not None}
    if options.timeout_s is not None:
        condition["timeout_s"] = options.timeout_s  # type: ignore[assignment]
    # The wait has the deadline, because its error reports what it last saw.
    result = run_command("wait", replace(options, timeout_s=None), "wait", condition)
    print_result("wait", options, result, f"{result.json['awaited']} after {result.json['waited_ms']:.0f} ms", {})


def _print_location(command: str, options: SessionOptions, result: CommandResult) -> None:
    from bridge.snapshot.escape import plain

    found = result.json
    status = f"{found['status']} " if found.get("status") is not None else ""
    print_result(command, options, result, one_line(f"{status}{found['url']} {plain(found['title'])}"), {})
    if not options.as_json and (found.get("status") or 0) >= 400:
        note(f"{found['url']} returned HTTP status {found['status']}")


COMMANDS = (open_command, snapshot, get, wait, back, forward, reload_command)

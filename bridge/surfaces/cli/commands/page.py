"""Commands on a page: where it is, what is on it, what it looks like."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.commands.actions import checked_ref, on_a_page
from bridge.surfaces.cli.commands.reading import snapshot_of_file
from bridge.surfaces.cli.dispatch import perform, print_answer
from bridge.surfaces.cli.options import FILE, WORDS, SessionOptions, WholeNumber, session_options
from bridge.surfaces.cli.output import check_writable, note, one_line, write_file

if TYPE_CHECKING:
    from bridge.surfaces.session_command import CommandResult


@click.command("open")
@click.argument("url", required=False)
@click.option("--url", "url_option", metavar="URL", help="The same, as an option.")
@click.option("--new-tab", is_flag=True, help="In a tab of its own.")
@click.option("--wait-for", type=WORDS, metavar="TEXT", help="Go on when this text is on the page.")
@session_options
def open_command(
    options: SessionOptions, url: str | None, url_option: str | None, new_tab: bool, wait_for: str | None
) -> None:
    """Open URL, and keep the session for the commands that follow until 'close'.

    With --json: tab, url, title, status, waited_for, cost.
    """
    from bridge.page.navigation.url import checked_url
    from bridge.surfaces.cli.runner import checked_address
    from bridge.surfaces.daemon.session_files import is_kept

    if (url is None) == (url_option is None):
        raise UsageError("open takes one URL.", hint="Such as: webview-bridge open https://example.com/")
    wanted = url or url_option or ""
    # An open session judges by what it was opened with; without one, nothing is started for an address it would refuse.
    address = checked_url(wanted) if is_kept(options.session_name) else checked_address(wanted, options)
    params = {"url": address, "new_tab": new_tab, "wait_for": wait_for}
    _print_location("open", options, perform("open", options, "open", params, starts=True))


@click.command()
@session_options
def back(options: SessionOptions) -> None:
    """Go one step back in the tab's history.

    With --json: url, title, status, waited_for, cost.
    """
    _print_location("back", options, perform("back", options, "back", {}))


@click.command()
@session_options
def forward(options: SessionOptions) -> None:
    """Go one step forward in the tab's history.

    With --json: url, title, status, waited_for, cost.
    """
    _print_location("forward", options, perform("forward", options, "forward", {}))


@click.command("reload")
@session_options
def reload_command(options: SessionOptions) -> None:
    """Load the page again.

    With --json: url, title, status, waited_for, cost.
    """
    _print_location("reload", options, perform("reload", options, "reload", {}))


@click.command()
@click.option("--all", "everything", is_flag=True, help="Texts and structure too, not only what can be acted on.")
@click.option("--controls", is_flag=True, help="Only what can be acted on; alike ones share a line.")
@click.option(
    "--max-chars",
    type=WholeNumber(min=200),
    default=12_000,
    show_default=True,
    metavar="N",
    help="Bound of the text.",
)
@click.option("--scope", type=WORDS, metavar="CSS|REF", help="Only what is below the first element that this finds.")
@click.option("--more", type=WORDS, metavar="REF", help="What was cut there (more=e7).")
@click.option("--find", type=WORDS, metavar="TEXT", help="Only the lines with this text, and what they stand in.")
@click.option("--html", type=WORDS, metavar="FILE|-", help="Instead of a page: HTML text, without a device.")
@click.option("--out", type=FILE, metavar="FILE", help="Write the text there.")
@on_a_page
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
        raise UsageError("--html is a snapshot of a text; it goes with neither --url nor --wait-for.")
    if everything and controls:
        raise UsageError("--all and --controls exclude each other.")
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
    answer = perform("snapshot", options, "snapshot", params, url=url, wait_for=wait_for)
    text = str(answer.json["text"])
    if out is not None:
        write_file(out, f"{text}\n")
    print_answer("snapshot", options, answer, f"saved {out}" if out else text, {"file": str(out)} if out else {})


@click.command()
@click.argument("ref")
@click.argument("kind", metavar="KIND", type=click.Choice(["text", "html", "value", "attrs", "computed_styles", "box"]))
@click.option(
    "--limit", type=WholeNumber(min=1), default=2_000, show_default=True, metavar="N", help="Characters at most."
)
@on_a_page
def get(options: SessionOptions, ref: str, kind: str, limit: int, url: str | None, wait_for: str | None) -> None:
    """Print one thing about the element of REF: its text, HTML, value, attributes, computed styles or box.

    With --json: ref, kind, value, truncated, cost.
    """
    params = {"ref": checked_ref(ref), "kind": kind, "limit": limit}
    answer = perform("get", options, "query", params, url=url, wait_for=wait_for, shows_refs=True)
    value = answer.json["value"]
    print_answer("get", options, answer, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), {})


@click.command()
@click.option("--text", type=WORDS, metavar="TEXT", help="Until this text is on the page.")
@click.option("--selector", type=WORDS, metavar="CSS", help="Until this selector finds something visible.")
@click.option("--role", type=WORDS, metavar="ROLE", help="Until something with this ARIA role is there.")
@click.option("--name", metavar="NAME", help="With --role: and with this accessible name.")
@click.option("--address", type=WORDS, metavar="GLOB", help="Until the tab's URL fits this pattern.")
@click.option("--gone", type=WORDS, metavar="CSS", help="Until this selector finds nothing visible any more.")
@session_options
def wait(options: SessionOptions, address: str | None, **given: str | None) -> None:
    """Wait until something is on the page, or gone from it.

    With --json: awaited, waited_ms, cost.
    """
    condition = {key: value for key, value in {**given, "url": address}.items() if value is not None}
    if options.timeout_s is not None:
        condition["timeout_s"] = options.timeout_s  # type: ignore[assignment]
    # The wait's own deadline says what it saw instead; the command's would only say that it is over.
    answer = perform("wait", replace(options, timeout_s=None), "wait", condition)
    print_answer("wait", options, answer, f"{answer.json['awaited']} after {answer.json['waited_ms']:.0f} ms", {})


def _print_location(command: str, options: SessionOptions, answer: CommandResult) -> None:
    from bridge.snapshot.escape import plain

    found = answer.json
    status = f"{found['status']} " if found.get("status") is not None else ""
    print_answer(command, options, answer, one_line(f"{status}{found['url']} {plain(found['title'])}"), {})
    if not options.as_json and (found.get("status") or 0) >= 400:
        note(f"{found['url']} answered with HTTP status {found['status']}")


COMMANDS = (open_command, snapshot, get, wait, back, forward, reload_command)

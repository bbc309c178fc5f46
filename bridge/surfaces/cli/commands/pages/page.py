"""Commands that navigate, take snapshots, query and wait."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.dispatch import print_result, print_text, run_command
from bridge.surfaces.cli.options import (
    REF,
    TEXT,
    SessionOptions,
    WholeNumber,
    locator_options,
    out_option,
    page_options,
    session_options,
    taken_locator,
)
from bridge.surfaces.cli.output import check_writable, note, one_line

if TYPE_CHECKING:
    from bridge.surfaces.session_command import CommandResult


_PAGE_KINDS = ("title", "url", "text", "html")
_ELEMENT_KINDS = ("text", "html", "value", "attributes", "styles", "box")


@click.command("open")
@click.argument("url", required=False)
@click.option("--url", "url_option", metavar="URL", help="URL, as an option.")
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


def _move(name: str, help_text: str) -> click.Command:
    @session_options
    def command(options: SessionOptions) -> None:
        _print_location(name, options, run_command(name, options, name, {}))

    return click.command(name, help=f"{help_text}\n\nWith --json: url, title, status, waited_for, cost.")(command)


@click.command()
@click.option(
    "--all", "everything", is_flag=True, help="Include all structure and attributes, not only what has a name."
)
@click.option("-i", "--interactive", is_flag=True, help="Controls, and the headings and landmarks around them.")
@click.option("--controls", is_flag=True, help="Only controls; similar ones share a line.")
@click.option("--aria-hidden", is_flag=True, help="Include what aria-hidden hides, marked [aria-hidden].")
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
    "--click-handlers", is_flag=True, help="Also elements that only a script makes clickable; asks the engine for them."
)
@click.option(
    "--html", type=TEXT, metavar="FILE|-", help="Take the snapshot of an HTML file or stdin, without a device."
)
@out_option
@page_options
def snapshot(
    options: SessionOptions,
    url: str | None,
    html: str | None,
    wait_for: str | None,
    everything: bool,
    interactive: bool,
    controls: bool,
    click_handlers: bool,
    out: Path | None,
    **wanted: Any,
) -> None:
    """Print the page as a short tree of roles and names with refs.

    With --json: text, refs, stats, url, title, more, cost.
    """
    check_writable(out)
    if html is not None and (url is not None or wait_for is not None):
        raise UsageError("--html cannot be combined with --url or --wait-for.")
    if everything + controls + interactive > 1:
        raise UsageError("--all, --interactive and --controls cannot be combined.")
    if html is not None and click_handlers:
        raise UsageError("--click-handlers cannot be combined with --html: a file has no handlers.")
    if html is not None:
        from bridge.surfaces.cli.commands.offline.fetch import snapshot_of_file

        snapshot_of_file(
            options, html, everything=everything, interactive=interactive, controls=controls, out=out, **wanted
        )
        return
    params = {
        "interactive_only": not everything,
        "controls_only": controls,
        "text": not interactive,
        "click_handlers": click_handlers,
        **wanted,
    }
    result = run_command("snapshot", options, "snapshot", params, url=url, wait_for=wait_for)
    print_text("snapshot", options, result, str(result.json["text"]), out)


@click.command()
@click.argument("words", nargs=-1, metavar="KIND [REF]")
@click.option(
    "--limit",
    type=WholeNumber(min=0),
    default=2_000,
    show_default=True,
    metavar="N",
    help="Maximum number of characters; 0 for no limit.",
)
@locator_options
@page_options
def get(
    options: SessionOptions, words: tuple[str, ...], limit: int, url: str | None, wait_for: str | None, **given: Any
) -> None:
    """Print one property: title, url, text or html of the page; text, html, value, attributes, styles or box of REF.

    With --json: ref, kind, value, truncated, cost.
    """
    locator = taken_locator(given)
    kinds = [word for word in words if word in {*_PAGE_KINDS, *_ELEMENT_KINDS}]
    refs = [REF.convert(word, None, click.get_current_context()) for word in words if word not in kinds]
    if len(kinds) != 1 or len(refs) + bool(locator) > 1:
        kind = ", ".join(dict.fromkeys((*_PAGE_KINDS, *_ELEMENT_KINDS)))
        raise click.UsageError(f"get takes one of {kind}, and at most one element", click.get_current_context())
    has_element = bool(refs or locator)
    if kinds[0] not in (_ELEMENT_KINDS if has_element else _PAGE_KINDS):
        which = "an element" if has_element else "a page; name an element by its ref or a locator"
        raise click.UsageError(f"{kinds[0]} is not a property of {which}", click.get_current_context())
    params = {"kind": kinds[0], "ref": refs[0] if refs else None, "locator": locator, "limit": limit}
    result = run_command("get", options, "get", params, url=url, wait_for=wait_for, needs_refs=bool(refs))
    value = result.json["value"]
    print_result("get", options, result, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), {})


@click.command(name="eval")
@click.argument("expression")
@click.option("--arg", metavar="JSON", help="The argument of the function.")
@click.option("--isolated", is_flag=True, help="Run beside the page's own scripts, which see nothing of it.")
@page_options
def evaluate(
    options: SessionOptions, expression: str, arg: str | None, isolated: bool, url: str | None, wait_for: str | None
) -> None:
    """Run your own JavaScript in the page: an expression, or a function, and print its value.

    Promises are awaited. Text is printed as it is, anything else as JSON.

    With --json: value.
    """
    try:
        given = None if arg is None else json.loads(arg)
    except ValueError as error:
        raise click.BadParameter(f"not valid JSON: {error}", param_hint="--arg") from error
    params = {"expression": expression, "arg": given, "isolated": isolated}
    result = run_command("eval", options, "eval", params, url=url, wait_for=wait_for)
    value = result.json["value"]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    print_result("eval", options, result, text, {})


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


COMMANDS = (
    open_command,
    snapshot,
    get,
    evaluate,
    wait,
    _move("back", "Go one step back in the tab's history."),
    _move("forward", "Go one step forward in the tab's history."),
    _move("reload", "Reload the page."),
)

"""Commands for kept sessions: tabs, live view, end, and their processes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.dispatch import print_result, run_command
from bridge.surfaces.cli.groups import Commands
from bridge.surfaces.cli.options import CommonOptions, SessionOptions, common_options, session_options
from bridge.surfaces.cli.output import note, one_line, print_json
from bridge.surfaces.cli.tables import print_table

if TYPE_CHECKING:
    from bridge.surfaces.session_command import CommandResult


@click.command()
@session_options
def tabs(options: SessionOptions) -> None:
    """List the open tabs.

    With --json: serial, tabs: [{tab, current, url, title}].
    """
    _print_tabs("tabs", options, run_command("tabs", options, "tabs", {}))


@click.command()
@click.argument("name", metavar="TAB")
@session_options
def tab(options: SessionOptions, name: str) -> None:
    """Make TAB (t2) the current tab.

    With --json: serial, tabs.
    """
    _print_tabs("tab", options, run_command("tab", options, "tab", {"tab": name}))


@click.command("close-tab")
@click.argument("name", metavar="TAB", required=False)
@session_options
def close_tab(options: SessionOptions, name: str | None) -> None:
    """Close TAB, or the current tab.

    With --json: closed, tabs.
    """
    result = run_command("close-tab", options, "close_tab", {"tab": name})
    print_result("close-tab", options, result, f"closed {result.json['closed']}", {})


@click.command()
@session_options
def view(options: SessionOptions) -> None:
    """Show the tab live in a browser, so that a person can take over and hand back.

    Without a kept session it shows the current tab of a running MCP server. The address is printed on stderr and works
    once, in one browser. While a person has taken over, other commands on the tab wait.

    With --json: tab, handed_back, url.
    """
    from bridge.surfaces.daemon.session_files import recorded

    open_now = {record.name: record.kind for record in recorded()}
    servers = [name for name, kind in open_now.items() if kind == "mcp"]
    if options.session_name not in open_now and options.session_name == "default" and len(servers) == 1:
        options = replace(options, session_name=servers[0])
    result = run_command("view", options, "view", {})
    tab, times = result.json["tab"], result.json["handed_back"]
    often = {0: f"{tab} was not taken over", 1: f"{tab} was handed back"}
    print_result("view", options, result, often.get(times, f"{tab} was handed back {times} times"), {})


@click.command()
@session_options
def close(options: SessionOptions) -> None:
    """End the kept session with all its tabs.

    With --json: closed (its name, or null if it was not open).
    """
    _end("close", options, [options.session_name])


@click.group(cls=Commands)
def daemon() -> None:
    """The processes that keep sessions between commands."""


@daemon.command()
@common_options
def status(options: CommonOptions) -> None:
    """List the kept sessions.

    With --json: sessions: [{session, pid, version, age_s}].
    """
    import time

    from bridge.surfaces.daemon.session_files import recorded

    rows: list[dict[str, object]] = [
        {"session": r.name, "pid": r.pid, "version": r.version, "age_s": round(time.time() - r.started_s)}
        for r in recorded()
    ]
    if options.as_json:
        print_json("daemon status", {"sessions": rows})
        return
    print_table(rows)
    if not rows:
        note("no session is open")


@daemon.command()
@click.argument("names", metavar="[SESSION]...", nargs=-1)
@common_options
def stop(options: CommonOptions, names: tuple[str, ...]) -> None:
    """End these sessions, or all kept sessions.

    With --json: stopped: [session].
    """
    from bridge.surfaces.daemon.session_files import recorded

    _end("daemon stop", options, list(names) or [record.name for record in recorded() if record.kind == "session"])


def _print_tabs(command: str, options: SessionOptions, result: CommandResult) -> None:
    from bridge.snapshot.escape import plain

    if options.as_json:
        print_json(command, result.json)
        return
    print_table([{**row, "title": plain(row["title"])} for row in result.json["tabs"]])


def _end(command: str, options: CommonOptions, names: list[str]) -> None:
    from bridge.surfaces.daemon.client import END_S, end
    from bridge.surfaces.daemon.session_files import recorded

    if servers := {record.name for record in recorded() if record.kind == "mcp"} & set(names):
        raise UsageError(f"{min(servers)} is a running MCP server; it ends with its client.")
    ended = [name for name in names if end(name, timeout_s=options.timeout_s or END_S)]
    if options.as_json:
        print_json(command, {"closed": ended[0] if ended else None} if command == "close" else {"stopped": ended})
        return
    for name in ended:
        click.echo(one_line(f"closed {name}"))
    if not ended:
        note("no session was open")


COMMANDS = (tabs, tab, close_tab, view, close, daemon)

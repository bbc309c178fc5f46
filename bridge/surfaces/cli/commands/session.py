"""Commands on the session that `open` keeps: its tabs, its end, and the processes behind such sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bridge.surfaces.cli.dispatch import perform, print_answer
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
    _print_tabs("tabs", options, perform("tabs", options, "tabs", {}))


@click.command()
@click.argument("name", metavar="TAB")
@session_options
def tab(options: SessionOptions, name: str) -> None:
    """Make TAB (t2) the current one.

    With --json: serial, tabs.
    """
    _print_tabs("tab", options, perform("tab", options, "tab", {"tab": name}))


@click.command("close-tab")
@click.argument("name", metavar="TAB", required=False)
@session_options
def close_tab(options: SessionOptions, name: str | None) -> None:
    """Close TAB, or the current one.

    With --json: closed, tabs.
    """
    answer = perform("close-tab", options, "close_tab", {"tab": name})
    print_answer("close-tab", options, answer, f"closed {answer.json['closed']}", {})


@click.command()
@session_options
def view(options: SessionOptions) -> None:
    """Show the tab live in a browser, for a person to take over and hand back.

    The address is printed on stderr and works for one browser, once. While a person has taken over, other commands on
    the tab wait. With --json: tab, handed_back, url.
    """
    answer = perform("view", options, "view", {})
    tab, times = answer.json["tab"], answer.json["handed_back"]
    often = {0: f"nobody took {tab} over", 1: f"{tab} was handed back"}
    print_answer("view", options, answer, often.get(times, f"{tab} was handed back {times} times"), {})


@click.command()
@session_options
def close(options: SessionOptions) -> None:
    """End the session that 'open' keeps, and everything in it.

    With --json: closed (its name, or null when none was open).
    """
    _end("close", options, [options.session_name])


@click.group(cls=Commands)
def daemon() -> None:
    """The processes that keep sessions between commands."""


@daemon.command()
@common_options
def status(options: CommonOptions) -> None:
    """List the sessions that are kept.

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
    """End these sessions, or all.

    With --json: stopped: [session].
    """
    from bridge.surfaces.daemon.session_files import recorded

    _end("daemon stop", options, list(names) or [record.name for record in recorded()])


def _print_tabs(command: str, options: SessionOptions, answer: CommandResult) -> None:
    from bridge.snapshot.escape import plain

    if options.as_json:
        print_json(command, answer.json)
        return
    print_table([{**row, "title": plain(row["title"])} for row in answer.json["tabs"]])


def _end(command: str, options: CommonOptions, names: list[str]) -> None:
    from bridge.surfaces.daemon.client import END_S, end

    ended = [name for name in names if end(name, timeout_s=options.timeout_s or END_S)]
    if options.as_json:
        print_json(command, {"closed": ended[0] if ended else None} if command == "close" else {"stopped": ended})
        return
    for name in ended:
        click.echo(one_line(f"closed {name}"))
    if not ended:
        note("no session was open")


COMMANDS = (tabs, tab, close_tab, view, close, daemon)

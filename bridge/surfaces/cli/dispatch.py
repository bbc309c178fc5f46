"""Runs a command in the session that `open` keeps, or with `--url` in a session of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.cost import Cost
from bridge.errors import UsageError
from bridge.surfaces.cli.options import SessionOptions, start_options
from bridge.surfaces.cli.output import note, one_line, print_json, printable, write_file

if TYPE_CHECKING:
    from bridge.surfaces.session_command import CommandResult


def run_command(
    command: str,
    options: SessionOptions,
    task: str,
    params: Mapping[str, Any],
    *,
    url: str | None = None,
    wait_for: str | None = None,
    needs_refs: bool = False,
    starts: bool = False,
) -> CommandResult:
    """Run `task` of a kept session and return its result.

    Args:
        url: Open this first, in a session that ends with the command.
        needs_refs: With `url`, take a snapshot first; it numbers the refs the same way each time.
        starts: Open the kept session if it is not open.

    Raises:
        UsageError: The session is not open, and the command may not open it.
        BridgeError: Whatever the task raises.
    """
    if url is None:
        if wait_for is not None:
            raise UsageError("--wait-for requires --url.", hint="For the open page use: wait --text TEXT.")
        return _in_kept_session(options, task, params, starts=starts)
    return _in_own_session(command, options, task, params, url=url, wait_for=wait_for, needs_refs=needs_refs)


def _in_kept_session(options: SessionOptions, task: str, params: Mapping[str, Any], *, starts: bool) -> CommandResult:
    from bridge.surfaces.daemon.client import send_command

    return send_command(
        options.session_name,
        task,
        params,
        timeout_s=options.timeout_s,
        start=start_options(options).to_json(),
        may_start=starts,
        on_notice=note,
    )


def _in_own_session(
    command: str,
    options: SessionOptions,
    task: str,
    params: Mapping[str, Any],
    *,
    url: str,
    wait_for: str | None,
    needs_refs: bool,
) -> CommandResult:
    from bridge.surfaces.cli.runner import CommandProgress, checked_address, opened_page, run_async
    from bridge.surfaces.kept_session import KeptSession

    address = checked_address(url, options)
    progress = CommandProgress(options.timeout_s)

    async def work() -> CommandResult:
        async with opened_page(options, progress, address, wait_for) as (session, page):
            kept = KeptSession(session)
            if needs_refs:
                progress.current = "taking a snapshot"
                await page.snapshot()
            progress.current = command
            return await kept.run(task, params)

    return run_async(command, options, progress, work())


def print_text(command: str, options: SessionOptions, result: CommandResult, text: str, out: Path | None) -> None:
    """Print the result, or write its text to a file."""
    if out is None:
        print_result(command, options, result, text, {})
        return
    write_file(out, f"{text}\n")
    print_result(command, options, result, f"saved {out}", {"file": str(out)})


def print_result(
    command: str, options: SessionOptions, result: CommandResult, text: str, extra: Mapping[str, Any]
) -> None:
    """Print the result as JSON, or `text` with notices and cost on stderr."""
    if options.as_json:
        print_json(command, {**result.json, **extra})
        return
    if text:
        click.echo(printable(text))
    for notice in result.json.get("notices", ()):
        note(one_line(str(notice)))
    cost = result.json.get("cost")
    if isinstance(cost, Mapping):
        note(str(Cost(**cost)))

"""Where a command runs: in the session that `open` keeps, or with `--url` in one of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from bridge.cost import Cost
from bridge.errors import UsageError
from bridge.surfaces.cli.options import SessionOptions, start_options
from bridge.surfaces.cli.output import note, one_line, print_json, printable

if TYPE_CHECKING:
    from bridge.surfaces.session_command import CommandResult


def perform(
    command: str,
    options: SessionOptions,
    task: str,
    params: Mapping[str, Any],
    *,
    url: str | None = None,
    wait_for: str | None = None,
    shows_refs: bool = False,
    starts: bool = False,
) -> CommandResult:
    """Carry out `task` of a workspace and give its answer.

    Args:
        url: Open this first, in a session that ends with the command.
        shows_refs: A session of its own takes a snapshot first, which numbers the refs the same way every time.
        starts: Open the kept session when there is none.

    Raises:
        UsageError: No session is kept, and the command may not start one.
        BridgeError: Whatever the task raises.
    """
    if url is None:
        if wait_for is not None:
            raise UsageError("--wait-for goes with a URL to open.", hint="On the open page it is: wait --text TEXT.")
        return _in_kept_session(options, task, params, starts=starts)
    return _in_own_session(command, options, task, params, url=url, wait_for=wait_for, shows_refs=shows_refs)


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
    shows_refs: bool,
) -> CommandResult:
    from bridge.surfaces.cli.runner import CommandProgress, checked_address, opened_page, run_async
    from bridge.surfaces.kept_session import KeptSession

    address = checked_address(url, options)
    steps = CommandProgress(options.timeout_s)

    async def work() -> CommandResult:
        async with opened_page(options, steps, address, wait_for) as (session, page):
            workspace = KeptSession(session)
            if shows_refs:
                steps.current = "taking a snapshot"
                await page.snapshot()
            steps.current = command
            return await workspace.run(task, params)

    return run_async(command, options, steps, work())


def print_answer(
    command: str, options: SessionOptions, answer: CommandResult, text: str, extra: Mapping[str, Any]
) -> None:
    """The answer as JSON, or `text` with its cost and notices on stderr."""
    if options.as_json:
        print_json(command, {**answer.json, **extra})
        return
    if text:
        click.echo(printable(text))
    for notice in answer.json.get("notices", ()):
        note(one_line(str(notice)))
    cost = answer.json.get("cost")
    if isinstance(cost, Mapping):
        note(str(Cost(**cost)))

"""`ops`: runs operations given as lines of JSON in one session."""

from __future__ import annotations

import base64
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from bridge.errors import PolicyRefused, UsageError
from bridge.surfaces.cli.options import (
    FILE,
    FOLDER,
    OwnSessionOptions,
    folder_options,
    origin_flags,
    own_session_options,
)
from bridge.surfaces.cli.output import json_line, note, write_file

if TYPE_CHECKING:
    from bridge.ops import Event, InvalidOperation, OperationResult, Secrets

# The longest operation fills in 100,000 characters, each of which JSON may write as two \uXXXX escapes.
LONGEST_LINE_BYTES = 2 * 1024 * 1024


@click.command("ops")
@click.option("--bail", is_flag=True, help="Stop after the first failure.")
@click.option("--events", type=FILE, metavar="FILE", help="Append events to FILE as lines of JSON.")
@click.option("--trace", type=FILE, metavar="FILE", help="When the session ends, write a trace of it there, as HTML.")
@folder_options
@click.option(
    "--screenshots",
    type=FOLDER,
    metavar="FOLDER",
    help="Save screenshots there instead of printing them as Base64.",
)
@click.option(
    "--secret",
    "secret_variables",
    multiple=True,
    metavar="NAME=VARIABLE[@ORIGIN]",
    help="Let fill use secret:NAME, the value of that environment variable; @https://shop.example binds it to that "
    "origin. Repeatable.",
)
@origin_flags
@own_session_options
def ops(
    options: OwnSessionOptions,
    bail: bool,
    events: Path | None,
    trace: Path | None,
    uploads_root: str | None,
    downloads_root: str | None,
    screenshots: Path | None,
    secret_variables: tuple[str, ...],
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    default_action: str | None,
) -> None:
    """Run operations, one JSON object per line of stdin, and print one JSON object per result.

    Meant for requests of a model: without a policy no address may be opened. Exit codes: 0 if all succeeded, 4 if only
    the policy refused some, else 1.

    Content of pages and servers stands between <page-content NONCE origin=…> and </page-content NONCE>, in each field.

    With --json an error before the first line is one JSON object too.
    """
    from bridge.ops.effects import configured_actions
    from bridge.surfaces.cli.runner import CommandProgress, flagged_policy, run_async

    policy = flagged_policy("model", allow, deny, default_action)
    actions, secrets = configured_actions(os.environ), _secrets(secret_variables)
    if screenshots is not None and not screenshots.is_dir():
        raise UsageError(f"the folder {screenshots} does not exist.")
    progress = CommandProgress(options.timeout_s)

    async def work() -> set[str]:
        from bridge import Session
        from bridge.ops import Executor
        from bridge.surfaces.cli.runner import START_TIMEOUT_S, ask_on_terminal, confirm_on_terminal, grants_of

        failures: set[str] = set()
        async with AsyncExitStack() as stack:
            events_file = stack.enter_context(_opened(events)) if events is not None else None
            session = await stack.enter_async_context(
                Session.open(
                    options.device,
                    adb_server=options.adb_server,
                    policy=policy,
                    grants=grants_of(options),
                    ask=ask_on_terminal,
                    reconnect=True,
                    uploads_root=uploads_root,
                    downloads_root=downloads_root,
                    on_notice=note,
                    trace=trace,
                    timeout_s=progress.begin("starting the device and the host app", START_TIMEOUT_S),
                )
            )
            executor = Executor(
                session,
                action_policy=actions,
                secrets=secrets,
                on_event=_event_writer(events_file) if events_file else None,
            )
            executor.confirm = lambda operation: confirm_on_terminal(f"{executor.question(operation)}?")
            numbers: deque[int] = deque()
            progress.current = "waiting for the first operation"
            async for result in executor.run_batch(_operations(numbers), bail=bail):
                number = numbers.popleft()
                progress.current = f"after line {number}"
                if result.error is not None:
                    failures.add(result.error.code)
                click.echo(json_line(_shown(result, number, screenshots)))
        return failures

    failures = run_async("ops", options, progress, work())
    if failures:
        raise click.exceptions.Exit(PolicyRefused.exit_code if failures == {PolicyRefused.code} else 1)


async def _operations(numbers: deque[int]) -> AsyncIterator[bytes | InvalidOperation]:
    """The operations on stdin; blank lines are skipped. Appends each one's line number to `numbers`."""
    from bridge.ops import InvalidOperation
    from bridge.surfaces.cli.lines import TooLong, lines_of

    number = 0
    async for line in lines_of(sys.stdin.fileno(), limit_bytes=LONGEST_LINE_BYTES):
        number += 1
        if line == b"":
            continue
        numbers.append(number)
        if isinstance(line, TooLong):
            yield InvalidOperation(f"not an operation: the line has more than {line.limit_bytes} bytes")
        else:
            yield line


def _shown(result: OperationResult, number: int, screenshots: Path | None) -> dict[str, Any]:
    shown = {"line": number, **result.to_json()}
    if result.image_bytes is None:
        return shown
    if screenshots is None:
        return {**shown, "image_base64": base64.b64encode(result.image_bytes).decode()}
    file = screenshots / f"screenshot-{number}.png"
    write_file(file, result.image_bytes)
    return {**shown, "file": str(file)}


def _opened(path: Path) -> IO[str]:
    try:
        return path.open("a", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}.") from error


def _event_writer(file: IO[str]) -> Callable[[Event], None]:
    from bridge.ops import json_line as event_line

    def write(event: Event) -> None:
        file.write(event_line(event))
        file.flush()

    return write


def _secrets(pairs: Iterable[str]) -> Secrets:
    """Secrets come from environment variables: every user of the machine can see a command line."""
    from bridge.ops import Secret, Secrets

    named, notes = {}, []
    for pair in pairs:
        name, separator, rest = pair.partition("=")
        if not separator:
            raise UsageError(f"--secret {pair[:80]!r} does not name a variable", hint="Write it as NAME=VARIABLE.")
        variable, _, origin = rest.partition("@")
        named[name] = Secret.read(os.environ, variable, origin=origin)
        if not origin:
            notes.append(
                f"secret:{name} may be filled in on any page; {name}={variable}@https://… binds it to one origin"
            )
    secrets = Secrets(named)
    for text in (*notes, *secrets.warnings):
        note(text)
    return secrets


COMMANDS = (ops,)

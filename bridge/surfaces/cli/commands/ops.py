"""`ops`: operations as lines of JSON, answered line by line over one session."""

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

# The longest operation is a fill of 100,000 characters, each of which JSON may write as \uXXXX twice.
LONGEST_LINE_BYTES = 2 * 1024 * 1024


@click.command("ops")
@click.option("--bail", is_flag=True, help="End with the first operation that fails.")
@click.option("--events", type=FILE, metavar="FILE", help="Append events as lines of JSON.")
@click.option(
    "--trace", type=FILE, metavar="FILE", help="When the session ends, write what was done in it there, as HTML."
)
@folder_options
@click.option(
    "--pictures",
    type=FOLDER,
    metavar="FOLDER",
    help="Save screenshots there instead of printing them in Base64.",
)
@click.option(
    "--secret",
    "secret_variables",
    multiple=True,
    metavar="NAME=VARIABLE[@ORIGIN]",
    help="Let fill use secret:NAME, the value of that environment variable; with @https://shop.example only there. "
    "May be repeated.",
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
    pictures: Path | None,
    secret_variables: tuple[str, ...],
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    default_action: str | None,
) -> None:
    """Carry out operations, one JSON object per line of stdin, and print one JSON object per answer as it is done.

    Meant for a model's requests: unless a policy says otherwise, no address may be opened. Ends with 0 when all went
    well, 4 when nothing but the policy stood in the way, else 1.

    What pages and servers wrote stands between <page-content NONCE origin=…> and </page-content NONCE>, field by field.

    With --json, whatever ends it before the first line is one JSON object too.
    """
    from bridge.ops.effects import configured_actions
    from bridge.surfaces.cli.runner import CommandProgress, flagged_policy, run_async

    policy = flagged_policy("model", allow, deny, default_action)
    actions, secrets = configured_actions(os.environ), _secrets(secret_variables)
    if pictures is not None and not pictures.is_dir():
        raise UsageError(f"there is no folder {pictures}.")
    steps = CommandProgress(options.timeout_s)

    async def work() -> set[str]:
        from bridge import Session
        from bridge.ops import Executor
        from bridge.surfaces.cli.runner import START_TIMEOUT_S, agreed_on_terminal, asked_on_terminal, grants_of

        failures: set[str] = set()
        async with AsyncExitStack() as stack:
            told = stack.enter_context(_opened(events)) if events is not None else None
            session = await stack.enter_async_context(
                Session.open(
                    options.device,
                    adb_server=options.adb_server,
                    policy=policy,
                    grants=grants_of(options),
                    ask=asked_on_terminal,
                    reconnect=True,
                    uploads_root=uploads_root,
                    downloads_root=downloads_root,
                    on_notice=note,
                    trace=trace,
                    timeout_s=steps.begin("starting the device and the host app", START_TIMEOUT_S),
                )
            )
            executor = Executor(
                session, action_policy=actions, secrets=secrets, on_event=_teller(told) if told else None
            )
            executor.confirm = lambda operation: agreed_on_terminal(f"{executor.question(operation)}?")
            numbers: deque[int] = deque()
            steps.current = "waiting for the first operation"
            async for answer in executor.run_batch(_operations(numbers), bail=bail):
                number = numbers.popleft()
                steps.current = f"after line {number}"
                if answer.error is not None:
                    failures.add(answer.error.code)
                click.echo(json_line(_shown(answer, number, pictures)))
        return failures

    failures = run_async("ops", options, steps, work())
    if failures:
        raise click.exceptions.Exit(PolicyRefused.exit_code if failures == {PolicyRefused.code} else 1)


async def _operations(numbers: deque[int]) -> AsyncIterator[bytes | InvalidOperation]:
    """What the lines hold, blank ones left out; `numbers` gets the line that each stood on."""
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


def _shown(answer: OperationResult, number: int, pictures: Path | None) -> dict[str, Any]:
    shown = {"line": number, **answer.to_json()}
    if answer.image_bytes is None:
        return shown
    if pictures is None:
        return {**shown, "image_base64": base64.b64encode(answer.image_bytes).decode()}
    file = pictures / f"screenshot-{number}.png"
    write_file(file, answer.image_bytes)
    return {**shown, "file": str(file)}


def _opened(path: Path) -> IO[str]:
    try:
        return path.open("a", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error


def _teller(file: IO[str]) -> Callable[[Event], None]:
    from bridge.ops import json_line as event_line

    def tell(event: Event) -> None:
        file.write(event_line(event))
        file.flush()

    return tell


def _secrets(pairs: Iterable[str]) -> Secrets:
    """Values are named by the variables that hold them: a command line is seen by everybody on the machine."""
    from bridge.ops import Secret, Secrets

    named, notes = {}, []
    for pair in pairs:
        name, separator, rest = pair.partition("=")
        if not separator:
            raise UsageError(f"--secret {pair[:80]!r} names no variable", hint="Write it as NAME=VARIABLE.")
        variable, _, origin = rest.partition("@")
        named[name] = Secret.read(os.environ, variable, origin=origin)
        if not origin:
            notes.append(
                f"secret:{name} may be filled in on any page; {name}={variable}@https://… binds it to one origin"
            )
    secrets = Secrets(named)
    for words in notes:
        note(words)
    return secrets


COMMANDS = (ops,)

"""Runs a command's coroutine: one event loop, one deadline, one session."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bridge.deadline import Deadline
from bridge.errors import PolicyRefused
from bridge.policy import BrowserPolicy, Decision, TestServerGrant, decide
from bridge.surfaces.cli.lines import typed_line
from bridge.surfaces.cli.options import CommonOptions, OwnSessionOptions, SessionOptions, start_options
from bridge.surfaces.cli.output import note, one_line
from bridge.surfaces.session_command import StartOptions

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.policy.browser_policy import Asker
    from bridge.session import Session

T = TypeVar("T")

_ONE_QUESTION = asyncio.Lock()

START_TIMEOUT_S = 60.0
NAVIGATION_TIMEOUT_S = 30.0


class CommandProgress:
    """The deadline of a command and its current step, which a timeout error names."""

    def __init__(self, timeout_s: float | None) -> None:
        self.deadline = Deadline.after(math.inf if timeout_s is None else timeout_s)
        self.current = "starting"

    def begin(self, step: str, usual_s: float) -> float:
        """The timeout of this step: the usual one, limited by the time left."""
        self.current = step
        return min(usual_s, self.deadline.remaining_s)


def run_async(command: str, options: CommonOptions, progress: CommandProgress, work: Coroutine[Any, Any, T]) -> T:
    """Run `work` under the command's deadline. Ctrl-C and SIGTERM let it clean up first.

    Raises:
        DeadlineExceeded: The time of `--timeout` is over.
        KeyboardInterrupt: Ctrl-C.
        SystemExit: 143 after SIGTERM.
    """
    logging.basicConfig(
        level=logging.DEBUG if options.verbose else logging.ERROR,
        format="%(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    terminated = False

    async def bounded() -> T:
        task = asyncio.current_task()
        assert task is not None

        def terminate() -> None:
            nonlocal terminated
            terminated = True
            task.cancel()

        with contextlib.suppress(NotImplementedError):  # Windows has no such handler
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
        async with progress.deadline.bound(f"webview-bridge {command}", lambda: progress.current):
            return await work

    try:
        return asyncio.run(bounded())
    except asyncio.CancelledError:
        if terminated:
            sys.exit(143)
        raise


def grants_of(options: OwnSessionOptions) -> tuple[TestServerGrant, ...]:
    return StartOptions(local_ports=options.local_ports).grants()


def flagged_policy(
    asker: Asker, allow: Sequence[str], deny: Sequence[str], default_action: str | None
) -> BrowserPolicy:
    """The configured policy, with the flags of `origin_flags` over it.

    Raises:
        UsageError: The configuration or a flag is not valid.
    """
    import os

    from bridge.policy.configuration import load_policy

    flags = {"allowed_origins": allow or None, "denied_origins": deny or None, "default_action": default_action}
    return load_policy(asker, os.environ, flags)


def checked_address(url: str, options: SessionOptions) -> str:
    """The address to open, checked against the policy before anything is started.

    Raises:
        UsageError: Not a valid URL.
        PolicyRefused: A rule refuses it; the hint names an option that allows it, if there is one.
    """
    from bridge.page.navigation.url import checked_url

    address = checked_url(url)
    start = start_options(options)
    decision = decide(start.policy(), address, start.grants())
    if decision.action == "deny":
        raise PolicyRefused(f"{address[:200]} is refused: {decision.reason}.", hint=decision.hint, url=address[:2000])
    return address


async def ask_on_terminal(decision: Decision) -> bool | None:
    """Ask at the terminal; None, which allows nothing, without a terminal."""
    if not _has_terminal():
        return None
    return await confirm_on_terminal(f"open {decision.host}:{decision.port}? {decision.reason}")


async def confirm_on_terminal(question: str) -> bool:
    """True if the user confirms at the terminal; False without a terminal."""
    if not _has_terminal():
        return False
    async with _ONE_QUESTION:
        click.echo(f"{one_line(question, to=sys.stderr)} [y/N]: ", nl=False, err=True)
        return (await typed_line(sys.stdin.fileno())).lower() in ("y", "yes")


def _has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


@asynccontextmanager
async def opened_session(options: SessionOptions, progress: CommandProgress) -> AsyncIterator[Session]:
    from bridge import Session

    timeout_s = progress.begin("starting the device and the host app", START_TIMEOUT_S)
    start = start_options(options)
    async with Session.open(
        start.device,
        adb_server=start.adb_server,
        policy=start.policy(),
        grants=start.grants(),
        ask=ask_on_terminal,
        uploads_root=start.uploads_root,
        downloads_root=start.downloads_root,
        trace=start.trace,
        on_notice=note,
        timeout_s=timeout_s,
    ) as session:
        progress.current = "opening a tab"
        yield session
        progress.current = "closing the session"


@asynccontextmanager
async def opened_page(
    options: SessionOptions, progress: CommandProgress, address: str, wait_for: str | None
) -> AsyncIterator[tuple[Session, Page]]:
    """A session with one tab at `address`; waits for the text `wait_for` if given."""
    async with opened_session(options, progress) as session:
        page = await session.new_page()
        found = await page.goto(address, timeout_s=progress.begin(f"opening {address}", NAVIGATION_TIMEOUT_S))
        if found.status is not None and found.status >= 400:
            note(f"{found.url} returned HTTP status {found.status}")
        if wait_for is not None:
            await page.wait_for(
                text=wait_for, timeout_s=progress.begin(f"waiting for {wait_for!r}", NAVIGATION_TIMEOUT_S)
            )
        yield session, page

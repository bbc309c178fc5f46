"""The question at a terminal, which is a pseudo-terminal here."""

from __future__ import annotations

import asyncio
import os
import pty
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bridge.policy import BrowserPolicy, decide
from bridge.surfaces.cli.runner import ask_on_terminal

DECISION = decide(BrowserPolicy(default_action="ask"), "https://example.com/", ())


@contextmanager
def terminal() -> Iterator[int]:
    """Stdin and stderr are one for the block; yields the descriptor on which its person types and reads."""
    ours, theirs = pty.openpty()
    before = sys.stdin, sys.stderr
    try:
        with os.fdopen(theirs, "w") as sys.stderr, open(theirs, closefd=False) as sys.stdin:
            yield ours
    finally:
        sys.stdin, sys.stderr = before
        os.close(ours)


@pytest.mark.parametrize(("typed", "allowed"), [(b"y\n", True), (b"Yes\n", True), (b"n\n", False), (b"\n", False)])
def test_only_yes_is_yes(typed: bytes, allowed: bool) -> None:
    with terminal() as person:
        os.write(person, typed)
        assert asyncio.run(ask_on_terminal(DECISION)) is allowed


def test_an_unanswered_question_times_out() -> None:
    async def asked() -> None:
        async with asyncio.timeout(0.2):
            await ask_on_terminal(DECISION)

    with terminal() as person:
        start = time.monotonic()
        with pytest.raises(TimeoutError):
            asyncio.run(asked())
        assert time.monotonic() - start < 20
        assert b"open example.com:443?" in os.read(person, 4096)
        os.write(person, b"\n")  # the thread that was left behind lets go of the terminal

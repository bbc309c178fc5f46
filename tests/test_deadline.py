"""One budget for an operation, and clean-up that neither a cancellation nor a hang prevents from ending."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time

import pytest

from bridge.deadline import Deadline, finish
from bridge.errors import DeadlineExceeded


async def test_waits_share_one_deadline() -> None:
    deadline = Deadline.after(1.5)
    async with deadline.bound("the first"):
        await asyncio.sleep(0.1)
    with pytest.raises(DeadlineExceeded, match=r"the second timed out after 1\.5 s; last seen: nothing yet"):
        async with deadline.bound("the second", lambda: "nothing yet"):
            await asyncio.Event().wait()
    assert deadline.passed


async def test_timeout_from_inside_the_block_passes_unchanged() -> None:
    with pytest.raises(TimeoutError, match="theirs"):
        async with Deadline.after(5).bound("ours"):
            raise TimeoutError("theirs")


async def test_cancellation_from_outside_stays_a_cancellation() -> None:
    async def wait() -> None:
        async with Deadline.after(5).bound("ours"):
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_infinite_deadline_never_ends() -> None:
    deadline = Deadline.after(math.inf)
    async with deadline.bound("for ever"):
        await asyncio.sleep(0)
    assert not deadline.passed


async def test_finish_completes_while_the_task_is_cancelled() -> None:
    started, go_on, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def clean_up() -> None:
        started.set()
        await go_on.wait()
        done.set()

    leaving = asyncio.create_task(finish(clean_up(), at_most_s=5, what="cleaning"))
    await started.wait()
    leaving.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert done.is_set()


async def test_finish_gives_up_a_hanging_clean_up(caplog: pytest.LogCaptureFixture) -> None:
    started = time.monotonic()
    await finish(asyncio.Event().wait(), at_most_s=0.1, what="cleaning")
    assert time.monotonic() - started < 20
    assert "cleaning did not finish within 0.1 s" in caplog.text


async def test_finish_logs_errors_of_the_clean_up(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise ZeroDivisionError("oops")

    await finish(fail(), at_most_s=1, what="cleaning")
    assert "cleaning failed: oops" in caplog.text


async def test_nested_finish_is_bounded_by_the_outer_one() -> None:
    async def outer() -> None:
        for _ in range(3):
            await finish(asyncio.Event().wait(), at_most_s=5, what="inner")

    began = time.monotonic()
    await finish(outer(), at_most_s=0.1, what="outer")
    assert time.monotonic() - began < 20
    began = time.monotonic()
    await finish(asyncio.Event().wait(), at_most_s=0.3, what="a later one")
    assert time.monotonic() - began >= 0.3


async def test_finish_leaves_a_clean_up_that_ignores_cancellation() -> None:
    over = asyncio.Event()

    async def stubborn() -> None:
        while not over.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await over.wait()

    began = time.monotonic()
    await finish(stubborn(), at_most_s=0.1, what="stubborn")
    assert time.monotonic() - began < 20
    over.set()


async def test_finish_starts_the_clean_up_even_without_time() -> None:
    begun: list[str] = []

    async def step(name: str) -> None:
        begun.append(name)
        await asyncio.Event().wait()

    async def outer() -> None:
        try:
            await step("waits")
        finally:
            await finish(step("lets go"), at_most_s=5, what="inner")

    await finish(outer(), at_most_s=0.1, what="outer")
    assert begun == ["waits", "lets go"]

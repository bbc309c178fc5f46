"""Operations on one page take turns, and their deadlines include the wait for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from bridge import Session
from bridge.errors import DeadlineExceeded
from bridge.page.locators.assertions import expect
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

OPERATIONS: dict[str, Callable[[Page], Awaitable[object]]] = {
    "snapshot": lambda page: page.snapshot(timeout_s=0.3),
    "click": lambda page: page.click("e1", timeout_s=0.3),
    "goto": lambda page: page.goto(page.url, timeout_s=0.3),
    "back": lambda page: page.go_back(timeout_s=0.3),
    "reload": lambda page: page.reload(timeout_s=0.3),
    "query": lambda page: page.query("e1", "text", timeout_s=0.3),
    "wait_for": lambda page: page.wait_for(text="x", timeout_s=0.3),
    "screenshot": lambda page: page.screenshot(timeout_s=0.3),
    "get_state": lambda page: page.get_state(timeout_s=0.3),
    "set_offline": lambda page: page.set_offline(timeout_s=0.3),
    "unroute": lambda page: page.unroute(timeout_s=0.3),
    "locator": lambda page: page.get_by_role("button").click(timeout_s=0.3),
    "expect": lambda page: expect(page).to_have_title("x", timeout_s=0.3),
}


async def test_deadline_includes_the_wait_for_the_page(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    async with page.held("a person's hands are on it"):
        for name, operation in OPERATIONS.items():
            began = time.monotonic()
            with pytest.raises(DeadlineExceeded, match="in use by a person's hands") as caught:
                await operation(page)
            assert time.monotonic() - began < 20, name
            assert "recovery" not in caught.value.details
    assert (await page.snapshot()).url == page.url


async def test_operation_gets_the_time_left_after_waiting_for_the_page(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    began = time.monotonic()
    async with page.held("a person"):
        waiting = asyncio.create_task(page.wait_for(text="never there", timeout_s=5))
        await asyncio.sleep(4)
    with pytest.raises(DeadlineExceeded, match="timed out after 5 s"):
        await waiting
    assert time.monotonic() - began < 8.5  # it had one second left, and not five


async def test_isolated_waits_for_another_isolated_page_until_the_deadline(session: Session) -> None:
    async with session.isolated():
        began = time.monotonic()
        with pytest.raises(DeadlineExceeded, match="another one-shot page"):
            async with session.isolated(timeout_s=0.3):
                pass
        assert time.monotonic() - began < 20

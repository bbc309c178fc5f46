"""Waiting in several frames at once, of which any may go while it is asked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bridge.errors import DeadlineExceeded, ExpectationFailed
from bridge.page.locators.assertions import expect
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def test_wait_for_leaves_no_unretrieved_exception_when_frames_go(page: Page, local_server: LocalServer) -> None:
    """The module's own fixture fails on what asyncio says of failures that nobody asked for."""
    await page.goto(local_server.url("frames.html"))
    waiting = asyncio.ensure_future(page.wait_for(text="never to be read", timeout_s=1.5))
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": "setTimeout(()=>location.reload(),200)"}, timeout_s=20)
    with pytest.raises(DeadlineExceeded, match="never to be read"):
        await waiting


async def test_wait_for_includes_frames_that_appear_later(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    attachment = await page.attached()
    waiting = asyncio.ensure_future(page.wait_for(text="Inner text", timeout_s=20))
    later = """setTimeout(()=>{const it=document.body.appendChild(document.createElement('iframe'));
      it.srcdoc='<p>Inner text</p>'},300)"""
    await attachment.call("Runtime.evaluate", {"expression": later}, timeout_s=20)
    assert (await waiting).waited_ms >= 250


@pytest.mark.parametrize(
    "source",
    ["document.title // what it is called", "() => true // always", "/* first */ 1 // a number\n// and more"],
)
async def test_wait_for_function_may_end_with_a_comment(page: Page, local_server: LocalServer, source: str) -> None:
    await page.goto(local_server.url("second.html"))
    assert (await page.wait_for(function=source, timeout_s=20)).waited_ms < 5_000


async def test_wait_for_function_with_a_pending_promise_times_out(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    with pytest.raises(
        DeadlineExceeded, match=r"waiting for the function timed out after 0\.5 s; last seen: its promise"
    ):
        await page.wait_for(function="new Promise(() => {})", timeout_s=0.5)


async def test_timeout_on_a_hung_page_names_the_condition(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    (await page.attached()).connection.send("Runtime.evaluate", {"expression": "for(;;);"}).abandon()
    with pytest.raises(DeadlineExceeded) as caught:
        await page.wait_for(text="never", timeout_s=0.3)
    assert (caught.value.awaited, caught.value.last_seen) == ("waiting for text 'never'", "the page did not respond")


async def test_failed_expectation_on_a_hung_page_reports_what_was_last_seen(
    page: Page, local_server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await page.goto(local_server.url("second.html"))
    attachment, look, has_looked = await page.attached(), page.finder.find, asyncio.Event()

    async def noted(*looked: Any, **how: Any) -> Any:
        found = await look(*looked, **how)
        has_looked.set()
        return found

    monkeypatch.setattr(page.finder, "find", noted)
    expecting = asyncio.ensure_future(expect(page.get_by_role("heading")).to_have_text("Third page", timeout_s=2))
    await has_looked.wait()
    attachment.connection.send("Runtime.evaluate", {"expression": "for(;;);"}).abandon()
    with pytest.raises(ExpectationFailed, match="last seen after 2 s: Second page"):
        await expecting


async def test_function_is_waited_for_while_the_page_navigates_itself(page: Page, local_server: LocalServer) -> None:
    for delay_ms in range(0, 40, 4):
        await page.goto(local_server.url("second.html"))
        leave = f"setTimeout(() => location.href = 'controls.html?{delay_ms}', {delay_ms})"
        attachment = await page.attached()
        await attachment.call("Runtime.evaluate", {"expression": leave}, timeout_s=20)
        result = await page.wait_for(function=f"location.search == '?{delay_ms}'", timeout_s=20)
        assert result.waited_ms < 15_000

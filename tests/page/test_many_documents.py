"""What documents leave behind when they are left."""

from __future__ import annotations

import asyncio

import pytest

from bridge.errors import DeadlineExceeded
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def run(page: Page, expression: str) -> None:
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": expression}, timeout_s=20)


async def test_frames_of_documents_that_were_left_are_not_asked_again(page: Page, local_server: LocalServer) -> None:
    for _ in range(3):
        await page.goto(local_server.url("frames.html"))
        first = await page.snapshot()
    attachment = await page.attached()
    assert len(attachment.state.frames) == 4
    assert first.cost is not None
    assert first.cost.round_trips == 1
    await page.goto(local_server.url("second.html"))
    assert len(attachment.state.frames) == 1


async def test_a_document_without_its_root_is_waited_for(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    await run(page, "window.root=document.documentElement; root.remove()")
    with pytest.raises(DeadlineExceeded, match="has no element"):
        await page.snapshot(timeout_s=0.5)
    looking = asyncio.ensure_future(page.snapshot(timeout_s=20))
    await run(page, "setTimeout(() => document.append(root), 300)")
    assert (await looking).find(name="Second page").role == "heading"

"""WebViews share a renderer: one that dies takes along a tab that is being opened in it."""

from __future__ import annotations

import asyncio

import pytest

from bridge import Session
from bridge.page.page import Page
from bridge.page.target.attachment import Attachment

pytestmark = pytest.mark.browser


async def crash(page: Page, after_s: float) -> None:
    await asyncio.sleep(after_s)
    (await page.attached()).connection.send("Page.crash", {}).abandon()


@pytest.mark.timeout(240)
async def test_a_tab_opens_although_its_renderer_dies(webview_device: str) -> None:
    async with Session.open(webview_device) as session:
        for after_ms in (0, 10, 40, 80, 120):
            dying = await session.new_page()
            crashing = asyncio.ensure_future(crash(dying, after_ms / 1000))
            opened = await session.new_page()
            await crashing
            await dying.close()
            await opened.close()


@pytest.mark.timeout(120)
async def test_a_tab_that_crashed_while_opening_is_not_waited_for(webview_device: str) -> None:
    async with Session.open(webview_device) as session:
        attached = 0

        async def crash_and_say_nothing(attachment: Attachment) -> None:
            nonlocal attached
            attached += 1
            if attached == 1:
                attachment.connection.send("Page.crash", {}).abandon()
                await asyncio.Event().wait()

        session.on_attach.append(crash_and_say_nothing)
        opened = await session.new_page()
        assert attached == 2
        assert await opened.snapshot()

"""Frames of documents that were left are not asked any more, however many there were."""

from __future__ import annotations

import pytest

from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def test_only_frames_of_the_current_document_are_known_after_many_pages(
    page: Page, local_server: LocalServer
) -> None:
    for _ in range(15):  # with three frames each: more than a snapshot asks
        await page.goto(local_server.url("frames.html"), wait_until="domcontentloaded")
    await page.goto(local_server.url("frames.html"))
    attachment = await page.attached()
    shot = await page.snapshot()
    assert shot.find(role="button", name="Inner button", nth=2)
    assert "frames" not in shot.stats.truncate_reasons
    assert len(attachment.state.frames) < 6

"""`Page.read` of pages that would rather not be read: it ends, and says when it left something out."""

from __future__ import annotations

import pytest

from bridge.page.page import Page
from bridge.page.snapshots import read
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def test_a_page_of_boxes_in_boxes_is_read_in_its_time(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("deep.html#div"))

    result = await page.read(timeout_s=15)

    assert "words here" in result.markdown or result.truncated


async def test_the_walk_stops_when_its_time_is_over_and_says_so(
    page: Page, local_server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await page.goto(local_server.url("deep.html#div"))
    monkeypatch.setattr(read, "WALK_S", 0.02)

    result = await page.read(timeout_s=15)

    assert result.truncated
    assert "words here" not in result.markdown

"""Isolated tabs: each starts without storage, and leaves none."""

from __future__ import annotations

import pytest

from bridge import Session
from bridge.errors import TabLost
from tests.session.storage.storing_site import StoringSite, grant_for, run

pytestmark = pytest.mark.browser


async def test_an_isolated_page_leaves_nothing_for_the_next_one(granted_session: Session, base: str) -> None:
    clean = None
    for _ in range(3):
        async with granted_session.isolated() as page:
            await page.goto(f"{base}/trace")
            seen = await run(page, "stored()")
            clean = clean or seen
            assert seen == clean
            assert (seen["cookie"], seen["local"], seen["session"]) == ("", 0, 0)
            assert (seen["caches"], seen["databases"], seen["workers"]) == (0, 0, 0)
            answered = page.network(url="/trace").entries[-1].response_headers
            assert answered["x-cookie-seen"] == "-"
            requests = StoringSite.cached_requests
            await run(page, "fetch('/cached')")
            assert StoringSite.cached_requests == requests + 1
            await run(page, "store()")
            assert (await run(page, "stored()"))["workers"] == 1
        assert not granted_session.tabs


async def test_an_isolated_page_refuses_operations_after_its_block(webview_device: str, base: str) -> None:
    async with Session.open(webview_device, grants=[grant_for(base)]) as session:
        async with session.isolated() as page:
            await page.goto(f"{base}/trace")
        with pytest.raises(TabLost, match="has been closed"):
            await page.snapshot()
    async with Session.open(webview_device) as session:
        assert await session.host_client.list_tabs(timeout_s=5) == ()


async def test_other_tabs_keep_their_storage_beside_isolated_ones(granted_session: Session, base: str) -> None:
    kept = await granted_session.new_page(f"{base}/trace")
    await run(kept, "store()")
    async with granted_session.isolated() as page:
        await page.goto(f"{base}/trace")
        assert (await run(page, "stored()"))["local"] == 0
    assert (await run(kept, "stored()"))["local"] == 1
    assert "trail=1" in (await run(kept, "stored()"))["cookie"]


async def test_a_block_that_fails_leaves_nothing_either(granted_session: Session, base: str) -> None:
    async def fails() -> None:
        async with granted_session.isolated() as page:
            await page.goto(f"{base}/trace")
            await run(page, "store()")
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        await fails()
    async with granted_session.isolated() as page:
        await page.goto(f"{base}/trace")
        assert (await run(page, "stored()"))["local"] == 0

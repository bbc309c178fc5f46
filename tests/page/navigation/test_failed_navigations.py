"""A navigation that failed has come to its end when that is told: the browser shows its own page by then."""

from __future__ import annotations

import asyncio

import pytest

from bridge import Session
from bridge.deadline import Deadline
from bridge.errors import NavigationFailed
from bridge.page.fetch_messages import Abort
from bridge.page.page import Page
from bridge.page.recovery import hang_recovery
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

NOWHERE = "http://no-such-host.invalid/"


async def test_failed_navigation_ends_when_the_error_page_is_shown(page: Page, local_server: LocalServer) -> None:
    for _ in range(5):
        await page.goto(local_server.url("second.html"))
        with pytest.raises(NavigationFailed):
            await page.goto(NOWHERE)
        attachment = await page.attached()
        assert attachment.state.main is not None
        assert attachment.state.main.unreachable_url == NOWHERE
        assert (await page.goto(local_server.url("shop.html"))).notices == ()


async def test_back_works_after_a_failed_reload(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("shop.html"))
    await page.goto(local_server.url("second.html"))
    await page.route("**/second.html", Abort())
    with pytest.raises(NavigationFailed):
        await page.reload()
    assert (await page.go_back()).title == "Gold prices"


async def test_error_page_is_left_without_an_unload_check(page: Page) -> None:
    with pytest.raises(NavigationFailed):
        await page.goto(NOWHERE)
    attachment = await page.attached()
    with attachment.connection.measure() as meter:
        assert await hang_recovery.can_unload(attachment, Deadline.after(20))
    assert meter.cost().bytes_sent == 0


async def test_failed_navigations_in_tabs_with_one_renderer_are_not_diagnosed_as_hung(
    session: Session, local_server: LocalServer
) -> None:
    async def fail_and_go_on(page: Page) -> None:
        for _ in range(3):
            with pytest.raises(NavigationFailed):
                await page.goto(NOWHERE)
            assert (await page.goto(local_server.url("second.html"))).notices == ()

    await asyncio.gather(*[fail_and_go_on(await session.new_page()) for _ in range(3)])

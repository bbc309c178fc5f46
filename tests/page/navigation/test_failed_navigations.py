"""A navigation that failed has come to its end when that is told: the browser shows its own page by then."""

from __future__ import annotations

import asyncio

import pytest

from bridge import Session
from bridge.deadline import Deadline
from bridge.errors import NavigationFailed
from bridge.page.interception.fetch_messages import Abort
from bridge.page.page import Page
from bridge.page.recovery import hang_recovery
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

NOWHERE = "http://no-such-host.invalid/"


async def test_what_failed_is_told_when_it_is_shown_and_can_be_left_at_once(
    page: Page, local_server: LocalServer
) -> None:
    for _ in range(5):
        await page.goto(local_server.url("second.html"))
        with pytest.raises(NavigationFailed):
            await page.goto(NOWHERE)
        attachment = await page.attached()
        assert attachment.state.main is not None
        assert attachment.state.main.unreachable_url == NOWHERE
        assert (await page.goto(local_server.url("shop.html"))).notices == ()


async def test_the_history_can_be_walked_from_a_reload_that_failed(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("shop.html"))
    await page.goto(local_server.url("second.html"))
    await page.route("**/second.html", Abort())
    with pytest.raises(NavigationFailed):
        await page.reload()
    assert (await page.back()).title == "Gold prices"


async def test_the_browsers_own_page_is_not_asked_whether_it_may_be_left(page: Page) -> None:
    with pytest.raises(NavigationFailed):
        await page.goto(NOWHERE)
    attachment = await page.attached()
    with attachment.connection.measure() as meter:
        assert await hang_recovery.can_unload(attachment, Deadline.after(20))
    assert meter.cost().bytes_sent == 0


async def test_tabs_that_share_a_renderer_are_not_taken_for_hung_when_all_of_them_fail(
    session: Session, local_server: LocalServer
) -> None:
    async def fail_and_go_on(page: Page) -> None:
        for _ in range(3):
            with pytest.raises(NavigationFailed):
                await page.goto(NOWHERE)
            assert (await page.goto(local_server.url("second.html"))).notices == ()

    await asyncio.gather(*[fail_and_go_on(await session.new_tab()) for _ in range(3)])

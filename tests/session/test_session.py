"""A session from its device to its tabs."""

from __future__ import annotations

import asyncio

import pytest

from bridge import Session
from bridge.errors import HostLost, RefNotFound, TabLost
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.temp_devices import own_device

pytestmark = pytest.mark.browser


async def test_a_session_knows_its_device_and_the_webviews_capabilities(session: Session) -> None:
    await session.new_page()
    assert session.host.api_level >= 26
    capabilities = session.capabilities
    assert capabilities is not None
    assert (capabilities.capture, capabilities.isolated_worlds, capabilities.fetch_interception) == ("cdp", True, True)
    assert capabilities.webview.startswith("com.google.android.webview ")


async def test_tab_ids_are_never_reused_and_tabs_are_independent(session: Session, local_server: LocalServer) -> None:
    first = await session.new_page(local_server.url("shop.html"))
    second = await session.new_page(local_server.url("second.html"))
    assert [page.tab_id for page in session.pages] == ["t1", "t2"]
    assert (await first.snapshot()).title == "Gold prices"
    assert (await second.snapshot()).title == "Second"
    await first.close()
    with pytest.raises(TabLost, match="t1 has been closed"):
        await first.snapshot()
    assert (await session.new_page()).tab_id == "t3"


async def test_an_idled_tab_is_reopened_with_a_notice(adb_port: int, local_server: LocalServer) -> None:
    notices: list[str] = []
    async with (
        own_device(idle_timeout_s=8.0) as device,
        Session.open(device.serial, grants=[local_server.grant], on_notice=notices.append) as session,
    ):
        lost = asyncio.Event()
        session.host_client.on_event(lambda name, _: lost.set() if name in ("idle_destroyed", "tab.lost") else None)
        page = await session.new_page(local_server.url("second.html"))
        ref = (await page.snapshot()).find(role="link").ref
        async with asyncio.timeout(40):
            await lost.wait()
        shot = await page.snapshot()
        assert shot.title == "Second"
        assert "closed after idling and was opened again" in notices[-1]
        # A snapshot has no notices; the next result has.
        assert "was opened again" in (await page.scroll("down")).notices[0]
        assert (await page.scroll("down")).notices == ("nothing there can scroll further down",)
        with pytest.raises(RefNotFound, match="the page navigated away from"):
            await page.click(ref)


async def read_for_ever(page: Page) -> None:
    while True:
        await page.snapshot()


async def test_a_host_app_that_dies_ends_operations_with_host_lost(adb_port: int, local_server: LocalServer) -> None:
    async with (
        own_device() as device,
        Session.open(device.serial, grants=[local_server.grant]) as session,
    ):
        page = await session.new_page(local_server.url("second.html"))
        await device.fault("kill_host")
        async with asyncio.timeout(20):
            with pytest.raises(HostLost):
                await read_for_ever(page)
            with pytest.raises(HostLost):
                await session.new_page()

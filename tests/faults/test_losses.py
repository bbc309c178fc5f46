"""Losses below a session: it reports what is lost and why, in time, and can be restored."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bridge import Session
from bridge.adb import AdbServer
from bridge.errors import BridgeError, DeadlineExceeded, DeviceLost, HostLost, TabLost
from bridge.page.page import Page
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer, adb_program
from tests.faults.conftest import Opened, nothing_leaks, within
from tests.faults.late_ends import ends_late

pytestmark = pytest.mark.browser

OPERATION_S = 2.0


async def failure(page: Page) -> BridgeError:
    """The error of the next operations once the loss is noticed; each ends within its timeout."""
    while True:
        async with within(OPERATION_S):
            try:
                await page.snapshot(timeout_s=OPERATION_S)
            except BridgeError as error:
                return error


@asynccontextmanager
async def two_tabs(opened: Opened, server: LocalServer, **options: object) -> AsyncIterator[tuple[Session, Page, Page]]:
    async with opened(**options) as session:
        calm = await session.new_page(server.url("calm"))
        other = await session.new_page(server.url("other"))
        yield session, calm, other


@asynccontextmanager
async def one_tab(opened: Opened, server: LocalServer, **options: object) -> AsyncIterator[tuple[Session, Page]]:
    async with opened(**options) as session:
        yield session, await session.new_page(server.url("calm"))


async def is_as_before(session: Session, calm: Page, other: Page, server: LocalServer) -> None:
    assert (await calm.snapshot()).title == "Calm"
    assert (await other.snapshot()).title == "Other"
    assert (calm.url, other.url) == (server.url("calm"), server.url("other"))
    shot = await calm.snapshot()
    assert (await calm.click(shot.find(name="Other").ref)).changes.url == server.url("other")
    assert len(await session.host_client.list_tabs(timeout_s=20)) == 2


async def test_an_unplugged_device_is_lost_and_a_reconnect_finds_its_tabs_unchanged(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with two_tabs(opened, faulty_server) as (session, calm, other):
        ref = (await calm.snapshot()).find(name="Press").ref
        async with nothing_leaks(session.serial):
            await device.fault("drop_cable")
            lost = await failure(calm)
            assert isinstance(lost, DeviceLost)
            assert "is not attached any more" in lost.message
            with pytest.raises(DeviceLost):
                await session.new_page()
            await device.fault("connect")
            notices = await session.reconnect(timeout_s=20)
            assert notices[1:] == tuple(f"{page.tab_id} was still open, at {page.url}" for page in (calm, other))
            assert (await calm.click(ref)).changes.settled == "quiet"
            await is_as_before(session, calm, other, faulty_server)


async def test_a_window_that_closed_itself_while_disconnected_is_not_reopened(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("opener"))
        async with page.expect_popup() as popup:
            await page.get_by_role("button", name="Open").click()
        await (await popup.value).wait_for(text="Window", timeout_s=20)
        await device.fault("drop_cable")  # the request ends with it, upon which the page closes its window
        assert isinstance(await failure(page), DeviceLost)
        await device.fault("connect")
        notices = await session.reconnect(timeout_s=20)
        with pytest.raises(TabLost, match="its page closed its own window"):
            await (await popup.value).wait_for(text="never", timeout_s=20)
        assert session.pages == (page,)
        assert not [line for line in notices if "opened again" in line]
        assert (await page.snapshot()).title == "Opener"


async def test_a_reconnect_to_a_missing_device_ends_at_its_deadline(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with one_tab(opened, faulty_server) as (session, page):
        await device.fault("drop_cable")
        assert isinstance(await failure(page), DeviceLost)
        async with within(2.0):
            with pytest.raises(DeadlineExceeded, match="coming back"):
                await session.reconnect(timeout_s=2.0)
        await device.fault("connect")


async def test_a_reconnect_restarts_a_killed_adb_server(
    opened: Opened, adb_port: int, faulty_server: LocalServer
) -> None:
    async with two_tabs(opened, faulty_server) as (session, calm, other), nothing_leaks(session.serial):
        killing = [adb_program(), "-P", str(adb_port), "kill-server"]
        await asyncio.to_thread(subprocess.run, killing, check=True, capture_output=True, timeout=20)
        lost = await failure(calm)
        assert isinstance(lost, DeviceLost)
        assert "adb server" in lost.message
        await session.reconnect(timeout_s=30)
        await is_as_before(session, calm, other, faulty_server)


async def test_a_reconnect_waits_for_a_reboot(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with two_tabs(opened, faulty_server) as (session, calm, other), nothing_leaks(session.serial):
        rebooting = asyncio.ensure_future(device.fault("reboot", boot_s=1.0))
        assert isinstance(await failure(calm), DeviceLost)
        await session.reconnect(timeout_s=30)
        await rebooting
        await is_as_before(session, calm, other, faulty_server)


@pytest.mark.parametrize("fault", ["kill_host", "update_webview"])
async def test_a_host_process_that_ended_is_lost_and_a_reconnect_restarts_it(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer, fault: str
) -> None:
    async with two_tabs(opened, faulty_server) as (session, calm, other), nothing_leaks(session.serial):
        before = session.host.pid
        await device.fault(fault)
        lost = await failure(calm)
        assert isinstance(lost, HostLost)
        assert "was updated from" in lost.message or fault == "kill_host"
        notices = await session.reconnect(timeout_s=20)
        assert f"opened again at {faulty_server.url('calm')}; earlier refs are stale" in notices[1]
        await is_as_before(session, calm, other, faulty_server)
        assert session.host.pid != before
        assert session.capabilities is not None
        assert session.capabilities.webview.endswith(session.host.webview_version)


async def test_a_frozen_host_app_is_reported_and_replaced(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with two_tabs(opened, faulty_server) as (session, calm, other), nothing_leaks(session.serial):
        await device.fault("freeze_host")
        lost = await failure(calm)
        assert isinstance(lost, HostLost)
        assert "frozen" in lost.message
        await session.reconnect(timeout_s=20)
        await is_as_before(session, calm, other, faulty_server)


async def test_a_host_app_that_thaws_needs_no_reconnect(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with two_tabs(opened, faulty_server) as (session, calm, other):
        await device.fault("freeze_host")
        assert isinstance(await failure(calm), HostLost)
        await device.fault("thaw_host")
        await is_as_before(session, calm, other, faulty_server)


async def test_a_killed_renderer_loses_its_tabs_and_a_reconnect_restores_them(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with two_tabs(opened, faulty_server) as (session, calm, other), nothing_leaks(session.serial):
        await device.fault("kill_renderer")
        for page in (calm, other):
            lost = await failure(page)
            assert isinstance(lost, TabLost)
            assert "renderer_crashed" in lost.message
        assert len(await session.reconnect(timeout_s=20)) == 2
        await is_as_before(session, calm, other, faulty_server)


@pytest.mark.parametrize("fault", ["drop_cable", "kill_host", "kill_renderer", "freeze_host", "update_webview"])
async def test_an_automatic_reconnect_is_reported_with_the_next_result(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer, fault: str
) -> None:
    async with two_tabs(opened, faulty_server, reconnect=True) as (session, calm, other):
        await device.fault(fault)
        plugging_in = asyncio.ensure_future(device.fault("connect")) if fault == "drop_cable" else None
        if fault in ("freeze_host", "kill_renderer"):
            await failure(calm)
        else:  # an operation that starts before the loss is known may still fail with it
            await asyncio.wait_for(session.host_client.closed.wait(), 30)
        there = await calm.reload(timeout_s=20)
        assert any(notice.startswith("t1 ") for notice in there.notices)
        if plugging_in is not None:
            await plugging_in
        await is_as_before(session, calm, other, faulty_server)


async def test_a_slow_link_is_slow_and_not_lost(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with one_tab(opened, faulty_server) as (_, page):
        await device.fault("slow_link", latency_ms=300)
        assert (await page.snapshot(timeout_s=20)).title == "Calm"
        await device.fault("straight_link")
        assert (await page.snapshot(timeout_s=20)).title == "Calm"


async def test_a_device_whose_replies_come_after_the_deadline_is_not_lost(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with one_tab(opened, faulty_server) as (_, page):
        await device.fault("slow_link", latency_ms=900)
        with pytest.raises(DeadlineExceeded):
            await page.snapshot(timeout_s=1.5)
        await device.fault("straight_link")
        assert (await page.goto(faulty_server.url("calm"), timeout_s=60)).title == "Calm"


async def test_settings_of_a_page_hold_in_its_reopened_tab(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with one_tab(opened, faulty_server, reconnect=True) as (_, page):
        await page.set_time_zone("Asia/Kathmandu")
        await page.add_init_script("window.zone = new Date(0).getTimezoneOffset()")
        await device.fault("kill_renderer")
        await failure(page)
        await page.wait_for(function="window.zone == -330", timeout_s=10)


async def test_a_lost_tab_is_reopened_once_for_concurrent_operations(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer, tmp_path: Path
) -> None:
    async with one_tab(opened, faulty_server, reconnect=True) as (session, page):
        await device.fault("kill_renderer")
        while not session.open_tabs()[0].is_lost:  # noqa: ASYNC110 - only the session sees the event
            await asyncio.sleep(0.05)
        shot, recording, _, there = await asyncio.gather(
            page.snapshot(), page.record(0.5), session.storage_state(tmp_path / "state.json"), page.attached()
        )
        assert shot.title == "Calm"
        assert recording.frames
        assert there.state.main is not None
        assert (await session.host_client.stats(timeout_s=20))["tabs"] == 1


async def test_closing_a_session_whose_device_is_gone_is_fast(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with nothing_leaks(device.serial):
        async with within(2.0), opened() as session:
            await session.new_page(faulty_server.url("calm"))
            await device.fault("drop_cable")
        await device.fault("connect")
        assert (await AdbServer.from_environment().devices(timeout_s=20))[0].state == "device"


async def test_a_loss_before_a_navigation_is_sent_is_restored_and_the_navigation_succeeds(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with two_tabs(opened, faulty_server, reconnect=True) as (session, calm, other):
        connection = (await calm.attached()).connection
        connection.send("Runtime.evaluate", {"expression": "for(;;);"}).abandon()
        reloading = asyncio.ensure_future(calm.reload(timeout_s=20))  # first probes whether the page can be unloaded
        await device.fault("kill_host")
        there = await reloading
        assert any(notice.startswith("t1 ") for notice in there.notices)
        await is_as_before(session, calm, other, faulty_server)


async def test_an_operation_that_discovers_the_end_of_the_host_app_restores_it(
    opened: Opened, adb_port: int, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with (
        ends_late(adb_port, b"localabstract:webview_bridge_", late_s=0.3) as address,
        two_tabs(opened, faulty_server, reconnect=True, adb_server=address) as (session, calm, other),
    ):
        connection = (await calm.attached()).connection
        await device.fault("kill_host")
        await connection.closed.wait()
        assert not session.host_client.closed.is_set()
        assert (await calm.snapshot()).title == "Calm"
        await is_as_before(session, calm, other, faulty_server)


async def test_a_tab_that_opens_while_the_host_app_ends_is_opened_once(
    opened: Opened, adb_port: int, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    async with (
        ends_late(adb_port, b"localabstract:webview_bridge_", late_s=0.3) as address,
        opened(reconnect=True, adb_server=address) as session,
    ):
        first = await session.new_page(faulty_server.url("calm"))
        connection = (await first.attached()).connection
        await device.fault("kill_host")
        await connection.closed.wait()
        assert not session.host_client.closed.is_set()
        second = await session.new_page(faulty_server.url("other"))
        assert ((await first.snapshot()).title, (await second.snapshot()).title) == ("Calm", "Other")
        assert len(await session.host_client.list_tabs(timeout_s=20)) == 2

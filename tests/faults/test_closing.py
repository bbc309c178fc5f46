"""Closing a session releases everything in bounded time, also if it is cancelled."""

from __future__ import annotations

import asyncio

import pytest

from bridge import Session
from bridge.adb import AdbServer
from bridge.host.lease import held_by, lease_key
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer
from tests.faults.conftest import Opened, nothing_leaks

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("turns", [0, 1, 3, 10, 40])
async def test_cancelling_a_session_while_it_closes_leaks_nothing(
    turns: int, opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    block_is_over = asyncio.Event()

    async def use() -> None:
        async with opened() as session:
            page = await session.new_page(faulty_server.url("calm"))
            await page.snapshot()
            block_is_over.set()

    async with nothing_leaks(device.serial, with_browsers=True):
        using = asyncio.create_task(use())
        await block_is_over.wait()
        for _ in range(turns):
            await asyncio.sleep(0)
        using.cancel()
        with pytest.raises(asyncio.CancelledError):
            await using
        assert held_by(lease_key(AdbServer.from_environment().device(device.serial))) is None
    async with opened() as again:
        assert isinstance(again, Session)


async def test_browsing_data_that_could_not_be_cleared_is_reported(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    notices: list[str] = []
    async with opened(on_notice=notices.append) as session:
        await session.new_page(faulty_server.url("calm"))
        await device.fault("freeze_host")
    assert any("could not clear browsing data" in notice for notice in notices), notices

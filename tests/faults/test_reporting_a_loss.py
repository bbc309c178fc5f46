"""A wait on a lost device ends at once, whatever its timeout."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bridge import Session
from bridge.errors import DeviceLost
from bridge.model_tools import ClientContext, PendingElicitation, ServerContext, SharedSession
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer
from tests.faults.conftest import Opened

pytestmark = pytest.mark.browser

# Far above the time to report a loss, far below the timeouts below.
REPORT_S = 15.0
LONG_S = 100.0


@pytest.mark.parametrize("fault", ["drop_cable", "disconnected"])
async def test_a_wait_ends_when_the_device_is_lost(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer, fault: str
) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("calm"))
        waiting = asyncio.ensure_future(page.wait_for(text="never to be read", timeout_s=LONG_S))
        if fault == "drop_cable":
            await device.fault("drop_cable")
        else:
            await session.device.server.disconnect(session.serial, timeout_s=10)
        async with asyncio.timeout(REPORT_S):
            with pytest.raises(DeviceLost, match="is not attached any more"):
                await waiting
        if fault == "drop_cable":
            await device.fault("connect")


async def test_an_operation_that_waits_for_the_device_announces_it(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    notices: asyncio.Queue[str] = asyncio.Queue()
    async with opened(reconnect=True, on_notice=notices.put_nowait) as session:
        page = await session.new_page(faulty_server.url("calm"))
        await device.fault("drop_cable")
        await session.host_client.closed.wait()
        looking = asyncio.ensure_future(page.snapshot(timeout_s=LONG_S))
        async with asyncio.timeout(REPORT_S):
            while "is not attached any more. Waiting up to" not in (notice := await notices.get()):
                pass
        assert notice.endswith("s for it to come back.")
        assert not looking.done()
        await device.fault("connect")
        assert (await looking).title == "Calm"


async def test_a_model_tool_announces_that_it_waits_for_the_device(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    @asynccontextmanager
    async def opener() -> AsyncIterator[Session]:
        async with opened(reconnect=True) as session:
            yield session

    steps: asyncio.Queue[str] = asyncio.Queue()
    async with SharedSession(opener) as shared:
        session, _ = await shared.get()
        context = ClientContext(ServerContext(session.egress, shared, PendingElicitation()))
        await context.session()
        context.report_progress = steps.put_nowait
        await device.fault("drop_cable")
        await session.host_client.closed.wait()
        opening = asyncio.ensure_future(context.session())
        async with asyncio.timeout(REPORT_S):
            assert "waiting for the device or its host app to reconnect" in await steps.get()
        await device.fault("connect")
        assert (await opening).serial == session.serial

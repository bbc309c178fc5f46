"""A page may lose itself, and never its neighbours."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import AsyncIterator

import pytest

from bridge import Session
from bridge.errors import BridgeError
from bridge.page.page import Page
from bridge.policy.grant import TestServerGrant
from bridge.virtual_device import VirtualDeviceHandle
from tests.faults.test_late_clicks import browser_of
from tests.temp_devices import own_device
from tests.virtual_device.engine_rig import web_server

pytestmark = pytest.mark.browser

PAGES = {
    "/neighbour": "<title>Neighbour</title><button>Still here</button>",
    "/confirms": "<title>Confirms</title><button>Trap</button><script>setInterval(() => confirm('again'), 1)</script>",
    "/alerts": "<title>Alerts</title><button>Trap</button><script>setInterval(() => alert('again'), 1)</script>",
    "/prompts": "<title>Prompts</title><button>Trap</button><script>setInterval(() => prompt('again'), 1)</script>",
    "/leaves": "<title>Leaves</title><button>Trap</button>"
    "<script>onbeforeunload = event => event.preventDefault(); setInterval(() => confirm('again'), 1)</script>",
}


@pytest.fixture
async def device(adb_port: int) -> AsyncIterator[VirtualDeviceHandle]:
    async with own_device() as handle:
        yield handle


async def try_to(action: object) -> None:
    with contextlib.suppress(BridgeError):
        await action  # type: ignore[misc]


async def first_error(page: Page) -> str:
    while True:
        try:
            await page.snapshot()
        except BridgeError as error:
            return error.code


@pytest.mark.parametrize("attack", ["confirms", "alerts", "prompts", "leaves"])
@pytest.mark.parametrize("leaving", ["by navigation", "by closing the tab"])
async def test_a_loop_of_dialogs_costs_no_other_tab(device: VirtualDeviceHandle, attack: str, leaving: str) -> None:
    with web_server(PAGES) as port:
        site = f"http://127.0.0.1:{port}"
        async with Session.open(device.serial, grants=[TestServerGrant("127.0.0.1", port)]) as session:
            neighbour = await session.new_page(f"{site}/neighbour")
            hostile = await session.new_page()
            for _ in range(3):
                await try_to(hostile.goto(f"{site}/{attack}"))
                await try_to(hostile.snapshot())
                await try_to(hostile.goto("about:blank"))
            if leaving == "by closing the tab":
                await try_to(hostile.goto(f"{site}/{attack}"))
                await try_to(hostile.snapshot())
                await try_to(hostile.close())
            assert (await neighbour.snapshot()).find(role="button", name="Still here")


async def test_a_chromium_that_dies_is_started_again_and_the_tabs_can_be_opened_again(
    device: VirtualDeviceHandle,
) -> None:
    with web_server(PAGES) as port:
        site = f"http://127.0.0.1:{port}"
        async with Session.open(device.serial, grants=[TestServerGrant("127.0.0.1", port)]) as session:
            page = await session.new_page(f"{site}/neighbour")
            os.kill(browser_of(device), signal.SIGKILL)
            assert await first_error(page) == "host_lost"
            await session.reconnect()
            await page.goto(f"{site}/neighbour")
            assert (await page.snapshot()).find(role="button", name="Still here")

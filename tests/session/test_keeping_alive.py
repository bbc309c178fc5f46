"""Idle tabs in a session that is kept open."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from bridge import Session
from bridge.model_tools import SharedSession
from bridge.session import tabs as session_tabs
from tests.conftest import LocalServer
from tests.temp_devices import own_device

pytestmark = pytest.mark.browser

IDLE_S = 6.0


async def test_a_session_shared_by_tools_keeps_idle_tabs_alive(
    adb_port: int, local_server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_tabs, "_TOUCH_EVERY_S", 0.3)
    notices: list[str] = []
    async with own_device(idle_timeout_s=IDLE_S) as device:
        opened = partial(Session.open, device.serial, grants=[local_server.grant], on_notice=notices.append)
        async with SharedSession(opened) as shared:
            session, _ = await shared.get()
            page = await session.new_page(local_server.url("second.html"))
            await asyncio.sleep(1.6 * IDLE_S)
            assert (await page.snapshot()).title == "Second"
    assert not any("closed after idling" in notice for notice in notices)


@pytest.mark.parametrize("is_kept", [True, False])
async def test_a_kept_session_keeps_idle_tabs_alive(
    adb_port: int, local_server: LocalServer, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    monkeypatch.setattr(session_tabs, "_TOUCH_EVERY_S", 0.3)
    notices: list[str] = []
    async with (
        own_device(idle_timeout_s=IDLE_S) as device,
        Session.open(device.serial, grants=[local_server.grant], on_notice=notices.append) as session,
    ):
        page = await session.new_page(local_server.url("second.html"))
        over = asyncio.Event()
        asyncio.get_running_loop().call_later(1.6 * IDLE_S, over.set)
        await (session.stay_awake(over) if is_kept else over.wait())
        assert (await page.snapshot()).title == "Second"
        assert any("closed after idling" in notice for notice in notices) is not is_kept

"""A tab may be closed while it is being attached to: the new connection is closed as well."""

from __future__ import annotations

import asyncio

import pytest

from bridge import Session
from bridge.errors import TabLost
from bridge.page.target.attachment import Attachment
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def test_a_tab_that_is_closed_while_attaching_is_detached(session: Session, local_server: LocalServer) -> None:
    page = await session.new_page(local_server.url("second.html"))
    (tab,) = session.open_tabs()
    begun, go_on = asyncio.Event(), asyncio.Event()
    made: list[Attachment] = []

    async def prepare(attachment: Attachment) -> None:
        made.append(attachment)
        begun.set()
        await go_on.wait()

    tab.on_attach(prepare)
    attaching = asyncio.create_task(tab.reattach(timeout_s=30))
    await begun.wait()
    await page.close()
    go_on.set()

    with pytest.raises(TabLost, match="t1 has been closed"):
        await attaching
    assert made[0].connection.closed.is_set()


async def test_popups_may_be_closed_while_they_are_adopted(session: Session, local_server: LocalServer) -> None:
    page = await session.new_page(local_server.url("second.html"))
    attachment = await page.attached()
    reported = asyncio.Event()
    session.host_client.on_event(lambda event, _fields: reported.set() if event == "popup" else None)
    opening = {"expression": "open('/second.html')", "userGesture": True}
    for _ in range(5):
        reported.clear()
        attachment.connection.send("Runtime.evaluate", opening).abandon()
        async with asyncio.timeout(30):
            await reported.wait()
        await session.pages[1].close()
        await session.wait_for_popups()
    assert session.pages == (page,)

"""A page that answers is not recovered, however the operation on it ended."""

from __future__ import annotations

import pytest

from bridge.errors import DeadlineExceeded
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.faults.conftest import Opened

pytestmark = pytest.mark.browser


async def value(page: Page, expression: str) -> object:
    attachment = await page.attached()
    params = {"expression": expression, "returnByValue": True, "awaitPromise": True}
    reply = await attachment.connection.call("Runtime.evaluate", params, timeout_s=10)
    return reply["result"].get("value")


async def test_a_timeout_on_a_forbidden_document_recovers_no_tab(opened: Opened, faulty_server: LocalServer) -> None:
    async with opened() as session:
        other = await session.new_page(faulty_server.url("calm"))
        await value(other, "window.work = 'unsaved'")
        page = await session.new_page(faulty_server.url("calm"))
        blob = "URL.createObjectURL(new Blob(['<h1>Print preview</h1>'], {type: 'text/html'}))"
        await value(page, f"void (location = {blob})")
        await page.wait_for(url="blob:**", timeout_s=10)

        with pytest.raises(DeadlineExceeded) as caught:
            await page.wait_for(url="**/never", timeout_s=1.0)
        assert caught.value.details.get("recovery") not in ("kill_renderer", "failed")
        assert await value(other, "window.work") == "unsaved"

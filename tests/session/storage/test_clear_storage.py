"""A session clears what its pages have stored, although the host process lives on."""

from __future__ import annotations

import pytest

from bridge import Session
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.session.storage.storing_site import grant_for, run

pytestmark = pytest.mark.browser


async def test_a_session_clears_what_its_closed_tabs_have_stored(webview_device: str, base: str) -> None:
    async with Session.open(webview_device, grants=[grant_for(base)]) as first:
        page = await first.new_page(f"{base}/trace")
        clean = await run(page, "stored()")
        await run(page, "store()")
        await page.close()
    async with Session.open(webview_device, grants=[grant_for(base)]) as second:
        assert await run(await second.new_page(f"{base}/trace"), "stored()") == clean


async def test_a_session_clears_what_its_pages_have_stored_although_the_host_process_lives_on(
    webview_device: str, local_server: LocalServer
) -> None:
    store = "document.cookie='who=me;max-age=999';localStorage.who='me'"
    look = "document.cookie + '|' + localStorage.who"

    async def run(page: Page, expression: str) -> object:
        attachment = await page.attached()
        return (await attachment.call("Runtime.evaluate", {"expression": expression}, timeout_s=20))["result"]["value"]

    async with Session.open(webview_device, grants=[local_server.grant]) as first:
        page = await first.new_page(local_server.url("second.html"))
        await run(page, store)
        other = await first.new_page(local_server.url("second.html"))
        assert await run(other, look) == "who=me|me"
        pid = first.host.pid
        await page.close()
        await other.close()
    async with Session.open(webview_device, grants=[local_server.grant]) as second:
        assert second.host.pid == pid
        there = await second.new_page(local_server.url("second.html"))
        assert await run(there, look) == "|undefined"
        await run(there, store)
    async with Session.open(webview_device, grants=[local_server.grant]) as third:
        assert await run(await third.new_page(local_server.url("second.html")), look) == "|undefined"

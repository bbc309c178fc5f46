"""A WebView opens http: URLs over http: and does not try https: first, as Chrome does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from bridge import Session
from bridge.page.page import Page
from bridge.policy import BrowserPolicy
from bridge.policy.pinning import PinnedEgress
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

# Names with a public ending: Chromium leaves the others alone anyway.
SITE, OTHER = "http://plain-site.com", "http://plain-other.com"


@pytest.fixture
def dialled() -> list[int]:
    return []


@pytest.fixture
async def page(webview_device: str, local_server: LocalServer, dialled: list[int]) -> AsyncIterator[Page]:
    async def resolve(_host: str) -> tuple[str, ...]:
        return ("93.184.216.34",)

    async def connect(_address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        dialled.append(port)
        if port != 80:
            raise ConnectionRefusedError
        return await asyncio.open_connection("127.0.0.1", local_server.port)

    egress = PinnedEgress(BrowserPolicy(allowed_origins=(SITE, OTHER)), resolve=resolve, connect=connect)
    async with Session.open(webview_device, egress=egress) as session:
        yield await session.new_page()


async def test_an_allowed_http_address_opens_as_http(page: Page, dialled: list[int]) -> None:
    opened = await page.goto(f"{SITE}/shop.html")
    assert (opened.url, opened.status) == (f"{SITE}/shop.html", 200)
    assert set(dialled) == {80}


async def test_navigating_to_another_http_site_stays_http(page: Page, dialled: list[int]) -> None:
    await page.goto(f"{SITE}/shop.html")
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": f"location='{OTHER}/shop.html'"}, timeout_s=10)
    await page.wait_for(url=f"{OTHER}/shop.html", timeout_s=20)
    assert set(dialled) == {80}

"""A cancelled navigation is given up: the next call works at once."""

from __future__ import annotations

import asyncio
import threading

import pytest

from bridge import Session
from bridge.page.page import Page
from bridge.surfaces.local_server import QuietHandler, listening

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("way", ["goto", "reload"])
async def test_after_a_cancelled_navigation_the_page_is_as_it_was(webview_device: str, way: str) -> None:
    asked, answer = threading.Event(), threading.Event()
    is_held = False

    class Site(QuietHandler):
        def do_GET(self) -> None:
            if is_held:
                asked.set()
                answer.wait(60)
            self.close_connection = True
            if not is_held:
                self.respond(b"<!doctype html><title>Shown</title><button>Go</button>")

    with listening(Site) as site:
        try:
            async with Session.open(webview_device, grants=[site.grant]) as session:
                page: Page = await session.new_page(site.url("page"))
                is_held = True
                going = asyncio.ensure_future(page.goto(site.url("slow")) if way == "goto" else page.reload())
                await asyncio.to_thread(asked.wait, 30)
                going.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await going
                assert (await page.snapshot()).title == "Shown"
                assert page.url == site.url("page")
        finally:
            answer.set()

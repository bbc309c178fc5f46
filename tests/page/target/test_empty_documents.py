"""What documents leave behind when they are left."""

from __future__ import annotations

import asyncio
import threading

import pytest

from bridge import Session
from bridge.errors import DeadlineExceeded
from bridge.page.page import Page
from bridge.surfaces.local_server import QuietHandler, listening
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def run(page: Page, expression: str) -> None:
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": expression}, timeout_s=20)


async def test_frames_of_old_documents_are_not_called(page: Page, local_server: LocalServer) -> None:
    for _ in range(3):
        await page.goto(local_server.url("frames.html"))
        first = await page.snapshot()
    attachment = await page.attached()
    assert len(attachment.state.frames) == 4
    assert first.cost is not None
    assert first.cost.round_trips == 1
    await page.goto(local_server.url("second.html"))
    assert len(attachment.state.frames) == 1


async def test_snapshot_waits_for_a_document_without_root_element(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    await run(page, "window.root=document.documentElement; root.remove()")
    looking = asyncio.ensure_future(page.snapshot(timeout_s=20))
    await run(page, "setTimeout(() => document.append(root), 300)")
    assert (await looking).find(name="Second page").role == "heading"


@pytest.mark.parametrize("emptied", ["document.documentElement.remove()", "document.open()"])
async def test_snapshot_of_a_document_that_stays_empty_has_no_elements(
    page: Page, local_server: LocalServer, emptied: str
) -> None:
    await page.goto(local_server.url("second.html"))
    await run(page, f"document.body.innerHTML = '<button onclick=\"{emptied}\">Empty</button>'")
    clicked = await page.click((await page.snapshot()).find(name="Empty").ref)
    assert clicked.changes.removed
    for controls_only in (True, False):
        shown = await page.snapshot(timeout_s=60, controls_only=controls_only)
        assert shown.text.endswith(' nodes=0 truncated=false note="the document has no element"')
        assert shown.url == local_server.url("second.html")
    assert (await page.screenshot(annotate=True)).legend == ()


async def test_snapshot_of_a_loading_document_is_not_empty(webview_device: str) -> None:
    release = threading.Event()

    class Slow(QuietHandler):
        def do_GET(self) -> None:
            self.begin("text/html", None)
            self.wfile.write(b"<!doctype html>\n")
            release.wait(60)
            self.wfile.write(b"<h1>There</h1>")

    with listening(Slow) as server:
        async with Session.open(webview_device, grants=[server.grant]) as session:
            try:
                page = await session.new_page()
                await page.goto(server.url(), wait_until="commit")
                with pytest.raises(DeadlineExceeded, match="has no element, and is still loading"):
                    await page.snapshot(timeout_s=3)
                looking = asyncio.ensure_future(page.snapshot(timeout_s=30))
            finally:
                release.set()
            assert (await looking).find(name="There").role == "heading"

"""Overlays that appear at any time, and the handlers that remove them."""

from __future__ import annotations

import pytest

from bridge import expect, sync
from bridge.errors import Covered, DeadlineExceeded
from bridge.page.locators.locators import Locator
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><meta name=viewport content="width=device-width">
<button id=go onclick="count.textContent = +count.textContent + 1">Go</button> <output id=count>0</output>
<div id=veil hidden style="position:fixed;inset:0;background:#fffc">
<button onclick="veil.hidden = true">No thanks</button>
</div>"""
SHOW = "() => { veil.hidden = false }"


async def test_a_handler_removes_an_overlay_before_and_during_an_action(page: Page) -> None:
    await page.set_content(PAGE)
    seen: list[str] = []

    async def decline(overlay: Locator) -> None:
        seen.append(repr(overlay))
        await overlay.click()

    no_thanks = page.get_by_role("button", name="No thanks")
    await page.add_locator_handler(no_thanks, decline)
    go, count = page.get_by_role("button", name="Go"), page.locator("#count")
    await go.click()
    assert seen == []
    await page.evaluate(SHOW)
    await go.click()
    await expect(count).to_have_text("2")
    assert len(seen) == 1

    # It appears only while the element is waited for.
    await page.evaluate(
        "() => { go.disabled = true; setTimeout(() => { veil.hidden = false; go.disabled = false }, 300) }"
    )
    await go.click()
    assert len(seen) == 2

    await page.evaluate("() => { veil.hidden = false }")
    await expect(page.locator("#veil")).to_be_hidden()
    assert len(seen) == 3
    await expect(count).to_have_text("3")

    await page.remove_locator_handler(page.get_by_role("button", name="No thanks"))
    await page.evaluate(SHOW)
    with pytest.raises(Covered):
        await go.click(timeout_s=0.4)
    assert len(seen) == 3


async def test_a_handler_that_leaves_its_element_fails_and_times_and_no_wait_after_hold(page: Page) -> None:
    await page.set_content(PAGE)
    await page.evaluate(SHOW)
    calls: list[int] = []
    veil = page.locator("#veil")
    await page.add_locator_handler(veil, lambda _: calls.append(1))
    with pytest.raises(DeadlineExceeded, match="to be hidden"):
        await page.click("#go", timeout_s=0.4)
    await page.remove_locator_handler(veil)
    await page.add_locator_handler(veil, lambda _: calls.append(2), no_wait_after=True, times=1)
    with pytest.raises(Covered):
        await page.click("#go", timeout_s=1.2)
    assert calls == [1, 2]


def test_a_plain_handler_uses_the_blocking_page(webview_device: str, local_server: LocalServer) -> None:
    with sync.Session.open(webview_device, grants=[local_server.grant]) as session:
        page = session.new_page()
        page.set_content(PAGE)
        page.evaluate(SHOW)

        def decline(overlay: sync.Locator) -> None:
            assert isinstance(overlay, sync.Locator)
            page.get_by_role("button", name="No thanks").click()

        page.add_locator_handler(page.get_by_role("button", name="No thanks"), decline)
        page.get_by_role("button", name="Go").click()
        sync.expect(page.locator("#count")).to_have_text("1")

"""A tab that has not gone anywhere: by its nonce the session finds it, and nobody else sees that."""

from __future__ import annotations

import pytest

from bridge import Session
from bridge.errors import DeadlineExceeded
from bridge.page.page import Page
from bridge.snapshot.address import shown_url

pytestmark = pytest.mark.browser

NONCE = "0123456789abcdef" * 2


async def shown(page: Page) -> set[str]:
    """Every address that the tab is said to have."""
    shot = await page.snapshot()
    assert "url=about:blank " in shot.text
    with pytest.raises(DeadlineExceeded) as waited:
        await page.wait_for(url="https://shop.example/", timeout_s=0.1)
    assert waited.value.last_seen == "at about:blank"
    return {page.url, shot.url, (await page.read()).url, (await page.reload()).url, page.url}


async def test_a_new_tab_is_at_about_blank_for_whoever_asks(webview_session: Session) -> None:
    page = await webview_session.new_tab()
    assert await shown(page) == {"about:blank"}
    await webview_session.close_tab(page)


async def test_so_is_one_that_is_found_again_when_the_connection_broke(webview_session: Session) -> None:
    page = await webview_session.new_tab()
    await webview_session.reconnect()
    assert await shown(page) == {"about:blank"}
    await webview_session.close_tab(page)


def test_only_what_the_host_app_writes_is_left_out() -> None:
    assert shown_url(f"about:blank#{NONCE}") == "about:blank"
    for address in ("about:blank#top", f"https://shop.example/#{NONCE}", f"about:blank#{NONCE}0", "about:blank"):
        assert shown_url(address) == address

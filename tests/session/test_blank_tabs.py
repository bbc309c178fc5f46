"""A tab that has not navigated: the session finds it by its nonce, which no address shows."""

from __future__ import annotations

import pytest

from bridge import Session
from bridge.errors import DeadlineExceeded
from bridge.page.page import Page
from bridge.snapshot.address import shown_url

pytestmark = pytest.mark.browser

NONCE = "0123456789abcdef" * 2


async def shown(page: Page) -> set[str]:
    """Every address that is reported of the tab."""
    shot = await page.snapshot()
    assert "url=about:blank " in shot.text
    with pytest.raises(DeadlineExceeded) as waited:
        await page.wait_for(url="https://shop.example/", timeout_s=0.1)
    assert waited.value.last_seen == "at about:blank"
    return {page.url, shot.url, (await page.read()).url, (await page.reload()).url, page.url}


async def test_a_new_tab_reports_about_blank_everywhere(webview_session: Session) -> None:
    page = await webview_session.new_page()
    assert await shown(page) == {"about:blank"}
    await page.close()


async def test_a_new_tab_reports_about_blank_after_a_broken_connection(webview_session: Session) -> None:
    page = await webview_session.new_page()
    await webview_session.reconnect()
    assert await shown(page) == {"about:blank"}
    await page.close()


def test_only_the_nonce_of_the_host_app_is_removed_from_an_address() -> None:
    assert shown_url(f"about:blank#{NONCE}") == "about:blank"
    for address in ("about:blank#top", f"https://shop.example/#{NONCE}", f"about:blank#{NONCE}0", "about:blank"):
        assert shown_url(address) == address

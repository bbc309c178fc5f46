"""The title and address of a tab are known without asking it."""

from __future__ import annotations

import pytest

from bridge import Session, expect
from bridge.page.page import Page
from tests.temp_sites import own_site

pytestmark = pytest.mark.browser

PAGES = {
    "/": "",
    "/one.html": "<!doctype html><title>One</title><a href=two.html target=_blank>Open</a><a href=two.html>Go</a>"
    "<button onclick=\"document.title='Changed'\">Change</button>",
    "/two.html": "<!doctype html><title>Two</title><p>Second",
}


async def test_titles_are_known_after_each_navigation(webview_device: str) -> None:
    with own_site(PAGES) as site:
        async with Session.open(webview_device, grants=[site.grant]) as session:
            page = await session.new_page(site.url("one.html"))
            assert page.known_title == "One"
            await page.goto(site.url("two.html"))
            assert page.known_title == "Two"
            await page.go_back()
            assert page.known_title == "One"
            await page.get_by_role("link", name="Go").click()
            await expect(page).to_have_title("Two")
            assert (page.known_title, await page.title()) == ("Two", "Two")


async def test_a_title_that_a_script_sets_is_known(webview_device: str) -> None:
    with own_site(PAGES) as site:
        async with Session.open(webview_device, grants=[site.grant]) as session:
            page = await session.new_page(site.url("one.html"))
            await page.get_by_role("button").click()
            assert page.known_title == "Changed"


async def test_popups_know_their_address_and_title_and_log_no_error_of_ours(webview_device: str) -> None:
    with own_site(PAGES) as site:
        async with Session.open(webview_device, grants=[site.grant]) as session:
            page = await session.new_page(site.url("one.html"))
            async with page.expect_popup() as opened:
                await page.get_by_role("link", name="Open").click()
            popup: Page = await opened.value
            await popup.wait_for_load_state()
            assert (popup.url, popup.known_title) == (site.url("two.html"), "Two")
            assert not popup.console().entries

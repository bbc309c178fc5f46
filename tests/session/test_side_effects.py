"""Side effects of an action outside the DOM are reported with its result, or with the next one if they come later."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bridge import Session
from bridge.page.page import Page
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><title>Page</title><a href='/other' target=_blank>Window</a>
<a href='http://10.0.0.1/' target=_blank>Refused</a><input type=file aria-label=File><a href='/report'>Report</a>
<p>Words</p>"""


class _Site(QuietHandler):
    def do_GET(self) -> None:
        if self.path == "/report":
            self.respond(b"%PDF-1.4\n%%EOF\n", "application/pdf")
        elif self.path == "/empty":
            self.respond(b"")
        else:
            self.respond(PAGE.encode())


@pytest.fixture
def site() -> Iterator[LocalServer]:
    with listening(_Site) as server:
        yield server


@pytest.fixture
async def page(webview_device: str, site: LocalServer, tmp_path: Path) -> AsyncIterator[Page]:
    async with Session.open(webview_device, grants=[site.grant], downloads_root=tmp_path) as session:
        opened = await session.new_page()
        await opened.goto(site.url(""))
        yield opened


async def notice_of(page: Page, name: str, words: str) -> str:
    """The notice with this text, of the click or of one of the results after it."""
    ref = (await page.snapshot(interactive_only=False)).find(name=name).ref
    notices = (await page.click(ref)).notices
    for _ in range(20):
        for notice in notices:
            if words in notice:
                return notice
        notices = (await page.scroll("down")).notices
    raise AssertionError(f"no notice with {words!r}")


async def test_a_popup_is_reported_with_its_tab_id(page: Page) -> None:
    assert await notice_of(page, "Window", "the page opened a window") == "the page opened a window: t2"


async def test_a_refused_popup_is_reported(page: Page) -> None:
    assert "10.0.0.1" in await notice_of(page, "Refused", "was closed")


async def test_a_file_chooser_that_was_cancelled_is_reported(page: Page) -> None:
    assert "upload" in await notice_of(page, "File", "a file chooser opened")


async def test_a_discarded_download_is_reported(page: Page, site: LocalServer) -> None:
    assert site.url("report") in await notice_of(page, "Report", "a download started")


async def test_a_requested_download_is_not_reported_as_discarded(page: Page) -> None:
    ref = (await page.snapshot()).find(name="Report").ref
    await page.download("report.pdf", ref=ref)
    assert not any("download" in notice for notice in (await page.scroll("down")).notices)


async def test_a_page_without_text_reports_that_there_is_nothing_to_read(page: Page, site: LocalServer) -> None:
    assert (await page.read()).notices == ()
    await page.goto(site.url("empty"))
    read = await page.read()
    assert (read.markdown.strip(), read.notices) == ("", ("the page has no text to read",))

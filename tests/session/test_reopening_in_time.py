"""An operation that has to reopen its tab first stays within its own timeout."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from bridge import Session
from bridge.errors import DeadlineExceeded, TabLost
from bridge.page.page import Page
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

pytestmark = pytest.mark.browser


class _Once(QuietHandler):
    """Answers `/once` once."""

    is_over = threading.Event()
    asked = 0

    def do_GET(self) -> None:
        if self.path == "/once":
            _Once.asked += 1
            if _Once.asked > 1:
                self.is_over.wait()
        self.respond(b"<!doctype html><title>Page</title><button>Go</button>")


@pytest.fixture
def site() -> Iterator[LocalServer]:
    _Once.is_over.clear()
    _Once.asked = 0
    with listening(_Once) as server:
        yield server
        _Once.is_over.set()


@pytest.fixture
async def page(webview_device: str, site: LocalServer) -> AsyncIterator[Page]:
    """A tab to be reopened at an address that does not answer any more."""
    async with Session.open(webview_device, grants=[site.grant]) as session:
        opened = await session.new_page(site.url("once"))
        assert await opened._tab.kill_renderer(timeout_s=5)
        yield opened


async def test_an_operation_that_reopens_its_tab_ends_at_its_deadline(page: Page, site: LocalServer) -> None:
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        await page.snapshot(timeout_s=3)
    assert time.monotonic() - began < 15  # opening a tab alone may take twice as long

    with pytest.raises(TabLost, match="no response from the server yet"):  # not the content of a blank tab
        await page.snapshot()
    assert (await page.goto(site.url("other"))).title == "Page"


async def test_the_action_gets_the_time_that_reopening_leaves(page: Page) -> None:
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        await page.wait_for(text="never", timeout_s=6)
    assert time.monotonic() - began < 15

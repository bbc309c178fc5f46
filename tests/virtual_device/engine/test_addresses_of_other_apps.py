"""Addresses of other apps are not gone to, and that is said; a PDF is a download: as in a WebView, not as in Chrome."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from bridge import Session, TestServerGrant
from bridge.errors import BridgeError, NavigationFailed, PolicyRefused
from bridge.page.page import Page
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

pytestmark = pytest.mark.browser

BUTTON = "<button onclick=\"this.textContent='Done'\">Go</button>"
PAGES = {
    "/links": "<a href='tel:123'>Call</a> <a href='mailto:a@b.example'>Write</a> <a href='intent://x#Intent;end'>App</a>"
    f"<a href='market:x' target=_blank>Shop</a>{BUTTON}",
    "/script": f"<button onclick=\"location='tel:1'\">Ring</button>{BUTTON}",
    "/frame": f"<iframe src='tel:123'></iframe>{BUTTON}",
}
# The dialog takes about a second to come up.
DIALOG_MS = 2_000


class _Site(QuietHandler):
    def do_GET(self) -> None:
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path == "/report":
            self.respond(b"%PDF-1.4\n%%EOF\n", "application/pdf")
        else:
            self.respond(f"<!doctype html><title>Page</title>{PAGES[self.path]}".encode())


@pytest.fixture
def site() -> Iterator[LocalServer]:
    with listening(_Site) as server:
        yield server


@pytest.fixture
async def page(webview_device: str, site: LocalServer) -> AsyncIterator[Page]:
    async with Session.open(webview_device, grants=[TestServerGrant("127.0.0.1", site.port)]) as session:
        yield await session.new_page()


async def takes_a_tap(page: Page) -> None:
    """After the time that the dialog would have needed."""
    waited = f"new Promise((done) => setTimeout(() => done(true), {DIALOG_MS}))"
    await page.wait_for(function=waited, timeout_s=20)
    button = (await page.snapshot()).find(name="Go").ref
    assert "Done" in (await page.click(button, timeout_s=20)).changes.text


@pytest.mark.parametrize(("name", "scheme"), [("Call", "tel"), ("Write", "mailto"), ("App", "intent")])
async def test_a_tapped_link_of_another_app_says_so_and_the_tab_goes_on(
    page: Page, site: LocalServer, name: str, scheme: str
) -> None:
    await page.goto(site.url("links"))

    clicked = await page.click((await page.snapshot()).find(name=name).ref)

    assert f"{scheme}: links are never opened" in " ".join(clicked.notices)
    assert clicked.changes.settled != "navigation"
    assert page.url == site.url("links")
    await takes_a_tap(page)


async def test_a_script_that_goes_to_another_app_says_so_and_the_tab_goes_on(page: Page, site: LocalServer) -> None:
    await page.goto(site.url("script"))

    clicked = await page.click((await page.snapshot()).find(name="Ring").ref)

    assert "tel: links are never opened" in " ".join(clicked.notices)
    await takes_a_tap(page)


async def test_a_window_for_another_app_leaves_the_tab_alone(page: Page, site: LocalServer) -> None:
    await page.goto(site.url("links"))
    await page.click((await page.snapshot()).find(name="Shop").ref)
    await takes_a_tap(page)


async def test_a_frame_of_another_app_leaves_the_tab_alone(page: Page, site: LocalServer) -> None:
    opened = await page.goto(site.url("frame"))
    assert "tel: links are never opened" in " ".join(opened.notices)
    await takes_a_tap(page)


@pytest.mark.parametrize("address", ["tel:1", "intent://x/", "weird:1"])
async def test_a_redirect_to_another_app_is_refused_and_the_tab_goes_on(
    page: Page, site: LocalServer, address: str
) -> None:
    with pytest.raises(PolicyRefused, match="redirects to a URL that is neither http nor https"):
        await page.goto(site.url(f"to/{address}"))
    await page.goto(site.url("links"))
    await takes_a_tap(page)


async def test_a_pdf_is_a_download_and_no_page(page: Page, site: LocalServer) -> None:
    await page.goto(site.url("links"))

    with pytest.raises(BridgeError, match="may start a download") as caught:
        await page.goto(site.url("report"))

    assert isinstance(caught.value, NavigationFailed)
    assert page.url == site.url("links")

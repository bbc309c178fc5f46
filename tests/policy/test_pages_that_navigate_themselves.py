"""Pages that navigate by themselves: the result has the final URL, and error pages are not content."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from html import escape
from urllib.parse import parse_qs, urlsplit

import pytest

from bridge import Session, TestServerGrant
from bridge.errors import NavigationFailed, PolicyRefused
from bridge.page.page import Page
from bridge.policy import BrowserPolicy
from bridge.policy.pinning import PinnedEgress
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

pytestmark = pytest.mark.browser

INSIDE = "http://10.0.0.1/inside"


class _GoesOn(QuietHandler):
    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        to = parse_qs(asked.query).get("to", [""])[0]
        if asked.path == "/redirect":
            self.send_response(302)
            self.send_header("Location", to)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if asked.path in ("/broken", "/nothing"):
            self.close_connection = True
            self.wfile.write(b"HTTP/1.1 204 No Content\r\n\r\n" if asked.path == "/nothing" else b"What?\r\n\r\n")
            return
        if asked.path == "/short":
            self.close_connection = True
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<p>Not")
            return
        body = {
            "/script": f"<script>location = '{to}'</script>",
            "/parsing": f"<h1>Before</h1><script>location = '{to}'</script><p>After</p>",
            "/meta": f'<meta http-equiv="refresh" content="0;url={escape(to)}">',
            "/form": f'<form action="{escape(to)}" method="post"><button>Go on</button></form>',
            "/submit": f'<form id="f" action="{escape(to)}"></form><button onclick="f.submit()">Go on</button>',
            "/assign": f"<button onclick=\"location.assign('{to}')\">Go on</button>",
            "/frame": f"<iframe id='i'></iframe><button onclick=\"i.src = '{to}'\">Go on</button>",
            "/link": f'<a href="{escape(to)}">Go on</a>',
        }.get(asked.path, "<h1>Fine</h1>")
        content = f"<!doctype html><title>Page</title>{body}".encode()
        self.send_response(200)
        if asked.path == "/header":
            self.send_header("Refresh", f"0;url={to}")
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def site() -> Iterator[LocalServer]:
    with listening(_GoesOn) as server:
        yield server


@pytest.fixture
def closed_port() -> Iterator[int]:
    """One at which nothing listens and nothing else can, as long as the test lasts."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
async def page(webview_device: str, site: LocalServer, closed_port: int) -> AsyncIterator[Page]:
    grants = [TestServerGrant("127.0.0.1", port) for port in (site.port, closed_port)]
    egress = PinnedEgress(BrowserPolicy(default_action="allow"), grants)
    async with Session.open(webview_device, egress=egress) as session:
        yield await session.new_page()


async def follow(page: Page, url: str) -> None:
    """The first document may have come to its load event before it goes on."""
    refusal = next((notice for notice in (await page.goto(url)).notices if "stays open" in notice), None)
    if refusal is not None:
        raise PolicyRefused(refusal.partition(": ")[2])
    await page.wait_for(url="http://10.*/inside", timeout_s=20)


@pytest.mark.parametrize("way", ["script", "meta", "header"])
async def test_a_client_redirect_to_a_refused_address_is_refused(page: Page, site: LocalServer, way: str) -> None:
    with pytest.raises(PolicyRefused, match=r"http://10\.0\.0\.1/inside is refused: .*private"):
        await follow(page, site.url(f"{way}?to={INSIDE}"))

    assert page.url == site.url(f"{way}?to={INSIDE}")
    assert (await page.snapshot()).title == "Page"
    assert (await page.goto(site.url("fine"))).status == 200
    assert "Fine" in (await page.snapshot(interactive_only=False)).text


async def test_a_page_that_goes_on_while_it_is_parsed_keeps_what_was_parsed(page: Page, site: LocalServer) -> None:
    """Chromium stops the parser when a script navigates; no answer (an abort, a 204, a download) makes it go on."""
    with pytest.raises(PolicyRefused):
        await follow(page, site.url(f"parsing?to={INSIDE}"))
    shown = (await page.snapshot(interactive_only=False)).text
    assert "Before" in shown
    assert "After" not in shown
    assert (await page.goto(site.url("fine"))).status == 200


async def test_a_client_redirect_that_cannot_load_fails(page: Page, site: LocalServer, closed_port: int) -> None:
    with pytest.raises(NavigationFailed, match=rf"http://127.0.0.1:{closed_port}/ did not load"):
        await page.goto(site.url(f"script?to=http://127.0.0.1:{closed_port}/"))


async def test_a_failure_is_not_explained_by_an_earlier_one(page: Page, site: LocalServer) -> None:
    with pytest.raises(NavigationFailed, match="ERR_INVALID_HTTP_RESPONSE"):
        await page.goto(site.url("broken"))
    with pytest.raises(NavigationFailed, match="ERR_ABORTED"):
        await page.goto(site.url("nothing"))


async def test_a_truncated_document_is_reported(page: Page, site: LocalServer) -> None:
    opened = await page.goto(site.url("short"))

    assert opened.status == 200
    assert any("ended before it was complete" in notice for notice in opened.notices), opened.notices


async def test_a_redirect_to_a_file_url_is_refused(page: Page, site: LocalServer) -> None:
    with pytest.raises(PolicyRefused, match=r"redirect\?to=file:.* is refused: it redirects"):
        await page.goto(site.url("redirect?to=file:///etc/passwd"))


async def test_tapping_a_link_to_a_refused_address_reports_the_refusal(page: Page, site: LocalServer) -> None:
    for way in (INSIDE, site.url(f"redirect?to={INSIDE}")):
        await page.goto(site.url(f"link?to={way}"))
        shot = await page.snapshot()

        with pytest.raises(PolicyRefused, match=r"http://10\.0\.0\.1/inside is refused: .*private") as refused:
            await page.click(shot.find(role="link").ref)
        assert refused.value.details == {"url": INSIDE, "rule": "range:private", "page": site.url(f"link?to={way}")}
        after = await page.snapshot()
        assert (after.url, after.find(role="link").ref) == (shot.url, shot.find(role="link").ref)
        shown = [*(entry.url for entry in page.network().entries), *map(str, page.console().entries)]
        assert not any(line.startswith(("chrome-error:", "data:")) for line in shown)


@pytest.mark.parametrize("way", ["form", "submit", "assign", "frame"])
async def test_every_way_to_a_refused_address_leaves_the_page_as_it_was(
    page: Page, site: LocalServer, way: str
) -> None:
    await page.goto(site.url(f"{way}?to={INSIDE}"))
    before = await page.snapshot()

    with pytest.raises(PolicyRefused, match=r"10\.0\.0\.1") if way != "frame" else nullcontext():
        await page.click(before.find(role="button").ref)

    after = await page.snapshot()
    assert after.url == before.url
    assert after.find(role="button").ref == before.find(role="button").ref
    assert "chrome-error" not in after.text


async def test_a_name_of_a_private_address_is_refused_before_the_page_is_left(
    webview_device: str, site: LocalServer
) -> None:
    async def resolve(host: str) -> tuple[str, ...]:
        return ("10.1.2.3",)

    grants = [TestServerGrant("127.0.0.1", site.port)]
    egress = PinnedEgress(BrowserPolicy(default_action="allow"), grants, resolve=resolve)
    async with Session.open(webview_device, egress=egress) as session:
        page = await session.new_page(site.url("link?to=http://intranet.example/"))
        link = (await page.snapshot()).find(role="link").ref
        with pytest.raises(PolicyRefused, match=r"intranet\.example"):
            await page.click(link)
        assert (await page.snapshot()).find(role="link").ref == link

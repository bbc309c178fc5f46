"""Downloads started by a tap take one request and are saved whole or not at all."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from bridge import Session
from bridge.errors import DeadlineExceeded, NavigationFailed, PolicyRefused, UsageError
from bridge.page.fetch_messages import PausedResponse
from bridge.page.files.response_interception import is_download
from bridge.page.page import Page
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

PAGE = b"""<!doctype html><title>Offers</title><meta name=viewport content="width=device-width">
<a href=/attachment>Attachment</a> <a href=/plain download>Plain</a> <a href=/archive>Archive</a>
<a href=/redirected>Redirected</a> <a href=/broken>Broken</a> <a href=/page>Page</a>
<a href=/away>Away</a> <a href=/unmeasured>Unmeasured</a> <a href=/attachment target=_blank>Window</a>
<form method=post action=/made><input name=kind value=csv hidden><button>Make</button></form>
<form method=post action=/endless><button>Flood</button></form>
<iframe srcdoc="<a href=/attachment>Inside</a>"></iframe>"""
CONTENT = bytes(range(256)) * 8_000


class _Offers(QuietHandler):
    asked: ClassVar[Counter[str]] = Counter()
    broken_off = threading.Event()

    def do_GET(self) -> None:
        self.asked[self.path] += 1
        match self.path:
            case "/" | "/page":
                self.respond(PAGE)
            case "/attachment":
                self.respond(CONTENT, "text/plain", Content_Disposition='attachment; filename="numbers.txt"')
            case "/plain":
                self.respond(CONTENT, "text/plain")
            case "/archive":
                self.respond(CONTENT, "application/zip")
            case "/redirected" | "/away":
                location = "/attachment" if self.path == "/redirected" else "http://127.0.0.1:1/x"
                self.respond(b"", status=302, Location=location)
            case "/broken":
                self.begin("text/csv", 100_000)
                self.wfile.write(b"x" * 5_000)
                self.wfile.flush()
                self.connection.close()
            case "/unmeasured":
                self.begin("text/csv", None)
                self.wfile.write(b"a;b")
            case _:
                self.send_error(404)

    def do_POST(self) -> None:
        self.asked[f"POST {self.path}"] += 1
        form = self.rfile.read(int(self.headers["Content-Length"]))
        self.begin("text/csv", None)
        try:
            self.wfile.write(b"made of " + form)
            while self.path == "/endless":
                self.wfile.write(b"x" * 65_536)
        except OSError:
            self.broken_off.set()


@pytest.fixture(scope="module")
def site() -> Iterator[LocalServer]:
    with listening(_Offers) as server:
        yield server


@pytest.fixture
async def offers(webview_device: str, site: LocalServer, tmp_path: Path) -> AsyncIterator[Page]:
    _Offers.asked.clear()
    async with Session.open(webview_device, grants=[site.grant], downloads_root=tmp_path) as session:
        yield await session.new_page(site.url())


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def ref_of(page: Page, name: str) -> str:
    shot = await page.snapshot()
    return next(ref for ref, node in shot.refs.items() if node.name == name)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "path", "suggested", "mime"),
    [
        ("Attachment", "/attachment", "numbers.txt", "text/plain"),
        ("Plain", "/plain", "", "text/plain"),
        ("Archive", "/archive", "", "application/zip"),
        ("Redirected", "/attachment", "numbers.txt", "text/plain"),
        ("Inside", "/attachment", "numbers.txt", "text/plain"),
    ],
)
async def test_a_download_started_by_a_tap_takes_one_request(
    offers: Page, site: LocalServer, tmp_path: Path, name: str, path: str, suggested: str, mime: str
) -> None:
    got = await offers.download("got", ref=await ref_of(offers, name), timeout_s=10)
    assert (tmp_path / "got").read_bytes() == CONTENT
    assert (got.url, got.suggested_name, got.mime, got.status) == (site.url(path), suggested, mime, 200)
    assert _Offers.asked[path] == 1
    assert (await offers.snapshot()).title == "Offers"
    # Nothing is left behind that would keep the page's answers waiting.
    assert (await offers.goto(site.url("page"))).status == 200


@pytest.mark.browser
async def test_the_response_to_a_submitted_form_is_downloaded(offers: Page, tmp_path: Path) -> None:
    got = await offers.download("made.csv", ref=await ref_of(offers, "Make"), timeout_s=10)
    assert (tmp_path / "made.csv").read_bytes() == b"made of kind=csv"
    assert _Offers.asked["POST /made"] == 1
    assert got.mime == "text/csv"
    assert "sent no length" in got.notices[0]


@pytest.mark.browser
async def test_a_response_without_a_length_is_fetched_again_to_know_whether_it_is_complete(
    offers: Page, tmp_path: Path
) -> None:
    got = await offers.download("got.csv", ref=await ref_of(offers, "Unmeasured"), timeout_s=10)
    assert (tmp_path / "got.csv").read_bytes() == b"a;b"
    assert _Offers.asked["/unmeasured"] == 2
    assert got.notices == ()


@pytest.mark.browser
async def test_an_incomplete_transfer_leaves_no_file(offers: Page, tmp_path: Path) -> None:
    with pytest.raises(NavigationFailed):
        await offers.download("x", ref=await ref_of(offers, "Broken"), timeout_s=10)
    with pytest.raises(UsageError, match=r"max_bytes \(1000\)"):
        await offers.download("x", ref=await ref_of(offers, "Attachment"), timeout_s=10, max_bytes=1_000)
    with pytest.raises(UsageError):
        await offers.download("x", ref=await ref_of(offers, "Flood"), timeout_s=10, max_bytes=1_000_000)
    assert await asyncio.to_thread(_Offers.broken_off.wait, 10)
    assert names_in(tmp_path) == []
    assert _Offers.asked["/broken"] == _Offers.asked["/attachment"] == _Offers.asked["POST /endless"] == 1
    assert (await offers.snapshot()).title == "Offers"


@pytest.mark.browser
async def test_a_page_that_a_tap_opens_is_not_downloaded(offers: Page, site: LocalServer, tmp_path: Path) -> None:
    with pytest.raises(DeadlineExceeded, match="nothing was downloaded"):
        await offers.download("x", ref=await ref_of(offers, "Page"), timeout_s=2)
    assert offers.url == site.url("page")
    assert names_in(tmp_path) == []


@pytest.mark.browser
async def test_a_download_that_the_policy_forbids_is_refused(offers: Page, tmp_path: Path) -> None:
    with pytest.raises((DeadlineExceeded, PolicyRefused)):
        await offers.download("x", ref=await ref_of(offers, "Away"), timeout_s=2)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    ("status", "disposition", "kind", "is_navigation", "expected"),
    [
        (200, "attachment", "text/html", True, True),
        (200, 'ATTACHMENT; filename="a"', "", True, True),
        (200, "unknown", "text/html", True, True),
        (200, "inline; filename=a.csv", "text/html", True, False),
        (200, "filename=a.csv", "text/html", True, False),
        (200, "", "text/html", False, True),
        (404, "attachment", "text/csv", True, False),
        (204, "", "text/csv", False, False),
        (200, "", "application/octet-stream", True, True),
        (200, "", "application/pdf; charset=x", True, True),
        (200, "", "application/ld+json", True, False),
        (200, "", "application/xhtml+xml", True, False),
        (200, "", "TEXT/CSV", True, True),
        (200, "", "text/plain", True, False),
        (200, "", "image/png", True, False),
        (200, "", "", True, False),
    ],
)
def test_only_responses_that_every_engine_downloads_are_intercepted(
    status: int, disposition: str, kind: str, is_navigation: bool, expected: bool
) -> None:
    headers = {"content-disposition": disposition, "content-type": kind}
    answer = PausedResponse("1", "https://a.example/", "GET", status, headers)
    assert is_download(answer, is_navigation=is_navigation) is expected

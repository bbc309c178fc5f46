"""Windows that pages open become tabs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from bridge import Session
from bridge.errors import DeadlineExceeded, PolicyRefused
from bridge.surfaces.local_server import LocalServer
from tests.temp_sites import own_site

pytestmark = pytest.mark.browser

OPENER = """<!doctype html><title>Opener</title><meta name=viewport content="width=device-width">
<a href="/second" target=_blank>Window</a> <button onclick="window.open('/second')">Script</button>
<a href="http://127.0.0.1:1/" target=_blank>Forbidden</a> <button>Nothing</button>"""
SECOND = "<!doctype html><title>Second window</title><button>In the window</button>"


@pytest.fixture(scope="module")
def site() -> Iterator[LocalServer]:
    with own_site({"/": OPENER, "/second": SECOND}) as server:
        yield server


@pytest.fixture
async def session(webview_device: str, site: LocalServer) -> AsyncIterator[Session]:
    async with Session.open(webview_device, grants=[site.grant]) as session:
        yield session


@pytest.mark.parametrize("how", ["Window", "Script"])
async def test_a_popup_is_a_page_of_its_own(session: Session, site: LocalServer, how: str) -> None:
    page = await session.new_page(site.url(""))
    ref = (await page.snapshot()).find(name=how).ref
    async with page.expect_popup() as popup:
        await page.click(ref)
    await (await popup.value).wait_for(text="In the window", timeout_s=10)
    assert (await (await popup.value).snapshot()).title == "Second window"
    assert list(session.tabs) == ["t1", "t2"]
    assert session.tabs["t2"] is await popup.value
    assert (await page.snapshot()).title == "Opener"
    await (await popup.value).close()
    assert list(session.tabs) == ["t1"]


async def test_an_unexpected_popup_becomes_a_tab(session: Session, site: LocalServer) -> None:
    page = await session.new_page(site.url(""))
    await page.click((await page.snapshot()).find(name="Window").ref)
    async with page.expect_popup() as popup:
        await page.click((await page.snapshot()).find(name="Script").ref)
    assert len(session.tabs) == 3
    assert (await popup.value).tab_id in ("t2", "t3")


async def test_a_missing_popup_and_a_forbidden_one_are_errors(session: Session, site: LocalServer) -> None:
    page = await session.new_page(site.url(""))
    shot = await page.snapshot()

    async def tapped(name: str, timeout_s: float) -> None:
        async with page.expect_popup(timeout_s=timeout_s):
            await page.click(shot.find(name=name).ref)

    with pytest.raises(DeadlineExceeded, match="no window was opened"):
        await tapped("Nothing", 0.5)
    with pytest.raises(PolicyRefused):
        await tapped("Forbidden", 10)
    assert list(session.tabs) == ["t1"]

"""The current tab of a client: popups adopted, tabs chosen and closed, pages that close their own window."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from bridge import Session
from bridge.errors import TabLost
from bridge.page.page import Page
from bridge.session.tab_cursor import TabCursor
from bridge.surfaces.local_server import LocalServer
from tests.temp_sites import own_site

pytestmark = pytest.mark.browser

OPENER = """<!doctype html><title>Opener</title><meta name=viewport content="width=device-width">
<button onclick="window.open('/popup')">Open</button>"""
POPUP = """<!doctype html><title>Popup</title><meta name=viewport content="width=device-width">
<button onclick="window.close()">Close</button> <button onclick="window.open('/popup')">Open</button>"""


@pytest.fixture(scope="module")
def site() -> Iterator[LocalServer]:
    with own_site({"/": OPENER, "/popup": POPUP}) as server:
        yield server


@pytest.fixture
async def session(webview_device: str, site: LocalServer) -> AsyncIterator[Session]:
    async with Session.open(webview_device, grants=[site.grant]) as session:
        yield session


def following(session: Session) -> TabCursor:
    return TabCursor(session, owns="opened", popups="follow", open_hint="navigate opens one.")


def staying(session: Session) -> TabCursor:
    return TabCursor(session, owns="opened", popups="stay", open_hint="web_open opens one.")


def owning_all(session: Session) -> TabCursor:
    return TabCursor(session, owns="all", popups="stay", open_hint="open opens one.")


async def open_popup(page: Page) -> Page:
    async with page.expect_popup() as popup:
        await page.get_by_role("button", name="Open").click()
    return await popup.value


async def close_own_window(page: Page) -> None:
    await page.get_by_role("button", name="Close").click()


async def test_without_a_tab_the_error_says_how_to_open_one(session: Session) -> None:
    cursor = following(session)
    assert cursor.current is None
    with pytest.raises(TabLost, match="no tab is open") as caught:
        cursor.page()
    assert caught.value.hint == "navigate opens one."
    assert cursor.describe_current() == "No tab is open; navigate opens one."


async def test_popups_become_current_where_the_cursor_follows_them(session: Session, site: LocalServer) -> None:
    follow, stay = following(session), staying(session)
    opener = await session.new_page(site.url(""))
    follow.add(opener)
    stay.add(opener)
    popup = await open_popup(opener)
    assert await follow.adopt_popups() == await stay.adopt_popups() == (popup,)
    assert follow.page() is popup
    assert stay.page() is opener
    assert follow.pages == stay.pages == (opener, popup)
    assert follow.sync() == ()


async def test_a_popup_of_a_popup_belongs_to_the_client_although_its_opener_is_closed(
    session: Session, site: LocalServer
) -> None:
    cursor = following(session)
    opener = await session.new_page(site.url(""))
    cursor.add(opener)
    popup = await open_popup(opener)
    cursor.sync()
    second = await open_popup(popup)
    await cursor.close(popup)
    assert cursor.sync() == (second,)
    assert cursor.all_tab_ids == {"t1", "t2", "t3"}


async def test_tabs_of_another_client_are_left_alone(session: Session, site: LocalServer) -> None:
    mine, theirs, everything = following(session), following(session), owning_all(session)
    first = await session.new_page(site.url(""))
    mine.add(first)
    second = await session.new_page(site.url(""))
    theirs.add(second)
    popup = await open_popup(second)
    assert mine.sync() == ()
    with pytest.raises(TabLost, match=r"unknown tab 't3' \(open: t1\)"):
        mine.choose(popup.tab_id)
    assert everything.sync() == (first, second, popup)
    assert everything.page() is popup
    await theirs.close_all()
    assert session.pages == (first,)


@pytest.mark.parametrize("build", [following, staying, owning_all])
async def test_a_current_tab_that_closed_its_window_is_reported_once(
    session: Session, site: LocalServer, build: Callable[[Session], TabCursor]
) -> None:
    cursor = build(session)
    opener = await session.new_page(site.url(""))
    cursor.add(opener)
    popup = await open_popup(opener)
    cursor.sync()
    assert cursor.choose(popup.tab_id) is popup
    await close_own_window(popup)
    cursor.sync()
    assert cursor.current is opener
    with pytest.raises(TabLost, match="t2 is gone: its page closed its own window") as caught:
        cursor.page()
    assert caught.value.hint == "The current tab is t1 now."
    assert cursor.page() is opener
    assert cursor.take_closed() is None


async def test_choosing_a_tab_replaces_the_report_of_a_closed_one(session: Session, site: LocalServer) -> None:
    cursor = following(session)
    opener = await session.new_page(site.url(""))
    cursor.add(opener)
    popup = await open_popup(opener)
    cursor.sync()
    await close_own_window(popup)
    cursor.sync()
    assert cursor.choose("t1") is opener
    assert cursor.page() is opener


async def test_a_closed_tab_gives_way_to_the_one_chosen_before_it(session: Session) -> None:
    cursor = owning_all(session)
    pages = [await session.new_page() for _ in range(3)]
    cursor.sync()
    assert cursor.current is pages[2]
    cursor.choose("t1")
    await cursor.close(pages[0])
    assert cursor.page() is pages[2]
    await cursor.close_all()
    assert session.pages == ()
    assert cursor.describe_current() == "No tab is open; open opens one."


async def test_a_popup_replaces_its_opener_that_closed_itself(session: Session, site: LocalServer) -> None:
    cursor = staying(session)
    opener = await session.new_page(site.url(""))
    cursor.add(opener)
    popup = await open_popup(opener)
    cursor.sync()
    cursor.choose(popup.tab_id)
    second = await open_popup(popup)
    await close_own_window(popup)
    assert cursor.sync() == (second,)
    assert cursor.current is second
    assert cursor.take_closed() is popup

"""Windows that their own page closes, as login popups do: the closing action succeeds, and the tab stays closed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from bridge import Session
from bridge.errors import TabLost
from bridge.model_tools import ClientContext, PendingElicitation, ServerContext, SharedSession
from bridge.page.page import Page
from bridge.surfaces.kept_session import KeptSession
from bridge.surfaces.local_server import LocalServer
from tests.temp_sites import own_site

pytestmark = pytest.mark.browser

OPENER = """<!doctype html><title>Shop</title><meta name=viewport content="width=device-width"><p id=who>nobody</p>
<button onclick="window.open('/login')">Login</button> <button onclick="window.open('/at-once')">At once</button>
<script>onmessage = event => { who.textContent = 'hello ' + event.data }</script>"""
LOGIN = """<!doctype html><title>Login</title><meta name=viewport content="width=device-width"><input aria-label=Name>
<button onclick="opener.postMessage('Ada', '*'); window.close()">Allow</button>
<button onclick="setTimeout(() => window.close(), 700)">Later</button>"""
AT_ONCE = "<!doctype html><title>At once</title><script>opener.postMessage('Bo', '*'); window.close()</script>"


@pytest.fixture(scope="module")
def site() -> Iterator[LocalServer]:
    with own_site({"/": OPENER, "/login": LOGIN, "/at-once": AT_ONCE}) as server:
        yield server


@pytest.fixture
async def session(webview_device: str, site: LocalServer) -> AsyncIterator[Session]:
    async with Session.open(webview_device, grants=[site.grant]) as session:
        yield session


async def opened_windows(session: Session, site: LocalServer) -> tuple[Page, Page]:
    page = await session.new_page(site.url(""))
    async with page.expect_popup() as popup:
        await page.get_by_role("button", name="Login").click()
    await (await popup.value).wait_for(text="Allow", timeout_s=20)
    return page, await popup.value


@pytest.mark.parametrize("how", ["touch", "script"])
async def test_an_action_that_closes_its_own_window_succeeds(session: Session, site: LocalServer, how: str) -> None:
    page, login = await opened_windows(session, site)
    done = await login.click((await login.snapshot()).find(name="Allow").ref, input=how)  # type: ignore[arg-type]
    assert "the page closed its own window: t2 is closed" in done.notices
    assert (done.changes.settled, done.changes.text) == ("closed", "not known: the page closed its own window")
    assert session.pages == (page,)
    await page.wait_for(text="hello Ada", timeout_s=20)
    assert "t2 is closed" in " ".join((await page.scroll("down")).notices)
    with pytest.raises(TabLost, match="t2 is gone: its page closed its own window") as caught:
        await login.snapshot()
    assert "session.pages" in caught.value.hint
    assert "reconnect" not in caught.value.hint
    assert await session.reconnect() == ()
    assert list(session.tabs) == ["t1"]


async def test_a_window_that_closes_itself_ends_waits_on_its_page(session: Session, site: LocalServer) -> None:
    page, login = await opened_windows(session, site)
    await login.get_by_role("button", name="Later").click()
    with pytest.raises(TabLost, match="t2 is gone: its page closed its own window"):
        await login.wait_for(text="never", timeout_s=20)
    with pytest.raises(TabLost, match="its page closed its own window"):
        await login.goto(site.url("login"))
    assert session.pages == (page,)


async def test_a_window_that_closes_itself_while_loading_does_not_become_a_tab(
    session: Session, site: LocalServer
) -> None:
    page = await session.new_page(site.url(""))
    with session.popups_of(page.tab_id) as opened:
        clicked = await page.get_by_role("button", name="At once").click()
        await page.wait_for(text="hello Bo", timeout_s=20)

        async def used() -> None:
            await (await opened.next(timeout_s=20)).wait_for(text="never", timeout_s=20)

        with pytest.raises(TabLost, match="its page closed its own window"):
            await used()
    notices = " ".join((*clicked.notices, *(await page.scroll("down")).notices))
    assert "closed itself: t2 is closed" in notices
    assert session.pages == (page,)


async def test_a_command_for_a_closed_window_does_not_reach_another_tab(session: Session, site: LocalServer) -> None:
    page, login = await opened_windows(session, site)
    commands = KeptSession(session)
    await commands.run("tab", {"tab": login.tab_id})
    await login.get_by_role("button", name="Later").click()
    with pytest.raises(TabLost):
        await login.wait_for(text="never", timeout_s=20)
    with pytest.raises(TabLost, match="t2 is gone") as caught:
        await commands.run("act", {"action": "click", "arguments": {"ref": "e1"}})
    assert caught.value.hint == "The current tab is t1 now."
    tabs = (await commands.run("tabs", {})).json["tabs"]
    assert [(row["tab"], row["current"]) for row in tabs] == [(page.tab_id, True)]


async def test_a_model_learns_once_that_its_tab_has_closed_and_which_one_is_current(
    session: Session, site: LocalServer
) -> None:
    @asynccontextmanager
    async def opener() -> AsyncIterator[Session]:
        yield session

    async with SharedSession(opener) as shared:
        client = ClientContext(ServerContext(session.egress, shared, PendingElicitation()))
        page = await client.new_page()
        await page.goto(site.url(""))
        login_ref = (await page.snapshot()).find(name="Login").ref
        await client.act("click", login_ref)
        login = (await client.tabs()).choose("t2")
        await login.wait_for(text="Allow", timeout_s=20)
        await login.get_by_role("button", name="Later").click()
        with pytest.raises(TabLost):
            await login.wait_for(text="never", timeout_s=20)
        with pytest.raises(TabLost, match="t2 is gone") as caught:
            await client.page()
        assert caught.value.hint == "The current tab is t1 now."
        assert await client.page() is page

"""Windows that pages open, tabs for one call, and state that is saved and put back."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge import Session, TestServerGrant
from bridge.errors import DeadlineExceeded, PolicyRefused, TabLost, UsageError
from bridge.page.page import Page
from bridge.surfaces.local_server import QuietHandler, listening
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

OPENER = b"""<!doctype html><title>Opener</title><meta name=viewport content="width=device-width">
<a href="/second" target=_blank>Window</a> <button onclick="window.open('/second')">Script</button>
<a href="http://127.0.0.1:1/" target=_blank>Forbidden</a> <button>Nothing</button>"""
SECOND = b"<!doctype html><title>Second window</title><button>In the window</button>"
TRACE = b"""<!doctype html><title>Trace</title><script>
  window.before = async () => ({
    cookie: document.cookie, local: localStorage.length, session: sessionStorage.length, history: history.length,
    caches: (await caches.keys()).length, databases: (await indexedDB.databases()).length,
    workers: (await navigator.serviceWorker.getRegistrations()).length,
  });
  window.leave = async () => {
    document.cookie = 'trail=1; max-age=1000'; localStorage.a = sessionStorage.a = 1;
    history.pushState(1, '', '?pushed');
    await (await caches.open('c')).put('/x', new Response('x'));
    await new Promise((done) => { const it = indexedDB.open('d'); it.onsuccess = () => (it.result.close(), done()); });
    await navigator.serviceWorker.register('/worker.js');
    await navigator.serviceWorker.ready;
  };
</script>"""


class _Server(QuietHandler):
    asked_for_cached = 0

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/cached":
            type(self).asked_for_cached += 1
        found = {"/": OPENER, "/second": SECOND, "/trace": TRACE, "/cached": b"cached"}
        kind = "text/javascript" if path == "/worker.js" else "text/html"
        body = b"self.onfetch = () => {}" if path == "/worker.js" else found.get(path, b"?")
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if path == "/cached":
            self.send_header("Cache-Control", "max-age=1000")
        if path == "/trace":
            self.send_header("Set-Cookie", "login=secret; HttpOnly; Max-Age=1000")
            self.send_header("X-Cookie-Seen", self.headers.get("Cookie", "-"))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with listening(_Server) as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture
async def session(webview_device: str, base: str) -> AsyncIterator[Session]:
    grant = TestServerGrant("127.0.0.1", int(base.rpartition(":")[2]))
    async with Session.open(webview_device, grants=[grant]) as session:
        yield session


async def run(page: Page, expression: str) -> Any:
    attachment = await page.attached()
    call = {"expression": expression, "awaitPromise": True, "returnByValue": True}
    reply = await attachment.call("Runtime.evaluate", call, timeout_s=10)
    assert "exceptionDetails" not in reply, reply["exceptionDetails"]
    return reply["result"].get("value")


@pytest.mark.parametrize("how", ["Window", "Script"])
async def test_a_window_that_a_page_opens_is_a_page_of_its_own(session: Session, base: str, how: str) -> None:
    page = await session.new_tab(base)
    ref = (await page.snapshot()).find(name=how).ref
    async with page.expect_popup() as popup:
        await page.click(ref)
    await popup.page.wait_for(text="In the window", timeout_s=10)
    assert (await popup.page.snapshot()).title == "Second window"
    assert list(session.tabs) == ["t1", "t2"]
    assert session.tabs["t2"] is popup.page
    assert (await page.snapshot()).title == "Opener"
    await session.close_tab(popup.page)
    assert list(session.tabs) == ["t1"]


async def test_a_window_that_nobody_expected_is_a_tab_all_the_same(session: Session, base: str) -> None:
    page = await session.new_tab(base)
    await page.click((await page.snapshot()).find(name="Window").ref)
    async with page.expect_popup() as popup:
        await page.click((await page.snapshot()).find(name="Script").ref)
    assert len(session.tabs) == 3
    assert popup.page.tab_id in ("t2", "t3")


async def test_no_window_and_a_forbidden_one_are_errors(session: Session, base: str) -> None:
    page = await session.new_tab(base)
    shot = await page.snapshot()

    async def tapped(name: str, timeout_s: float) -> None:
        async with page.expect_popup(timeout_s=timeout_s):
            await page.click(shot.find(name=name).ref)

    with pytest.raises(DeadlineExceeded, match="no window was opened"):
        await tapped("Nothing", 0.5)
    with pytest.raises(PolicyRefused):
        await tapped("Forbidden", 10)
    assert list(session.tabs) == ["t1"]


async def test_nothing_of_one_call_is_seen_by_the_next(session: Session, base: str) -> None:
    clean = None
    for _ in range(3):
        async with session.isolated() as page:
            await page.goto(f"{base}/trace")
            seen = await run(page, "before()")
            clean = clean or seen
            assert seen == clean
            assert (seen["cookie"], seen["local"], seen["session"]) == ("", 0, 0)
            assert (seen["caches"], seen["databases"], seen["workers"]) == (0, 0, 0)
            answered = page.network(url="/trace").entries[-1].response_headers
            assert answered["x-cookie-seen"] == "-"
            asked = _Server.asked_for_cached
            await run(page, "fetch('/cached')")
            assert _Server.asked_for_cached == asked + 1
            await run(page, "leave()")
            assert (await run(page, "before()"))["workers"] == 1
        assert not session.tabs


async def test_a_one_shot_page_takes_nothing_after_its_call_and_its_tab_is_gone_with_the_session(
    webview_device: str, base: str
) -> None:
    grant = TestServerGrant("127.0.0.1", int(base.rpartition(":")[2]))
    async with Session.open(webview_device, grants=[grant]) as session:
        async with session.isolated() as page:
            await page.goto(f"{base}/trace")
        with pytest.raises(TabLost, match="has been closed"):
            await page.snapshot()
    async with Session.open(webview_device) as session:
        assert await session.host_client.list_tabs(timeout_s=5) == ()


async def test_interactive_tabs_keep_their_state_beside_one_shot_ones(session: Session, base: str) -> None:
    kept = await session.new_tab(f"{base}/trace")
    await run(kept, "leave()")
    async with session.isolated() as page:
        await page.goto(f"{base}/trace")
        assert (await run(page, "before()"))["local"] == 0
    assert (await run(kept, "before()"))["local"] == 1
    assert "trail=1" in (await run(kept, "before()"))["cookie"]


async def test_a_call_that_fails_leaves_as_little_as_one_that_ends_well(session: Session, base: str) -> None:
    async def fails() -> None:
        async with session.isolated() as page:
            await page.goto(f"{base}/trace")
            await run(page, "leave()")
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        await fails()
    async with session.isolated() as page:
        await page.goto(f"{base}/trace")
        assert (await run(page, "before()"))["local"] == 0


async def test_saved_state_comes_back_and_only_its_owner_can_read_it(
    webview_device: str, base: str, tmp_path: Path
) -> None:
    grant = TestServerGrant("127.0.0.1", int(base.rpartition(":")[2]))
    target = tmp_path / "state.json"
    async with Session.open(webview_device, grants=[grant]) as session:
        page = await session.new_tab(f"{base}/trace")
        await run(page, "document.cookie = 'trail=; max-age=0', localStorage.clear()")
        await run(page, "localStorage.setItem('käse', '🧀'), sessionStorage.setItem('s', '1')")
        saved = await session.state_save(target)
    assert (saved.cookies, saved.origins, saved.items) == (1, 1, 2)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["state.json"]  # noqa: PTH208 -- no pathlib in async functions (ASYNC240)
    other = TestServerGrant("localhost", grant.port)
    async with Session.open(webview_device, grants=[grant, other]) as session:
        page = await session.new_tab()
        loaded = await session.state_load(target, page=page)
        assert (loaded.cookies, loaded.origins, loaded.items, loaded.notices) == (1, 1, 2, ())
        await page.goto(f"{base}/trace")
        assert await run(page, "localStorage.getItem('käse') + sessionStorage.getItem('s')") == "🧀1"
        assert page.network(url="/trace").entries[-1].response_headers["x-cookie-seen"] == "login=secret"
        without = await session.state_load(target)
        assert without.notices[0].startswith("session storage of")


async def test_files_that_are_no_saved_state_are_bad_usage(session: Session, tmp_path: Path) -> None:
    target = tmp_path / "state.json"
    good: dict[str, Any] = {"version": 1, "cookies": [], "origins": []}
    for wrong in (
        "",
        "[]",
        json.dumps({**good, "version": 2}),
        json.dumps({**good, "cookies": [{"name": 1, "domain": "h"}]}),
        json.dumps({**good, "cookies": [{"name": "n", "value": "v"}]}),
        json.dumps({**good, "origins": [{"origin": "file:///etc", "local": [], "session": []}]}),
        json.dumps({**good, "origins": [{"origin": "http://h/path", "local": [], "session": []}]}),
        json.dumps({**good, "origins": [{"origin": "http://h", "local": [["a"]], "session": []}]}),
        "[" * 100_000,
    ):
        target.write_text(wrong)
        with pytest.raises(UsageError):
            await session.state_load(target)
    with pytest.raises(UsageError):
        await session.state_load(tmp_path / "none.json")
    with pytest.raises(UsageError, match="no tab is open"):
        await session.state_save(target)


async def test_what_a_tab_stored_that_was_closed_before_its_session_ends_with_it_too(
    webview_device: str, base: str
) -> None:
    grant = TestServerGrant("127.0.0.1", int(base.rpartition(":")[2]))
    async with Session.open(webview_device, grants=[grant]) as first:
        page = await first.new_tab(f"{base}/trace")
        clean = await run(page, "before()")
        await run(page, "leave()")
        await first.close_tab(page)
    async with Session.open(webview_device, grants=[grant]) as second:
        assert await run(await second.new_tab(f"{base}/trace"), "before()") == clean


async def test_what_a_session_stored_ends_with_it_although_the_process_goes_on(
    webview_device: str, local_server: LocalServer
) -> None:
    store = "document.cookie='who=me;max-age=999';localStorage.who='me'"
    look = "document.cookie + '|' + localStorage.who"

    async def run(page: Page, expression: str) -> object:
        attachment = await page.attached()
        return (await attachment.call("Runtime.evaluate", {"expression": expression}, timeout_s=20))["result"]["value"]

    async with Session.open(webview_device, grants=[local_server.grant]) as first:
        page = await first.new_tab(local_server.url("second.html"))
        await run(page, store)
        other = await first.new_tab(local_server.url("second.html"))
        assert await run(other, look) == "who=me|me"
        pid = first.host.pid
        await first.close_tab(page)
        await first.close_tab(other)
    async with Session.open(webview_device, grants=[local_server.grant]) as second:
        assert second.host.pid == pid
        there = await second.new_tab(local_server.url("second.html"))
        assert await run(there, look) == "|undefined"
        await run(there, store)
    async with Session.open(webview_device, grants=[local_server.grant]) as third:
        assert await run(await third.new_tab(local_server.url("second.html")), look) == "|undefined"

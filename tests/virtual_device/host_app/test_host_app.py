"""The host app's twin: what pages do reaches the client as events, and what kills the app ends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bridge.errors import DeadlineExceeded, HostFailed, HostLost, HostVersionMismatch, TransportError
from bridge.host import HostClient, HostTab
from bridge.surfaces.local_server import QuietHandler, listening
from tests.virtual_device.engine_rig import TIMEOUT_S, VIEWPORT, Page, Rig, running_rig, web_server

pytestmark = pytest.mark.browser

SIZE: dict[str, Any] = {"width_px": 320, "height_px": 480, "density_dpi": 160, "timeout_s": TIMEOUT_S}
PAGE = VIEWPORT + (
    "<style>body{margin:0}a,input{display:block;box-sizing:border-box;width:100px;height:50px}</style><title>opener</title>"
    "<a id=w href='/second' target=_blank>open</a><a id=d href='/report'>get</a>"
    "<input id=f type=file multiple accept='.pdf, image/*'><div style='height:3000px'></div>"
)
PAGES = {
    "/": PAGE,
    "/second": "<title>second</title>",
    "/report": "%PDF",
}
WINDOW, DOWNLOAD, CHOOSER = (10.0, 10.0), (10.0, 60.0), (10.0, 110.0)


class Clock:
    """A clock that stands until it is told."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    with web_server(PAGES) as port:
        async with running_rig() as started:
            started.device.reverse[3000] = port
            await started.start()
            yield started


@pytest.fixture
async def host(rig: Rig) -> AsyncIterator[HostClient]:
    async with rig.client() as client:
        yield client


async def test_a_tab_whose_client_gave_up_on_it_is_closed_when_it_is_there(host: HostClient) -> None:
    """Else the host would be full after a few of them, and nobody would know what they are called."""
    for _ in range(8):
        with suppress(DeadlineExceeded):
            await host.open_tab(**{**SIZE, "timeout_s": 0.001})
    async with asyncio.timeout(20):
        while True:
            with suppress(HostFailed):  # full until they are closed
                await host.open_tab(**SIZE)
                break


async def test_a_popup_is_a_tab_of_its_own_beside_its_opener(rig: Rig, host: HostClient) -> None:
    opener = await host.open_tab(**SIZE)
    async with rig.page(opener) as page:
        await page.goto("http://localhost:3000/")
        with host.events("popup") as popups:
            await page.tap(*WINDOW)
            event = (await anext(aiter(popups))).fields
        assert (event["opener"], event["width_px"], event["height_px"]) == (opener.tab, 320, 480)
        listed = await host.list_tabs(timeout_s=TIMEOUT_S)
        assert [tab["tab"] for tab in listed] == [opener.tab, event["tab"]]
        opener_id = await rig.target_id("http://localhost:3000/")
        (target_id,) = {entry["id"] for entry in await rig.json("/json/list")} - {opener_id}
        async with rig.cdp(f"/devtools/page/{target_id}") as cdp:
            popup = Page(cdp)
            assert await popup.until("location.pathname == '/second' && innerWidth")
            assert "Mobile" in await popup.js("navigator.userAgent")
        await page.tap(*DOWNLOAD)  # the opener still takes input, and draws
        await page.call("Page.captureScreenshot")
        await host.close_tab(event["tab"], timeout_s=TIMEOUT_S)
        await page.call("Page.captureScreenshot")


async def test_popups_beyond_the_limit_are_refused(rig: Rig, host: HostClient) -> None:
    opener = await host.open_tab(**SIZE)
    for _ in range(host.hello.max_tabs - 1):
        await host.open_tab(**SIZE)
    async with rig.page(opener) as page:
        with host.events("popup") as popups:
            await page.js("window.open('about:blank'); 1")
            event = (await anext(aiter(popups))).fields
    assert (event["tab"], event["opener"], event["refused"]) == (None, opener.tab, True)
    assert len(await host.list_tabs(timeout_s=TIMEOUT_S)) == host.hello.max_tabs


async def test_a_download_is_reported_and_not_started(rig: Rig, host: HostClient) -> None:
    tab = await host.open_tab(**SIZE)
    async with rig.page(tab) as page:
        await page.goto("http://localhost:3000/")
        with host.events("download") as downloads:
            await page.tap(*DOWNLOAD)
            event = (await anext(aiter(downloads))).fields
    assert (event["tab"], event["url"]) == (tab.tab, "http://localhost:3000/report")
    assert event["mime"] == "application/pdf"
    assert "r.pdf" in event["disposition"]
    assert "Android" in event["user_agent"]


async def test_a_file_chooser_gets_the_staged_files_once(rig: Rig, host: HostClient) -> None:
    tab = await host.open_tab(**SIZE)
    for name in ("a.pdf", "b.pdf"):
        await host.put_file(name, name.encode(), tab=tab.tab, chooser=True, timeout_s=TIMEOUT_S)
    async with rig.page(tab) as page:
        await page.goto("http://localhost:3000/")
        with host.events("file_chooser") as choosers:
            for answered in (["a.pdf", "b.pdf"], []):
                await page.tap(*CHOOSER)
                event = (await anext(aiter(choosers))).fields
                assert event["answered"] == answered
                assert (event["multiple"], event["accept"]) == (True, [".pdf", "image/*"])
        assert await page.js("Promise.all([...f.files].map(file => file.text()))") == ["a.pdf", "b.pdf"]


async def test_a_full_capture_is_as_high_as_the_page(rig: Rig, host: HostClient) -> None:
    tab = await host.open_tab(**(SIZE | {"density_dpi": 320}))
    async with rig.page(tab) as page:
        await page.goto("http://localhost:3000/")
        reply = await host.capture(tab.tab, full_page=True, timeout_s=TIMEOUT_S)
        assert reply.fields["height_px"] == 2 * (100 + 50 + 3000) == reply.fields["page_height_px"]
        assert reply.fields["width_px"] == 320
        assert int.from_bytes(reply.body[20:24], "big") == reply.fields["height_px"]
        assert await page.js("[innerWidth, innerHeight]") == [160, 240]


async def test_reset_leaves_nothing_of_the_page(rig: Rig, host: HostClient) -> None:
    tab = await host.open_tab(**SIZE)
    async with rig.page(tab) as page:
        await page.goto("http://localhost:3000/")
        await page.js("document.cookie = 'a=1; max-age=999'; localStorage.b = 2")
        fresh = await host.reset_tab(tab.tab, timeout_s=TIMEOUT_S)
        assert await page.js("location.href") == fresh.url
        assert await page.js("history.length") == 1
        await page.goto("http://localhost:3000/")
        assert await page.js("[document.cookie, localStorage.b]") == ["", None]


async def test_profiles_do_not_share_cookies(rig: Rig, host: HostClient) -> None:
    seen = []
    for profile in (None, "work", None):
        tab = await host.open_tab(**SIZE, profile=profile)
        async with rig.page(tab) as page:
            await page.goto("http://localhost:3000/")
            seen.append(await page.js("const old = document.cookie; document.cookie = 'a=1; max-age=999'; old"))
    assert seen == ["", "", "a=1"]


async def test_everything_goes_to_the_proxy_that_was_set(rig: Rig, host: HostClient) -> None:
    asked: list[str] = []

    class Gate(QuietHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.respond(b"gate")

        def do_CONNECT(self) -> None:
            asked.append(f"CONNECT {self.path}")
            self.send_error(403)

    with listening(Gate) as gate:
        rig.device.reverse[8888] = gate.port
        reply = await host.set_proxy("127.0.0.1", 8888, timeout_s=TIMEOUT_S)
        assert dict(reply.fields) == {"mechanism": "controller", "loopback": True}
        tab = await host.open_tab(**SIZE)
        async with rig.page(tab) as page:
            for url in ("http://localhost:3000/", "http://example.com/x"):
                await page.goto(url)
                assert await page.js("document.body.innerText") == "gate"
            await page.call("Page.navigate", url="https://example.com/")
        await host.close_tab(tab.tab, timeout_s=TIMEOUT_S)
        await host.set_proxy(None, timeout_s=TIMEOUT_S)
        async with rig.page(await host.open_tab(**SIZE)) as page:
            await page.goto("http://localhost:3000/")
            assert await page.js("document.title") == "opener"
    assert asked[0] == "http://localhost:3000/"
    assert {"http://example.com/x", "CONNECT example.com:443"} <= set(asked)


async def test_five_idle_minutes_destroy_a_tab_and_touch_puts_it_off() -> None:
    clock = Clock()
    async with running_rig(clock=clock) as rig:
        await rig.start()
        async with rig.client() as host:
            touched, idle = await host.open_tab(**SIZE), await host.open_tab(**SIZE)
            clock.now += 299
            await host.touch(touched.tab, timeout_s=TIMEOUT_S)
            await rig.app.check_deadlines()
            assert len(await host.list_tabs(timeout_s=TIMEOUT_S)) == 2
            clock.now += 1
            with host.events("idle_destroyed") as events:
                await rig.app.check_deadlines()
                event = (await anext(aiter(events))).fields
            assert event == {"tab": idle.tab, "idle_s": 300}
            (left,) = await host.list_tabs(timeout_s=TIMEOUT_S)
            assert left["tab"] == touched.tab
            clock.now += 299
            await rig.app.check_deadlines()
            assert await host.list_tabs(timeout_s=TIMEOUT_S) == ()
            await rig.app.check_deadlines()
            assert rig.app.process is not None


async def test_an_unused_service_stops_itself() -> None:
    async with running_rig(linger_s=0.2) as rig:
        await rig.start()
        async with rig.client() as host:
            first = host.hello.pid
        async with asyncio.timeout(TIMEOUT_S):
            await rig.device.all_ended.wait()
        assert rig.device.living == []
        assert rig.device.sockets.names() == {}
        await rig.start()
        async with rig.client() as host:
            assert host.hello.pid == first + 1


async def test_a_frozen_process_accepts_and_says_nothing_until_it_thaws(rig: Rig, host: HostClient) -> None:
    tab = await host.open_tab(**SIZE)
    async with rig.page(tab) as page:
        await rig.app.fault("freeze_host", {})
        with pytest.raises(DeadlineExceeded):
            await host.stats(timeout_s=0.2)
        with pytest.raises(DeadlineExceeded):
            await page.cdp.call("Runtime.evaluate", {"expression": "1"}, timeout_s=0.2)
        reader, writer = await rig.device.sockets.connect(host.hello.devtools_socket)
        writer.write(b"GET /json/version HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await reader.read(1)
        await rig.app.fault("thaw_host", {})
        assert await reader.read(4) == b"HTTP"
        writer.close()
        assert await page.js("1") == 1
        await host.stats(timeout_s=TIMEOUT_S)


async def test_an_update_of_webview_kills_the_process_and_keeps_cookies(rig: Rig, host: HostClient) -> None:
    tab = await host.open_tab(**SIZE)
    async with rig.page(tab) as page:
        await page.goto("http://localhost:3000/")
        await page.js("document.cookie = 'kept=1; max-age=999'")
        await rig.app.fault("update_webview", {})
        async with asyncio.timeout(TIMEOUT_S):
            await host.closed.wait()
            await page.cdp.closed.wait()
        with pytest.raises(HostLost):
            await host.stats(timeout_s=TIMEOUT_S)
        with pytest.raises(TransportError):
            await page.js("1")
    await rig.start()
    async with rig.client() as again:
        assert again.hello.pid != host.hello.pid
        assert again.hello.webview_version != host.hello.webview_version
        async with rig.page(await again.open_tab(**SIZE)) as page:
            await page.goto("http://localhost:3000/")
            assert await page.js("document.cookie") == "kept=1"


async def test_force_stop_leaves_nothing_open(rig: Rig, host: HostClient) -> None:
    await host.open_tab(**SIZE)
    path = await host.put_file("a.txt", b"a", timeout_s=TIMEOUT_S)
    await rig.app.stop()
    async with asyncio.timeout(TIMEOUT_S):
        await host.closed.wait()
    assert rig.device.sockets.names() == {}
    assert rig.engine.browser.tabs == {}
    assert await asyncio.to_thread(Path(path).exists) is False


async def test_an_app_of_another_protocol_is_refused_with_the_fix(rig: Rig) -> None:
    rig.app.protocol = 2
    rig.device.app_version = "9.9.9"
    with pytest.raises(HostVersionMismatch, match=r"9\.9\.9 speaks protocol 2") as caught:
        async with rig.client():
            pass
    assert "webview-bridge host install" in caught.value.hint


async def test_a_start_with_an_invalid_name_or_token_is_logged_and_ignored(rig: Rig) -> None:
    for extras in ({}, {"socket": "a b", "token": "0" * 64}, {"socket": "x", "token": "short"}):
        await rig.app.start(extras)
    assert sum("without a valid socket name" in line for line in rig.device.lines) == 3


async def test_a_crash_of_the_renderer_is_reported(rig: Rig, host: HostClient) -> None:
    tab: HostTab = await host.open_tab(**SIZE)
    async with rig.page(tab) as page:
        with host.events("tab.lost") as lost:
            page.cdp.send("Page.crash").abandon()
            event = (await anext(aiter(lost))).fields
    assert (event["tab"], event["reason"]) == (tab.tab, "renderer_crashed")

"""Chromium is a phone's WebView in what a page sees, and dies as one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.errors import ChromiumMissing, DeadlineExceeded, HostLost, VirtualDeviceFailed
from bridge.host import HostClient, HostTab
from bridge.virtual_device.engine.chromium import find_chromium, run_chromium
from bridge.virtual_device.engine.network import is_loopback
from tests.virtual_device.engine_rig import TIMEOUT_S, VIEWPORT, Rig, running_rig, web_server

CONTROLS = VIEWPORT + (
    "<style>body{margin:0}"
    "button,select,input{display:block;box-sizing:border-box;margin:0;width:200px;height:50px}</style>"
    "<button onclick='document.title=\"tapped\"'>b</button><select><option>a<option>b</select>"
    "<select onmousedown='event.preventDefault()'><option>a</select><input type=date>"
    "<label style='display:block;padding-top:50px'><input type=date></label>"
)
BUTTON, SELECT, GUARDED, DATE, LABEL = (20.0, 25.0), (20.0, 75.0), (20.0, 125.0), (20.0, 175.0), (20.0, 225.0)


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    pages = {
        "/": CONTROLS,
        "/wide": "<button onclick='document.title=\"tapped\"' style='width:900px;height:900px'>b</button>",
        "/frames": VIEWPORT + "<iframe src='http://127.0.0.1:3000/'></iframe>",
    }
    with web_server(pages) as port:
        async with running_rig() as started:
            started.device.reverse[3000] = port
            await started.start()
            yield started


@pytest.fixture
async def host(rig: Rig) -> AsyncIterator[HostClient]:
    async with rig.client() as client:
        yield client


async def opened(host: HostClient) -> HostTab:
    return await host.open_tab(width_px=412, height_px=915, density_dpi=160, timeout_s=TIMEOUT_S)


@pytest.mark.browser
async def test_a_page_sees_a_phone(rig: Rig, host: HostClient) -> None:
    tab = await host.open_tab(width_px=824, height_px=1830, density_dpi=320, timeout_s=TIMEOUT_S)
    async with rig.page(tab) as page:
        await page.goto("http://localhost:3000/")
        assert await page.js("[innerWidth, innerHeight, devicePixelRatio]") == [412, 915, 2]
        assert await page.js("navigator.maxTouchPoints > 0 && 'ontouchstart' in window")
        agent = await page.js("navigator.userAgent")
        assert "Android" in agent
        assert "Mobile" in agent
        assert "Headless" not in agent
        assert await page.js("navigator.userAgentData.mobile && navigator.userAgentData.platform") == "Android"
        script = "URL.createObjectURL(new Blob(['postMessage(navigator.userAgent)']))"
        worker = f"new Promise(r => {{ new Worker({script}).onmessage = e => r(e.data) }})"
        assert await page.js(worker) == agent


@pytest.mark.browser
@pytest.mark.parametrize("path", ["/", "/wide"])
async def test_a_tap_clicks(rig: Rig, host: HostClient, path: str) -> None:
    async with rig.page(await opened(host)) as page:
        await page.goto(f"http://localhost:3000{path}")
        await page.tap(*BUTTON)
        assert await page.until("document.title")


@pytest.mark.browser
@pytest.mark.parametrize("point", [DATE, LABEL], ids=["date", "label of a date"])
async def test_a_tap_on_what_opens_a_dialog_kills_the_process(
    rig: Rig, host: HostClient, point: tuple[float, float]
) -> None:
    async with rig.page(await opened(host)) as page:
        await page.goto("http://localhost:3000/")
        start = {"type": "touchStart", "touchPoints": [{"x": point[0], "y": point[1]}]}
        page.cdp.send("Input.dispatchTouchEvent", start).abandon()
        page.cdp.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []}).abandon()
        async with asyncio.timeout(TIMEOUT_S):
            await host.closed.wait()
            await page.cdp.closed.wait()
    assert isinstance(host.closed_reason, HostLost)
    assert any("BadTokenException" in line for line in rig.device.lines)
    assert rig.device.living == []


@pytest.mark.browser
async def test_a_select_that_is_tapped_is_cancelled(rig: Rig, host: HostClient) -> None:
    async with rig.page(await opened(host)) as page:
        await page.goto("http://localhost:3000/")
        before = await page.js("document.querySelector('select').value")
        await page.tap(*SELECT)
        assert await page.js("document.querySelector('select').value") == before
        await page.tap(*BUTTON)
        assert await page.until("document.title")
        await host.stats(timeout_s=TIMEOUT_S)


@pytest.mark.browser
async def test_a_select_whose_default_is_prevented_is_harmless(rig: Rig, host: HostClient) -> None:
    async with rig.page(await opened(host)) as page:
        await page.goto("http://localhost:3000/")
        await page.tap(*GUARDED)
        await page.js("document.querySelector('select').value = 'b'")
        await page.tap(*BUTTON)
        assert await page.until("document.title")
        await host.stats(timeout_s=TIMEOUT_S)


@pytest.mark.browser
async def test_one_renderer_serves_all_tabs_and_takes_them_all_along(rig: Rig, host: HostClient) -> None:
    tabs = [await opened(host) for _ in range(3)]
    async with rig.page(tabs[0]) as busy, rig.page(tabs[1]) as other:
        await other.js("ticks = []; setInterval(() => ticks.push(Date.now()), 20); 1")
        began, ended = await busy.js(
            "new Promise(done => setTimeout(() => { const began = Date.now();"
            " while (Date.now() < began + 600); done([began, Date.now()]); }, 100))"
        )
        ticks = await other.js("new Promise(done => setTimeout(() => done(ticks), 100))")
        assert ticks[-1] >= ended
        # A millisecond at either end belongs to both: the clocks of two tabs are read in whole milliseconds.
        assert [tick for tick in ticks if began + 1 < tick < ended - 1] == []
    with host.events("tab.lost") as lost:
        rig.app.kill_renderer()
        events = [await anext(aiter(lost)) for _ in tabs]
    assert {event.fields["tab"] for event in events} == {tab.tab for tab in tabs}
    assert {event.fields["reason"] for event in events} == {"renderer_crashed"}
    assert await host.list_tabs(timeout_s=TIMEOUT_S) == ()
    async with rig.page(await opened(host)) as page:
        assert await page.js("1 + 1") == 2


@pytest.mark.browser
async def test_frames_of_other_sites_are_in_the_same_target(rig: Rig, host: HostClient) -> None:
    async with rig.page(await opened(host)) as page:
        with page.cdp.events("Target.attachedToTarget") as attached:
            auto = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
            await page.call("Target.setAutoAttach", **auto)
            await page.goto("http://localhost:3000/frames")
            tree = (await page.call("Page.getFrameTree"))["frameTree"]
            assert tree["childFrames"][0]["frame"]["url"] == "http://127.0.0.1:3000/"
            assert len(attached._queue) == 0


@pytest.mark.browser
async def test_plain_http_is_refused_when_the_manifest_does_not_allow_it() -> None:
    with web_server({"/": CONTROLS}) as port:
        async with running_rig() as rig:
            rig.device.reverse[3000] = port
            rig.device.cleartext_permitted = False
            await rig.start()
            async with rig.client() as host, rig.page(await opened(host)) as page:
                for url in ("http://localhost:3000/", "http://example.com/"):
                    reply = await page.call("Page.navigate", url=url)
                    assert reply["errorText"] == "net::ERR_CLEARTEXT_NOT_PERMITTED"
                reply = await page.call("Page.navigate", url="https://localhost:3999/")
                assert reply["errorText"] == "net::ERR_CONNECTION_REFUSED"


@pytest.mark.browser
async def test_the_first_answer_to_a_dialog_wins(rig: Rig, host: HostClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rig.app, "dialog_hold_s", 0.3)
    async with rig.page(await opened(host)) as page:
        assert await page.js("[alert('x'), confirm('y'), prompt('z')]") == [None, False, None]
        await page.call("Page.enable")
        with page.cdp.events("Page.javascriptDialogOpening") as opening:
            asking = page.cdp.send("Runtime.evaluate", {"expression": "confirm('y')", "returnByValue": True})
            await opening.next(timeout_s=TIMEOUT_S)
            await page.call("Page.handleJavaScriptDialog", accept=True)
            assert (await asking.result(timeout_s=TIMEOUT_S))["result"]["value"] is True
        assert await page.js("confirm('a client that does not answer')") is False
        monkeypatch.setattr(rig.app, "dialog_hold_s", 0.0)
        assert await page.js("confirm('an app that does not wait')") is False


@pytest.mark.browser
async def test_the_desktops_own_loopback_is_not_reachable(rig: Rig, host: HostClient) -> None:
    with web_server({"/": "desktop"}) as port:
        async with rig.page(await opened(host)) as page:
            for name in ("127.0.0.1", "localhost", "[::1]", "127.9.9.9", "x.localhost", "0.0.0.0"):  # noqa: S104
                reply = await page.call("Page.navigate", url=f"http://{name}:{port}/")
                assert reply.get("errorText"), name


@pytest.mark.browser
async def test_a_page_that_never_ends_can_be_closed(rig: Rig, host: HostClient) -> None:
    tab = await opened(host)
    async with rig.page(tab) as page:
        page.cdp.send("Runtime.evaluate", {"expression": "for (;;);"}).abandon()
        await host.close_tab(tab.tab, timeout_s=TIMEOUT_S)
    async with rig.page(await opened(host)) as page:
        assert await page.js("2") == 2


def test_the_variable_takes_precedence_and_must_name_a_program(tmp_path: Path) -> None:
    program = tmp_path / "my-chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_chromium({"BRIDGE_CHROMIUM": str(program), "PATH": ""}, "linux") == program
    with pytest.raises(ChromiumMissing, match="not a program"):
        find_chromium({"CHROMIUM": "/nowhere", "PATH": ""}, "linux")
    program.rename(tmp_path / "google-chrome")
    assert find_chromium({"PATH": str(tmp_path)}, "linux") == tmp_path / "google-chrome"


def test_an_error_about_a_missing_chromium_says_how_to_get_it() -> None:
    with pytest.raises(ChromiumMissing, match="apt-get install chromium"):
        find_chromium({"PATH": ""}, "linux")


async def test_a_chromium_that_dies_at_once_is_quoted(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no usable sandbox')"]
    with pytest.raises(VirtualDeviceFailed, match="no usable sandbox"):
        async with run_chromium(command, tmp_path / "profile", timeout_s=TIMEOUT_S):
            pass


async def test_a_chromium_that_never_answers_is_given_up_and_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import signal; signal.pause()"]
    with pytest.raises(DeadlineExceeded, match="starting Chromium"):
        async with run_chromium(command, tmp_path / "profile", timeout_s=0.3):
            pass


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("LocalHost.", True),
        ("a.localhost", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost.example", False),
        ("10.0.0.1", False),
        ("example.com", False),
    ],
)
def test_loopback_is_judged_as_chromium_does(host: str, expected: bool) -> None:
    assert is_loopback(host) == expected

"""What works in desktop Chrome and not in WebView does not work here either."""

from __future__ import annotations

import base64
import io
from collections.abc import AsyncIterator
from typing import Any

import pytest
from PIL import Image

from bridge.errors import ProtocolError
from bridge.host import HostTab
from tests.virtual_device.engine_rig import TIMEOUT_S, VIEWPORT, Page, Rig, running_rig, web_server

pytestmark = pytest.mark.browser

WIDTH, HEIGHT = 300, 400
STRIPES = VIEWPORT + (
    "<style>body{margin:0;background:linear-gradient(red 0 400px,lime 400px 800px,blue 800px)}"
    "div{height:1200px}</style><div></div>"
)
RED, LIME = (255, 0, 0), (0, 255, 0)


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    with web_server({"/": STRIPES, "/frames": "<iframe src='/'></iframe><iframe src='/'></iframe>"}) as port:
        async with running_rig(lost_runtime_enables=(1, 2, 0)) as started:
            started.device.reverse[3000] = port
            await started.start()
            yield started


@pytest.fixture
async def tab(rig: Rig) -> AsyncIterator[HostTab]:
    async with rig.client() as host:
        yield await host.open_tab(width_px=WIDTH, height_px=HEIGHT, density_dpi=160, timeout_s=TIMEOUT_S)


@pytest.fixture
async def page(rig: Rig, tab: HostTab) -> AsyncIterator[Page]:
    async with rig.page(tab) as opened:
        yield opened


async def picture(page: Page, **params: Any) -> Image.Image:
    reply = await page.call("Page.captureScreenshot", **params)
    return Image.open(io.BytesIO(base64.b64decode(reply["data"]))).convert("RGB")


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("Target.createTarget", {"url": "about:blank"}, "Not supported"),
        ("Target.createBrowserContext", {}, "Browser context management is not supported"),
        ("Storage.getCookies", {}, "Browser context management is not supported"),
        ("Browser.setDownloadBehavior", {"behavior": "deny"}, "Browser context management is not supported"),
        ("Target.attachToBrowserTarget", {}, "Not allowed"),
        ("Browser.close", {}, "wasn't found"),
    ],
)
async def test_the_browser_socket_refuses_what_needs_a_context(
    rig: Rig, method: str, params: dict[str, Any], message: str
) -> None:
    async with rig.cdp("/devtools/browser") as cdp:
        with pytest.raises(ProtocolError, match=message):
            await cdp.call(method, params, timeout_s=TIMEOUT_S)
        assert "Headless" not in str(await cdp.call("Browser.getVersion", timeout_s=TIMEOUT_S))


async def test_the_browser_socket_lists_and_attaches_own_tabs_only(rig: Rig, tab: HostTab) -> None:
    async with rig.cdp("/devtools/browser") as cdp:
        (target,) = (await cdp.call("Target.getTargets", timeout_s=TIMEOUT_S))["targetInfos"]
        assert (target["url"], target["attached"]) == (tab.url, False)
        with cdp.events("Target.targetCreated") as created:
            await cdp.call("Target.setDiscoverTargets", {"discover": True}, timeout_s=TIMEOUT_S)
            assert (await created.next(timeout_s=TIMEOUT_S)).params["targetInfo"]["url"] == tab.url
            await cdp.call("Browser.getVersion", timeout_s=TIMEOUT_S)
            assert len(created._queue) == 0
        attached = await cdp.call(
            "Target.attachToTarget", {"targetId": target["targetId"], "flatten": True}, timeout_s=TIMEOUT_S
        )
        reply = await cdp.call(
            "Runtime.evaluate",
            {"expression": "location.href"},
            session_id=attached["sessionId"],
            timeout_s=TIMEOUT_S,
        )
        assert reply["result"]["value"] == tab.url
        hidden = await rig.foreign_target()
        with pytest.raises(ProtocolError, match="No target with given id"):
            await cdp.call("Target.attachToTarget", {"targetId": hidden, "flatten": True}, timeout_s=TIMEOUT_S)
        with cdp.events("Target.attachedToTarget") as attachments:
            auto = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
            await cdp.call("Target.setAutoAttach", auto, timeout_s=TIMEOUT_S)
            await cdp.call("Browser.getVersion", timeout_s=TIMEOUT_S)
            assert {event.params["targetInfo"]["url"] for event in attachments._queue} <= {tab.url}


async def test_runtime_enable_is_sometimes_acknowledged_without_contexts(rig: Rig, tab: HostTab) -> None:
    for losses in (1, 2, 0):
        async with rig.page(tab) as page:
            for attempt in range(losses + 1):
                with page.cdp.events("Runtime.executionContextCreated") as contexts:
                    await page.call("Runtime.enable")
                    assert bool(contexts._queue) == (attempt == losses), (losses, attempt)
                await page.call("Runtime.disable")


async def test_later_contexts_are_reported_after_a_lost_enable(page: Page) -> None:
    with page.cdp.events("Runtime.executionContextCreated") as contexts:
        await page.call("Runtime.enable")
        await page.goto("http://localhost:3000/")
        assert (await contexts.next(timeout_s=TIMEOUT_S)).params["context"]["origin"] == "http://localhost:3000"


async def test_a_capture_is_the_view_and_nothing_more(page: Page) -> None:
    await page.goto("http://localhost:3000/")
    plain = await picture(page)
    assert plain.size == (WIDTH, HEIGHT)
    assert plain.getpixel((5, 5)) == plain.getpixel((5, HEIGHT - 5)) == RED
    assert (await picture(page, captureBeyondViewport=True)).size == (WIDTH, HEIGHT)


async def test_a_clip_beyond_the_view_comes_back_tiled(page: Page) -> None:
    await page.goto("http://localhost:3000/")
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": 1200, "scale": 1}
    tall = await picture(page, captureBeyondViewport=True, clip=clip)
    assert tall.size == (WIDTH, 1200)
    assert tall.getpixel((5, 1000)) == RED  # would be blue on the page


async def test_a_clip_elsewhere_shows_the_origin(page: Page) -> None:
    await page.goto("http://localhost:3000/")
    await page.js("scrollTo(0, 500)")
    assert (await picture(page)).getpixel((5, 5)) == LIME
    clip = {"x": 0, "y": 300, "width": 50, "height": 50, "scale": 1}
    part = await picture(page, clip=clip, format="jpeg")
    assert part.size == (50, 50)
    assert part.getpixel((5, 45))[1] > 200  # type: ignore[index]  # lime from the top of the view, not blue


async def test_device_metrics_do_not_make_the_view_grow(page: Page) -> None:
    await page.goto("http://localhost:3000/")
    metrics = {"width": WIDTH, "height": 1200, "deviceScaleFactor": 1, "mobile": True}
    await page.call("Emulation.setDeviceMetricsOverride", **metrics)
    assert await page.js("innerHeight") == 1200
    assert (await picture(page)).size == (WIDTH, HEIGHT)
    await page.call("Emulation.clearDeviceMetricsOverride")
    assert await page.js("[innerWidth, innerHeight]") == [WIDTH, HEIGHT]


async def test_emulation_of_the_device_outlives_a_client_that_changed_it(rig: Rig, tab: HostTab) -> None:
    async with rig.page(tab) as page:
        await page.goto("http://localhost:3000/")
        url = await page.js("location.href")
        metrics = {"width": 800, "height": 600, "deviceScaleFactor": 2, "mobile": False}
        await page.call("Emulation.setDeviceMetricsOverride", **metrics)
        await page.call("Emulation.setTouchEmulationEnabled", enabled=False)
        assert await page.js("innerWidth") == 800
    async with rig.cdp(f"/devtools/page/{await rig.target_id(url)}") as cdp:
        again = Page(cdp)
        assert await again.until(f"innerWidth === {WIDTH}")
        assert await again.js("[devicePixelRatio, navigator.maxTouchPoints]") == [1, 5]


@pytest.mark.parametrize("url", ["data:text/html,x", "file:///etc/passwd", "intent://x", "chrome://version"])
async def test_other_schemes_are_not_navigated_to(page: Page, url: str) -> None:
    reply = await page.call("Page.navigate", url=url)
    assert reply["errorText"] == "net::ERR_ABORTED"


async def test_a_port_without_a_reverse_is_refused_with_androids_message(page: Page) -> None:
    reply = await page.call("Page.navigate", url="http://localhost:3999/")
    assert reply["errorText"] == "net::ERR_CONNECTION_REFUSED"
    await page.goto("http://localhost:3000/")
    await page.call("Network.enable")
    with page.cdp.events("Network.loadingFailed") as failed:
        await page.js("fetch('http://localhost:3999/', {mode: 'no-cors'}).catch(() => 1)")
        assert (await failed.next(timeout_s=TIMEOUT_S)).params["errorText"] == "net::ERR_CONNECTION_REFUSED"


async def test_absent_features_of_a_page_are_not_found(page: Page) -> None:
    with pytest.raises(ProtocolError, match="wasn't found"):
        await page.call("Page.printToPDF")
    with pytest.raises(ProtocolError, match="Unable to capture"):
        await page.call("Page.captureScreenshot", fromSurface=False)

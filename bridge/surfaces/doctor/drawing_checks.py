"""Device checks of drawing: frames, screenshots by each strategy, WebGL."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable

from bridge.errors import BridgeError
from bridge.page.capture.full_page import STRATEGIES, Strategy
from bridge.snapshot.injected import packaged_script
from bridge.surfaces.doctor.check_pages import BAND_PX, BANDS, band_colour
from bridge.surfaces.doctor.device_check import Bench, DeviceCheck
from bridge.surfaces.doctor.report import CheckResult, Stakes, failed, passed, skipped, warned

FRAMES_S, SCREENSHOT_S = 15.0, 60.0
_MEASURED_MS = 1000
_ENOUGH_FPS, _FEW_FPS = 24, 5
_PAGE_LIMIT_PX = 10_000
# Colours pass through the display's colour space and, in some strategies, JPEG.
_TOLERANCE = 24


def drawing_checks(bench: Bench) -> list[DeviceCheck]:
    """Frames, screenshots and WebGL."""
    frames = Stakes("frames", "nothing is drawn, so animations, lazy loading and waits for a still page do not work")
    view = Stakes("screenshots", "screenshots of the viewport are wrong or missing")
    whole = Stakes("full-page screenshots", "screenshots of whole pages are wrong or missing")
    webgl = Stakes("screenshots of WebGL", "maps, games and charts drawn by the GPU are missing in screenshots")

    async def open_bands() -> CheckResult:
        found = await bench.page.goto(bench.server.url("bands"))
        return passed(f"{found.url} of this machine, status {found.status}")

    def on_bands(check: Callable[[], Awaitable[CheckResult]]) -> Callable[[], Awaitable[CheckResult]]:
        async def run() -> CheckResult:
            await bench.page.goto(bench.server.url("bands"))
            return await check()

        return run

    reach = Stakes("test servers of this machine", "the device cannot reach pages that this machine serves")
    return [
        DeviceCheck("test page", reach, open_bands, SCREENSHOT_S),
        DeviceCheck("frames, screen on", frames, on_bands(lambda: frames_drawn(bench)), FRAMES_S),
        DeviceCheck("screenshot of the viewport", view, on_bands(lambda: _view(bench)), SCREENSHOT_S),
        *(
            DeviceCheck(f"full page, {strategy}", whole, on_bands(_whole_page(bench, strategy)), SCREENSHOT_S)
            for strategy in STRATEGIES
        ),
        *(
            DeviceCheck(f"WebGL by {way}", webgl, _webgl(bench, screenshot), SCREENSHOT_S)
            for way, screenshot in _ways(bench).items()
        ),
    ]


async def frames_drawn(bench: Bench) -> CheckResult:
    """Counts the frames of the page that is open."""
    count_frames = packaged_script("bridge.surfaces.doctor", "count_frames.min.js")
    fps = float(await bench.evaluate(f"{count_frames}({_MEASURED_MS})", timeout_s=FRAMES_S))
    finding = f"{fps:.0f} frames per second"
    if fps >= _ENOUGH_FPS:
        return passed(finding)
    return warned(f"{finding}: animations and waits are slow") if fps >= _FEW_FPS else failed(finding)


async def _view(bench: Bench) -> CheckResult:
    session = bench.session
    shot = await bench.page.screenshot(scale="device", timeout_s=SCREENSHOT_S)
    finding = f"{shot.width_px} x {shot.height_px} px, by {shot.strategy}"
    if (shot.width_px, shot.height_px) != (session.view.width_px, session.view.height_px):
        return failed(f"{finding}; the display has {session.view.width_px} x {session.view.height_px}")
    wrong = _wrong_bands(shot.image_bytes, shot.scale)
    return failed(f"{finding}; {wrong}") if wrong else passed(finding)


def _whole_page(bench: Bench, strategy: Strategy) -> Callable[[], Awaitable[CheckResult]]:
    async def check() -> CheckResult:
        found = bench.session.capabilities
        preferred = found.full_page if found and found.full_page else "scroll-and-stitch"

        def refuse(finding: str) -> CheckResult:
            # The strategy in use must work; the others are fallbacks for other devices.
            return (
                failed(finding)
                if strategy == preferred
                else skipped(f"not usable here, {preferred} is in use: {finding}")
            )

        try:
            shot = await bench.page.screenshot(full_page=True, strategy=strategy, timeout_s=SCREENSHOT_S)
        except BridgeError as error:
            return refuse(error.message)
        finding = f"{shot.width_px} x {shot.height_px} px of {BAND_PX * BANDS}, by {shot.strategy}"
        expected_px = round(_PAGE_LIMIT_PX * shot.scale) if shot.scale < 1 else _PAGE_LIMIT_PX
        if abs(shot.height_px - expected_px) > 2 or not shot.truncated:
            return refuse(f"{finding}; {expected_px} px were expected, and truncated")
        wrong = _wrong_bands(shot.image_bytes, shot.scale)
        return refuse(f"{finding}; {wrong}") if wrong else passed(finding)

    return check


def _wrong_bands(image: bytes, scale: float) -> str:
    """The place where the screenshot does not show the bands; "" if it shows them."""
    from PIL import Image

    with Image.open(io.BytesIO(image)) as opened:
        bitmap = opened.convert("RGB")
    band_px = BAND_PX * scale
    for index in range(int(bitmap.height / band_px)):
        at = round((index + 0.5) * band_px)
        seen = bitmap.getpixel((bitmap.width // 2, at))
        if not isinstance(seen, tuple) or not _alike(seen, band_colour(index)):
            return f"at {at} px it is rgb{seen} instead of rgb{band_colour(index)}"
    return ""


def _alike(seen: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return all(abs(one - other) <= _TOLERANCE for one, other in zip(seen, wanted, strict=False))


def _ways(bench: Bench) -> dict[str, Callable[[], Awaitable[bytes]]]:
    async def by_cdp() -> bytes:
        return (await bench.page.screenshot(timeout_s=SCREENSHOT_S)).image_bytes

    def by_host(source: str) -> Callable[[], Awaitable[bytes]]:
        async def capture() -> bytes:
            tab = bench.session.host_tab_of(bench.page)
            assert tab is not None
            return (await bench.session.host_client.capture(tab, source=source, timeout_s=SCREENSHOT_S)).body

        return capture

    return {"CDP": by_cdp, "the host's canvas": by_host("canvas"), "the display's frame": by_host("surface")}


def _webgl(bench: Bench, screenshot: Callable[[], Awaitable[bytes]]) -> Callable[[], Awaitable[CheckResult]]:
    async def check() -> CheckResult:
        from PIL import Image

        await bench.page.goto(bench.server.url("webgl"))
        if not await bench.evaluate("window.hasWebGL", timeout_s=FRAMES_S):
            return skipped("this engine creates no WebGL context")
        with Image.open(io.BytesIO(await screenshot())) as opened:
            seen = opened.convert("RGB").getpixel((100, 100))
        if isinstance(seen, tuple) and _alike(seen, (255, 0, 0)):
            return passed("the canvas is red, as drawn")
        # A software redraw has no GPU content, hence the other strategies.
        return warned(f"the canvas is rgb{seen} instead of red: this strategy cannot capture WebGL")

    return check

"""Device checks of drawing: frames with the screen on and off, screenshots by each strategy, WebGL."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from bridge.adb import AdbDevice
from bridge.deadline import finish
from bridge.errors import BridgeError, ScriptFailed
from bridge.page.capture.full_page import STRATEGIES, Strategy
from bridge.surfaces.doctor.check_pages import BAND_PX, BANDS, band_colour
from bridge.surfaces.doctor.report import CheckResult, Report, failed, passed, skipped, warned
from bridge.surfaces.local_server import LocalServer

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.session.session import Session

FRAMES_S, PICTURE_S, SCREEN_S = 15.0, 60.0, 40.0
_MEASURED_MS = 1000
_ENOUGH_FPS, _FEW_FPS = 24, 5
_PAGE_LIMIT_PX = 10_000
# Colours pass through the display's colour space and, in some strategies, JPEG.
_TOLERANCE = 24
_COUNT_FRAMES = f"""new Promise(done => {{
  let count = 0, start = performance.now();
  const frame = now => {{ count++; if (now - start < {_MEASURED_MS}) requestAnimationFrame(frame) }};
  requestAnimationFrame(frame);
  setTimeout(() => done(count * 1000 / (performance.now() - start)), {_MEASURED_MS} + 100);
}})"""


async def evaluate(page: Page, expression: str, *, timeout_s: float) -> Any:
    """The value of an expression in the page's main world, promises awaited.

    Raises:
        ScriptFailed: The expression threw.
    """
    attachment = await page.attached()
    reply = await attachment.connection.call(
        "Runtime.evaluate",
        {"expression": expression, "returnByValue": True, "awaitPromise": True},
        timeout_s=timeout_s,
    )
    if "exceptionDetails" in reply:
        raise ScriptFailed(f"the page threw: {str(reply['exceptionDetails'].get('text'))[:200]}")
    return reply.get("result", {}).get("value")


async def check_drawing(report: Report, session: Session, page: Page, server: LocalServer) -> None:
    """Adds the rows for frames, screenshots and WebGL."""

    async def open_bands() -> CheckResult:
        found = await page.goto(server.url("bands"))
        return passed(f"{found.url} of this machine, status {found.status}")

    await report.ask("test page", open_bands, timeout_s=PICTURE_S)
    await report.ask("frames, screen on", lambda: _frames(page), timeout_s=FRAMES_S)
    if session.is_virtual:
        report.skip(["frames, screen off"], "a virtual device has no screen")
    else:
        screen_off = lambda: _frames_in_the_dark(session.device, page)  # noqa: E731
        await report.ask("frames, screen off", screen_off, timeout_s=SCREEN_S)
    await report.ask("screenshot of the viewport", lambda: _view(session, page), timeout_s=PICTURE_S)
    for strategy in STRATEGIES:
        await report.ask(f"full page, {strategy}", _whole_page(session, page, strategy), timeout_s=PICTURE_S)
    for way, picture in _ways(session, page).items():
        await report.ask(f"WebGL by {way}", _webgl(page, server, picture), timeout_s=PICTURE_S)


async def _frames(page: Page) -> CheckResult:
    fps = float(await evaluate(page, _COUNT_FRAMES, timeout_s=FRAMES_S))
    finding = f"{fps:.0f} frames per second"
    if fps >= _ENOUGH_FPS:
        return passed(finding)
    return warned(f"{finding}: animations and waits are slow") if fps >= _FEW_FPS else failed(finding)


async def _frames_in_the_dark(device: AdbDevice, page: Page) -> CheckResult:
    """Restores the screen state; never unlocks the screen."""
    was_on = await _is_awake(device)
    if was_on:
        await device.shell(["input", "keyevent", "KEYCODE_SLEEP"], timeout_s=SCREEN_S, check=True)
    try:
        while await _is_awake(device):  # noqa: ASYNC110 - the power manager sends no event
            await asyncio.sleep(0.2)
        return await _frames(page)
    finally:
        if was_on:
            waking = device.shell(["input", "keyevent", "KEYCODE_WAKEUP"], timeout_s=5.0)
            await finish(waking, at_most_s=5.0, what="switching the screen on again")


async def _is_awake(device: AdbDevice) -> bool:
    shown = await device.shell(["dumpsys", "power"], timeout_s=SCREEN_S)
    return re.search(r"mWakefulness=Awake", shown.stdout) is not None


async def _view(session: Session, page: Page) -> CheckResult:
    shot = await page.screenshot(scale="device", timeout_s=PICTURE_S)
    finding = f"{shot.width_px} x {shot.height_px} px, by {shot.strategy}"
    if (shot.width_px, shot.height_px) != (session.view.width_px, session.view.height_px):
        return failed(f"{finding}; the display has {session.view.width_px} x {session.view.height_px}")
    wrong = _wrong_bands(shot.image_bytes, shot.scale)
    return failed(f"{finding}; {wrong}") if wrong else passed(finding)


def _whole_page(session: Session, page: Page, strategy: Strategy) -> Callable[[], Awaitable[CheckResult]]:
    async def check() -> CheckResult:
        found = session.capabilities
        preferred = found.full_page if found and found.full_page else "scroll-and-stitch"

        def refuse(finding: str) -> CheckResult:
            # The strategy in use must work; the others are fallbacks for other devices.
            return (
                failed(finding)
                if strategy == preferred
                else skipped(f"not usable here, {preferred} is in use: {finding}")
            )

        try:
            shot = await page.screenshot(full_page=True, strategy=strategy, timeout_s=PICTURE_S)
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


def _ways(session: Session, page: Page) -> dict[str, Callable[[], Awaitable[bytes]]]:
    async def by_cdp() -> bytes:
        return (await page.screenshot(timeout_s=PICTURE_S)).image_bytes

    def by_host(source: str) -> Callable[[], Awaitable[bytes]]:
        async def capture() -> bytes:
            tab = session.host_tab_of(page)
            assert tab is not None
            return (await session.host_client.capture(tab, source=source, timeout_s=PICTURE_S)).body

        return capture

    return {"CDP": by_cdp, "the host's canvas": by_host("canvas"), "the display's frame": by_host("surface")}


def _webgl(
    page: Page, server: LocalServer, picture: Callable[[], Awaitable[bytes]]
) -> Callable[[], Awaitable[CheckResult]]:
    async def check() -> CheckResult:
        from PIL import Image

        await page.goto(server.url("webgl"))
        if not await evaluate(page, "window.hasWebGL", timeout_s=FRAMES_S):
            return skipped("this engine creates no WebGL context")
        with Image.open(io.BytesIO(await picture())) as opened:
            seen = opened.convert("RGB").getpixel((100, 100))
        if isinstance(seen, tuple) and _alike(seen, (255, 0, 0)):
            return passed("the canvas is red, as drawn")
        # A software redraw has no GPU content, hence the other strategies.
        return warned(f"the canvas is rgb{seen} instead of red: this strategy cannot capture WebGL")

    return check

"""Device checks about what is drawn: frames with the screen on and off, pictures of every kind, WebGL in each."""

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
# Colours go through the display's colour space and, in some strategies, a JPEG.
_TOLERANCE = 24
_COUNT_FRAMES = f"""new Promise(done => {{
  let count = 0, start = performance.now();
  const frame = now => {{ count++; if (now - start < {_MEASURED_MS}) requestAnimationFrame(frame) }};
  requestAnimationFrame(frame);
  setTimeout(() => done(count * 1000 / (performance.now() - start)), {_MEASURED_MS} + 100);
}})"""


async def evaluate(page: Page, expression: str, *, timeout_s: float) -> Any:
    """The value of an expression in the page's own world, promises awaited.

    Raises:
        ScriptFailed: It threw.
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
    """Adds the rows for frames, pictures and WebGL."""

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
    await report.ask("picture of the view", lambda: _view(session, page), timeout_s=PICTURE_S)
    for strategy in STRATEGIES:
        await report.ask(f"whole page, {strategy}", _whole_page(session, page, strategy), timeout_s=PICTURE_S)
    for way, picture in _ways(session, page).items():
        await report.ask(f"WebGL by {way}", _webgl(page, server, picture), timeout_s=PICTURE_S)


async def _frames(page: Page) -> CheckResult:
    fps = float(await evaluate(page, _COUNT_FRAMES, timeout_s=FRAMES_S))
    said = f"{fps:.0f} frames per second"
    if fps >= _ENOUGH_FPS:
        return passed(said)
    return warned(f"{said}: animations and waits are slow") if fps >= _FEW_FPS else failed(said)


async def _frames_in_the_dark(device: AdbDevice, page: Page) -> CheckResult:
    """The screen is left as it was found; a lock is not opened."""
    was_on = await _is_awake(device)
    if was_on:
        await device.shell(["input", "keyevent", "KEYCODE_SLEEP"], timeout_s=SCREEN_S, check=True)
    try:
        while await _is_awake(device):  # noqa: ASYNC110 - the power manager tells nobody
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
    said = f"{shot.width_px} x {shot.height_px} px, by {shot.strategy}"
    if (shot.width_px, shot.height_px) != (session.view.width_px, session.view.height_px):
        return failed(f"{said}; the display has {session.view.width_px} x {session.view.height_px}")
    wrong = _wrong_bands(shot.image_bytes, shot.scale)
    return failed(f"{said}; {wrong}") if wrong else passed(said)


def _whole_page(session: Session, page: Page, strategy: Strategy) -> Callable[[], Awaitable[CheckResult]]:
    async def check() -> CheckResult:
        found = session.capabilities
        preferred = found.full_page if found and found.full_page else "scroll-and-stitch"

        def refuse(said: str) -> CheckResult:
            # The strategy in use must work; the others are there for devices on which it does not.
            return failed(said) if strategy == preferred else skipped(f"not usable here, {preferred} is in use: {said}")

        try:
            shot = await page.screenshot(full_page=True, strategy=strategy, timeout_s=PICTURE_S)
        except BridgeError as error:
            return refuse(error.message)
        said = f"{shot.width_px} x {shot.height_px} px of {BAND_PX * BANDS}, by {shot.strategy}"
        expected_px = round(_PAGE_LIMIT_PX * shot.scale) if shot.scale < 1 else _PAGE_LIMIT_PX
        if abs(shot.height_px - expected_px) > 2 or not shot.truncated:
            return refuse(f"{said}; {expected_px} px were expected, and truncated")
        wrong = _wrong_bands(shot.image_bytes, shot.scale)
        return refuse(f"{said}; {wrong}") if wrong else passed(said)

    return check


def _wrong_bands(image: bytes, scale: float) -> str:
    """Where the picture does not show the bands, "" where it does."""
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
            return skipped("this engine makes no WebGL context")
        with Image.open(io.BytesIO(await picture())) as opened:
            seen = opened.convert("RGB").getpixel((100, 100))
        if isinstance(seen, tuple) and _alike(seen, (255, 0, 0)):
            return passed("the canvas is red, as it was drawn")
        # A software redraw has no GPU content; that is why there are other ways.
        return warned(f"the canvas is rgb{seen} instead of red: take pictures of WebGL another way")

    return check

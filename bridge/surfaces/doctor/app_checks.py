"""Device checks of whole uses: the demo, and attaching to a debuggable app."""

from __future__ import annotations

from pathlib import Path

from bridge.adb import AdbDevice
from bridge.deadline import finish
from bridge.errors import AppUnavailable
from bridge.surfaces.composition import Session
from bridge.surfaces.doctor.device import policy_of
from bridge.surfaces.doctor.device_check import ASK_S, Bench, DeviceCheck
from bridge.surfaces.doctor.report import CheckResult, Stakes, failed, passed, skipped
from bridge.surfaces.local_server import LocalServer

DEMO_S, ATTACH_S = 120.0, 120.0
SAMPLE_PACKAGE, SAMPLE_ACTIVITY = "dev.webviewbridge.sample", ".MainActivity"


def demo_check(bench: Bench) -> DeviceCheck:
    """Every step of `webview-bridge demo`."""
    stakes = Stakes("everything together", "a usual session fails although single features may work")
    return DeviceCheck("demo", stakes, lambda: _demo(bench), DEMO_S)


def attach_check(device: AdbDevice, server: LocalServer, apk: Path | None) -> DeviceCheck:
    """Attaching to the sample app; no session may be open."""
    stakes = Stakes("attach", "WebViews of debuggable apps cannot be driven")
    return DeviceCheck("attach to an app", stakes, lambda: _attach(device, server, apk), ATTACH_S)


async def _demo(bench: Bench) -> CheckResult:
    from bridge.surfaces.demo.steps import DemoFiles, run_demo

    files = DemoFiles(bench.folder / "demo.txt", bench.folder / "demo.png")
    page = await bench.session.new_page()
    done = "none"
    count = 0
    try:
        async for step in run_demo(page, bench.demo_server, files):
            done, count = f"{step.page}: {step.did}", count + 1
    except Exception as error:  # the last step that worked says most
        return failed(f"after {count} steps (last: {done}): {error}")
    finally:
        await page.close()
    return passed(f"{count} steps")


async def _attach(device: AdbDevice, server: LocalServer, apk: Path | None) -> CheckResult:
    """Installs the sample, taps in its WebView and removes it."""
    if apk is None:
        return skipped("give --sample-apk FILE; tools/build-host-app --sample builds it")
    try:
        await device.install(apk, timeout_s=ATTACH_S)
        return await _driven(device, server)
    finally:
        removing = device.shell(["pm", "uninstall", SAMPLE_PACKAGE], timeout_s=ASK_S)
        await finish(removing, at_most_s=ASK_S, what=f"removing {SAMPLE_PACKAGE}")


async def _driven(device: AdbDevice, server: LocalServer) -> CheckResult:
    try:
        attached = Session.attach(
            SAMPLE_PACKAGE,
            activity=SAMPLE_ACTIVITY,
            data=server.url("events"),
            device=device.serial,
            policy=policy_of(strict=False),
            grants=[server.grant],
            on_notice=lambda _: None,
            timeout_s=ASK_S * 2,
        )
        async with attached as session:
            (page,) = session.pages
            await page.click((await page.snapshot()).find(name="Target").ref)
            heard = await page.evaluate("heard")
    except AppUnavailable as error:
        return failed(error.message, error.hint)
    finding = f"in the WebView of {SAMPLE_PACKAGE} the page received {', '.join(heard) or 'nothing'}"
    return passed(finding) if heard.count("click") == 1 and "pointerdown" in heard else failed(finding)

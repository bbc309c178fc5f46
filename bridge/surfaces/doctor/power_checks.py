"""Device checks of what interrupts a session: a dark screen, doze, a second session, a cable that is pulled."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bridge.adb import AdbDevice, AdbServer
from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, DeviceBusy
from bridge.surfaces.doctor.device_check import ASK_S, CHECK_S, Bench, DeviceCheck
from bridge.surfaces.doctor.drawing_checks import frames_drawn
from bridge.surfaces.doctor.input_checks import click_heard
from bridge.surfaces.doctor.report import CheckResult, Stakes, failed, passed, skipped, warned

CABLE_S = 120.0
_POLL_S = 0.2
_RESTORE_S = 5.0


def power_checks(bench: Bench) -> list[DeviceCheck]:
    """The screen off for `bench.dark_s`, then doze."""
    meaning = "nothing is drawn, or taps do nothing, while {}: unattended runs fail"
    dark, doze = meaning.format("the screen is off"), meaning.format("the device dozes")
    return [
        DeviceCheck(
            "frames and tap, screen off",
            Stakes("unattended devices", dark),
            lambda: _in_the_dark(bench),
            CHECK_S + bench.dark_s,
        ),
        DeviceCheck("frames and tap, doze", Stakes("unattended devices", doze), lambda: _in_doze(bench)),
    ]


def second_session_check(bench: Bench) -> DeviceCheck:
    """A second client of the host app."""
    meaning = "two programs can use the device at once, and take each other's tabs and policy"
    return DeviceCheck("second session", Stakes("one session per device", meaning), lambda: _second(bench))


def cable_check(bench: Bench, server: AdbServer, notify: Callable[[str], None]) -> DeviceCheck:
    """A person pulls the cable and plugs it in again."""
    meaning = "a session does not survive a loose cable or a restart of adb"
    return DeviceCheck(
        "cable", Stakes("reconnecting", meaning), lambda: _cable(bench, server, notify), CABLE_S * 2 + CHECK_S
    )


async def _in_the_dark(bench: Bench) -> CheckResult:
    await bench.page.goto(bench.server.url("bands"))
    async with _screen_off(bench.device):
        await asyncio.sleep(bench.dark_s)
        return await _works(bench, f"after {bench.dark_s:g} s with the screen off")


async def _in_doze(bench: Bench) -> CheckResult:
    """`dumpsys deviceidle force-idle` goes to deep idle also while the device charges (AOSP DeviceIdleController)."""
    await bench.page.goto(bench.server.url("bands"))
    async with _screen_off(bench.device):
        try:
            forced = await bench.device.shell(["dumpsys", "deviceidle", "force-idle"], timeout_s=ASK_S)
            if "Now forced in to" not in forced.stdout:
                return skipped(f"the device does not doze: {(forced.stdout + forced.stderr).strip()[:120]}")
            return await _works(bench, "while the device dozes")
        finally:
            restoring = bench.device.shell(["dumpsys", "deviceidle", "unforce"], timeout_s=_RESTORE_S)
            await finish(restoring, at_most_s=_RESTORE_S, what="ending doze")


async def _works(bench: Bench, when: str) -> CheckResult:
    frames = await frames_drawn(bench)
    tap = await click_heard(bench)
    finding = f"{when}: {frames.finding}; {tap.finding}"
    if "fail" in (frames.status, tap.status):
        return failed(finding)
    return warned(finding) if frames.status == "warn" else passed(finding)


@asynccontextmanager
async def _screen_off(device: AdbDevice) -> AsyncIterator[None]:
    """Restores the screen state; never unlocks the screen."""
    was_on = await _is_awake(device)
    try:
        if was_on:
            await device.shell(["input", "keyevent", "KEYCODE_SLEEP"], timeout_s=ASK_S, check=True)
        async with Deadline.after(ASK_S).bound("the screen to switch off"):
            while await _is_awake(device):  # noqa: ASYNC110 - the power manager sends no event
                await asyncio.sleep(_POLL_S)
        yield
    finally:
        if was_on:
            waking = device.shell(["input", "keyevent", "KEYCODE_WAKEUP"], timeout_s=_RESTORE_S)
            await finish(waking, at_most_s=_RESTORE_S, what="switching the screen on again")


async def _is_awake(device: AdbDevice) -> bool:
    shown = await device.shell(["dumpsys", "power"], timeout_s=ASK_S)
    return re.search(r"mWakefulness=Awake", shown.stdout) is not None


async def _second(bench: Bench) -> CheckResult:
    from bridge.host.launch import start_host

    await bench.page.goto(bench.server.url("form"))
    refusal = ""
    try:
        other = start_host(
            bench.device, owner="a second session", policy_digest="other", timeout_s=ASK_S, takes_lease=False
        )
        async with other:
            pass
    except DeviceBusy as error:
        refusal = error.message
    title = await bench.evaluate("document.title")
    if title != "Form":
        return failed(f"the first session's tab shows {title!r} instead of 'Form' after a second client connected")
    if not refusal:
        return failed("the host app accepted a second client with another policy")
    return passed("the host app refused a second client, and the first session's tab is unchanged")


async def _cable(bench: Bench, server: AdbServer, notify: Callable[[str], None]) -> CheckResult:
    await bench.page.goto(bench.server.url("form"))
    serial = bench.device.serial
    notify(f"Unplug {serial} now, and plug it in again when asked ({CABLE_S:g} s).")
    await _until(server, serial, is_there=False)
    began = time.monotonic()
    notify("Plug it in again.")
    try:
        await _until(server, serial, is_there=True)
    except BridgeError as error:
        return failed(f"the device did not come back: {error.message}")
    found = await bench.page.goto(bench.server.url("form"))
    gone_s = time.monotonic() - began
    finding = f"{gone_s:.0f} s after the cable was pulled the session shows {found.title!r}"
    return passed(finding) if found.title == "Form" else failed(finding)


async def _until(server: AdbServer, serial: str, *, is_there: bool) -> None:
    what = "the device to be attached again" if is_there else "the cable to be pulled"
    async with Deadline.after(CABLE_S).bound(what):
        while True:
            entries = await server.devices(timeout_s=ASK_S)
            if any(entry.serial == serial and entry.state == "device" for entry in entries) == is_there:
                return
            await asyncio.sleep(_POLL_S)

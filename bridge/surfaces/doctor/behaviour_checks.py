"""Device checks of behaviour: forms, files, requests, profiles, renderer crashes and idle tabs."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING

from bridge.adb import AdbDevice
from bridge.errors import BridgeError
from bridge.page.fetch_messages import Fulfil
from bridge.surfaces.doctor.check_pages import DOWNLOAD
from bridge.surfaces.doctor.device_check import Bench, DeviceCheck
from bridge.surfaces.doctor.report import CheckResult, Stakes, failed, passed, skipped, warned
from bridge.surfaces.local_server import HOST

if TYPE_CHECKING:
    from bridge.page.page import Page

IDLE_S = 60.0
_ASK_S = 20.0
# A short idle timeout instead of five minutes; a touch halfway must postpone it.
_IDLE_TIMEOUT_S, _TOUCH_AFTER_S = 3, 1.5
_LOST_S = 30.0


def behaviour_checks(bench: Bench) -> list[DeviceCheck]:
    """Requests, files and profiles."""
    return [
        DeviceCheck(
            "proxy",
            Stakes("the network policy", "requests of pages may bypass the gate that enforces the policy"),
            lambda: _proxy(bench),
        ),
        DeviceCheck(
            "Fetch",
            Stakes("routes and interception", "page.route, and checks of each request, do not work"),
            lambda: _fetch(bench),
        ),
        DeviceCheck(
            "<select>", Stakes("forms", "select_option does not choose what the page receives"), lambda: _select(bench)
        ),
        DeviceCheck(
            "file input",
            Stakes("uploads", "pages do not receive the files given to set_input_files"),
            lambda: _file_input(bench),
        ),
        DeviceCheck(
            "download", Stakes("downloads", "page.download receives nothing, or wrong bytes"), lambda: _download(bench)
        ),
        DeviceCheck(
            "profile",
            Stakes("profiles", "tabs of different profiles share cookies, or one crash ends all"),
            lambda: _profile(bench),
        ),
    ]


def crash_check(bench: Bench) -> DeviceCheck:
    """The renderer's death, which ends the tab."""
    meaning = "the death of a renderer goes unnoticed, or its tab is not restored"
    return DeviceCheck("renderer crash", Stakes("recovery", meaning), lambda: _renderer_crash(bench))


async def _proxy(bench: Bench) -> CheckResult:
    """Only requests that pass through the gate are in its audit."""
    mechanism = bench.session.host.features.get("proxy", "none")
    audit = bench.session.egress.audit
    before = sum(record.port == bench.server.port for record in audit)
    await bench.page.goto(bench.server.url("original"))
    through = sum(record.port == bench.server.port for record in audit) > before
    found = bench.session.capabilities
    finding = f"set by {mechanism}, egress={found.egress if found else 'unknown'}"
    if through:
        return passed(f"{finding}: a request to {HOST} passed through the gate")
    return warned(
        f"{finding}: a request to {HOST} bypassed the gate",
        "Update Android System WebView, or set strict = false in [browser.policy].",
    )


async def _fetch(bench: Bench) -> CheckResult:
    await bench.page.goto(bench.server.url("form"))
    await bench.page.route("**/original", Fulfil(body=b"from the route"))
    try:
        got = await bench.evaluate("fetch('/original').then(r => r.text())")
    finally:
        await bench.page.unroute("**/original")
    return passed("a route fulfilled a request") if got == "from the route" else failed(f"the page received {got!r}")


async def _select(bench: Bench) -> CheckResult:
    """Never by a tap: the popup is a system dialog, which a WebView without an Activity does not show."""
    await bench.page.goto(bench.server.url("form"))
    shot = await bench.page.snapshot()
    await bench.page.select_option(shot.find(role="combobox", name="Colour").ref, "blue")
    value = await bench.page.locator("#s").input_value()
    return (
        passed("selected without the popup") if value == "blue" else failed(f"the value is {value!r} instead of 'blue'")
    )


async def _file_input(bench: Bench) -> CheckResult:
    document = bench.folder / "doctor.txt"
    content = "räport " * 1000
    document.write_text(content, encoding="utf-8")
    await bench.page.goto(bench.server.url("form"))
    shot = await bench.page.snapshot()
    await bench.page.set_input_files(shot.find(name="Document").ref, document)
    got = [await bench.evaluate("f.files[0]?.name"), await bench.evaluate("f.files[0]?.text()")]
    if got == [document.name, content]:
        return passed(f"the page read {document.name}, {document.stat().st_size:,} bytes")
    return failed(f"the page read {str(got)[:80]} instead of {document.name}")


async def _download(bench: Bench) -> CheckResult:
    await bench.page.goto(bench.server.url("form"))
    shot = await bench.page.snapshot()
    target = bench.folder / "download.bin"
    await bench.page.download(target, ref=shot.find(role="link").ref, timeout_s=_ASK_S)
    size = target.stat().st_size
    return passed(f"downloaded {size:,} bytes") if target.read_bytes() == DOWNLOAD else failed(f"{size:,} wrong bytes")


async def _profile(bench: Bench) -> CheckResult:
    if not bench.session.host.features.get("profiles"):
        return skipped("this WebView has no MULTI_PROFILE (it came with WebView 114)")
    await bench.page.goto(bench.server.url("form"))
    await bench.evaluate("document.cookie = 'doctor=default; path=/'")
    other = await bench.session.new_page(bench.server.url("form"), profile="doctor")
    try:
        seen = await bench.evaluate("document.cookie", page=other)
        if "doctor=" in str(seen):
            return failed(f"a tab of another profile sees the cookie {seen!r}")
        with bench.session.host_client.events("tab.lost") as lost:
            await _crash(other)
            async with asyncio.timeout(_LOST_S):
                await anext(aiter(lost))
            await asyncio.sleep(0.2)  # the events for the crashed renderer's tabs arrive together
            others = [event.fields.get("tab") for event in lost.queue]
        shares = bench.session.host_tab_of(bench.page) in others
    finally:
        await other.close()
    finding = "cookies are separate"
    return (
        warned(f"{finding}; the renderer is shared with the default profile")
        if shares
        else passed(f"{finding}, and so are the renderers")
    )


async def _renderer_crash(bench: Bench) -> CheckResult:
    await bench.page.goto(bench.server.url("form"))
    began = time.monotonic()
    with bench.session.host_client.events("tab.lost") as lost:
        await _crash(bench.page)
        async with asyncio.timeout(_LOST_S):
            reason = (await anext(aiter(lost))).fields.get("reason")
    reported_ms = (time.monotonic() - began) * 1000
    found = await bench.page.goto(bench.server.url("form"))
    if found.title != "Form":
        return failed(f"reported as {reason}, but the tab was not restored: it shows {found.title!r}")
    if reason not in ("renderer_crashed", "renderer_killed"):
        return failed(f"reported as {reason} after {reported_ms:.0f} ms")
    return passed(f"reported as {reason} after {reported_ms:.0f} ms; the tab was restored")


async def _crash(page: Page) -> None:
    attachment = await page.attached()
    attachment.connection.send("Page.crash").abandon()


def idle_check(device: AdbDevice) -> DeviceCheck:
    """The idle timeout that closes unused tabs. Ends the host app twice; no session may be open."""
    meaning = "unused tabs stay open and keep the phone's memory, or tabs in use are closed"
    return DeviceCheck("idle", Stakes("idle tabs", meaning), lambda: _idle(device), IDLE_S)


async def _idle(device: AdbDevice) -> CheckResult:
    from bridge.host.installation import stop_host
    from bridge.host.launch import start_host
    from bridge.host.lease import hold_lease, lease_key

    owner, digest = f"pid {os.getpid()}", "doctor"
    with hold_lease(lease_key(device), owner=owner, policy_digest=digest):
        await stop_host(device, timeout_s=_ASK_S)  # the idle timeout of the first start applies to the whole process
        try:
            async with start_host(
                device, owner=owner, policy_digest=digest, idle_timeout_s=_IDLE_TIMEOUT_S, timeout_s=_ASK_S
            ) as host:
                if host.hello.idle_timeout_s != _IDLE_TIMEOUT_S:
                    return failed(f"requested {_IDLE_TIMEOUT_S} s, the host app uses {host.hello.idle_timeout_s} s")
                with host.events("idle_destroyed") as events:
                    tab = await host.open_tab(width_px=100, height_px=100, density_dpi=160, timeout_s=_ASK_S)
                    await asyncio.sleep(_TOUCH_AFTER_S)
                    await host.touch(tab.tab, timeout_s=_ASK_S)
                    touched = time.monotonic()
                    async with asyncio.timeout(_ASK_S):
                        event = await anext(aiter(events))
                    lived_s = time.monotonic() - touched
        finally:
            try:
                await stop_host(device, timeout_s=_ASK_S)
            except BridgeError as error:
                report_of_stop = error.message
            else:
                report_of_stop = ""
    if report_of_stop:
        return warned(f"could not restore the idle timeout: {report_of_stop}", "webview-bridge host stop")
    finding = f"{lived_s:.1f} s after a touch, with a timeout of {_IDLE_TIMEOUT_S} s instead of 300 s"
    if event.fields.get("tab") != tab.tab or lived_s < _IDLE_TIMEOUT_S - 0.3:
        return failed(f"the tab was closed {finding}")
    return passed(f"the tab was closed {finding}")

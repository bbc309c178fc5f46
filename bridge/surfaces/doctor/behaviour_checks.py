"""Device checks of behaviour: forms, files, requests, profiles, renderer crashes and idle tabs."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.adb import AdbDevice
from bridge.errors import BridgeError
from bridge.page.interception.fetch_messages import Fulfil
from bridge.surfaces.doctor.check_pages import DOWNLOAD
from bridge.surfaces.doctor.drawing_checks import evaluate
from bridge.surfaces.doctor.report import CheckResult, Report, failed, passed, skipped, warned
from bridge.surfaces.local_server import HOST, LocalServer

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.session.session import Session

CHECK_S, IDLE_S = 45.0, 60.0
_ASK_S = 20.0
# A short idle timeout instead of five minutes; a touch halfway must postpone it.
_IDLE_TIMEOUT_S, _TOUCH_AFTER_S = 3, 1.5
_LOST_S = 30.0


async def check_doing(report: Report, session: Session, page: Page, server: LocalServer, folder: Path) -> None:
    """Adds the rows; `folder` is the session's folder for files. The last check crashes the renderer."""
    checks: dict[str, Callable[[], Awaitable[CheckResult]]] = {
        "proxy": lambda: _proxy(session, page, server),
        "Fetch": lambda: _fetch(page, server),
        "<select>": lambda: _select(page, server),
        "file input": lambda: _file_input(page, server, folder),
        "download": lambda: _download(page, server, folder),
        "profile": lambda: _profile(session, page, server),
        "renderer crash": lambda: _renderer_crash(session, page, server),
    }
    for name, check in checks.items():
        await report.ask(name, check, timeout_s=CHECK_S)


async def _proxy(session: Session, page: Page, server: LocalServer) -> CheckResult:
    """Only requests that pass through the gate are in its audit."""
    mechanism = session.host.features.get("proxy", "none")
    audit = session.egress.audit
    before = sum(record.port == server.port for record in audit)
    await page.goto(server.url("original"))
    through = sum(record.port == server.port for record in audit) > before
    found = session.capabilities
    finding = f"set by {mechanism}, egress={found.egress if found else 'unknown'}"
    if through:
        return passed(f"{finding}: a request to {HOST} passed through the gate")
    return warned(
        f"{finding}: a request to {HOST} bypassed the gate",
        "Update Android System WebView, or set strict = false in [browser.policy].",
    )


async def _fetch(page: Page, server: LocalServer) -> CheckResult:
    await page.goto(server.url("form"))
    await page.route("**/original", Fulfil(body=b"from the route"))
    try:
        got = await evaluate(page, "fetch('/original').then(r => r.text())", timeout_s=_ASK_S)
    finally:
        await page.unroute("**/original")
    return passed("a route fulfilled a request") if got == "from the route" else failed(f"the page received {got!r}")


async def _select(page: Page, server: LocalServer) -> CheckResult:
    """Never by a tap: the popup is a system dialog, which crashes a WebView without an Activity."""
    await page.goto(server.url("form"))
    shot = await page.snapshot()
    await page.select(shot.find(role="combobox", name="Colour").ref, "blue")
    value = await evaluate(page, "s.value", timeout_s=_ASK_S)
    return (
        passed("selected without the popup") if value == "blue" else failed(f"the value is {value!r} instead of 'blue'")
    )


async def _file_input(page: Page, server: LocalServer, folder: Path) -> CheckResult:
    document = folder / "doctor.txt"
    content = "räport " * 1000
    document.write_text(content, encoding="utf-8")
    await page.goto(server.url("form"))
    shot = await page.snapshot()
    await page.upload(shot.find(name="Document").ref, document)
    read = "f.files[0] ? new Response(f.files[0]).text().then(t => [f.files[0].name, t]) : null"
    got = await evaluate(page, read, timeout_s=_ASK_S)
    if got == [document.name, content]:
        return passed(f"the page read {document.name}, {document.stat().st_size:,} bytes")
    return failed(f"the page read {str(got)[:80]} instead of {document.name}")


async def _download(page: Page, server: LocalServer, folder: Path) -> CheckResult:
    await page.goto(server.url("form"))
    shot = await page.snapshot()
    target = folder / "download.bin"
    await page.download(target, ref=shot.find(role="link").ref)
    size = target.stat().st_size
    return passed(f"downloaded {size:,} bytes") if target.read_bytes() == DOWNLOAD else failed(f"{size:,} wrong bytes")


async def _profile(session: Session, page: Page, server: LocalServer) -> CheckResult:
    if not session.host.features.get("profiles"):
        return skipped("this WebView has no MULTI_PROFILE (it came with WebView 114)")
    await page.goto(server.url("form"))
    await evaluate(page, "document.cookie = 'doctor=default; path=/'", timeout_s=_ASK_S)
    other = await session.new_tab(server.url("form"), profile="doctor")
    try:
        seen = await evaluate(other, "document.cookie", timeout_s=_ASK_S)
        if "doctor=" in str(seen):
            return failed(f"a tab of another profile sees the cookie {seen!r}")
        with session.host_client.events("tab.lost") as lost:
            await _crash(other)
            async with asyncio.timeout(_LOST_S):
                await anext(aiter(lost))
            await asyncio.sleep(0.2)  # the events for the crashed renderer's tabs arrive together
            others = [event.fields.get("tab") for event in lost.queue]
        shares = session.host_tab_of(page) in others
    finally:
        await session.close_tab(other)
    finding = "cookies are separate"
    return (
        warned(f"{finding}; the renderer is shared with the default profile")
        if shares
        else passed(f"{finding}, the renderer too")
    )


async def _renderer_crash(session: Session, page: Page, server: LocalServer) -> CheckResult:
    await page.goto(server.url("form"))
    began = time.monotonic()
    with session.host_client.events("tab.lost") as lost:
        await _crash(page)
        async with asyncio.timeout(_LOST_S):
            reason = (await anext(aiter(lost))).fields.get("reason")
    reported_ms = (time.monotonic() - began) * 1000
    found = await page.goto(server.url("form"))
    if found.title != "Form":
        return failed(f"reported as {reason}, but the tab was not restored: it shows {found.title!r}")
    if reason not in ("renderer_crashed", "renderer_killed"):
        return failed(f"reported as {reason} after {reported_ms:.0f} ms")
    return passed(f"reported as {reason} after {reported_ms:.0f} ms; the tab was restored")


async def _crash(page: Page) -> None:
    attachment = await page.attached()
    attachment.connection.send("Page.crash").abandon()


async def check_idle(report: Report, device: AdbDevice) -> None:
    """Adds the row for the idle timeout that closes unused tabs. Ends the host app twice."""
    await report.ask("idle", lambda: _idle(device), timeout_s=IDLE_S)


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

"""Runs all checks, from the machine to the page, each after the checks it depends on."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.adb import AdbDevice, AdbServer
from bridge.deadline import Deadline
from bridge.errors import NoDevice, PolicyRefused
from bridge.session.devices import SelectedDevice, select_device
from bridge.surfaces.composition import RunningVirtualDevices, Session
from bridge.surfaces.doctor.device import (
    ASK_S,
    START_S,
    attached_text,
    examine_device,
    held,
    host_answers,
    judged,
    policy_of,
    state_fix,
    wait_until_ready,
)
from bridge.surfaces.doctor.machine import examine_machine, usable
from bridge.surfaces.doctor.report import CheckResult, OnRow, Report, failed, passed, warned

if TYPE_CHECKING:
    from bridge.page.page import Page

WAIT_S = 300.0
_START_VIRTUAL_S = 90.0
_DEVICE_ROWS = ("boot", "android", "webview", "host app")
_SESSION_ROWS = ("host app start", "tab", "capabilities", "egress")
_CHECKS = "device checks"


@dataclass(frozen=True, slots=True)
class Order:
    """The options of the doctor.

    Attributes:
        device: "auto", "virtual" or a serial.
        wait_s: Time to wait for the device to boot; None does not wait.
        fix: Repair what needs no person: build the APK, install the host app.
        device_checks: Also test the device itself, which takes a minute and ends the host app.
        notify: Prints one line for the user.
    """

    device: str
    adb_server: str | None
    wait_s: float | None
    fix: bool
    device_checks: bool
    notify: Callable[[str], None]


async def examine(order: Order, report: Report) -> None:
    """Fill the report. A check that needs a failed one is skipped and names it. Never raises."""
    try:
        await _examine(order, report)
    except Exception as error:  # closing a session or a virtual device that broke
        report.add("end", failed(f"{type(error).__name__}: {error}"))


async def _examine(order: Order, report: Report) -> None:
    await examine_machine(report, order.adb_server, fix=order.fix, notify=order.notify)
    if not usable(report, "adb server"):
        _skip_device(report, order, "no adb server")
        return
    server = AdbServer.from_environment(order.adb_server)
    if order.wait_s is not None and not await _waited(order, report, server, order.wait_s):
        _skip_device(report, order, "the device is not ready")
        return
    async with AsyncExitStack() as stack:
        chosen: list[SelectedDevice] = []
        await report.ask("device", lambda: _device(order, report, server, stack, chosen), timeout_s=_START_VIRTUAL_S)
        if not chosen:
            _skip_device(report, order, "no device")
            return
        device = server.device(chosen[0].serial)
        if not await examine_device(report, device, fix=order.fix, notify=order.notify):
            report.skip(_SESSION_ROWS, "the device cannot open a session")
            _skip_checks(report, order, "no session")
            return
        started = await report.ask("host app start", lambda: host_answers(device), timeout_s=START_S + 5)
        if started.status != "pass":
            report.skip(_SESSION_ROWS[1:], "the host app could not be used")
            _skip_checks(report, order, "no session")
            return
        await _session(order, report, device)


async def _waited(order: Order, report: Report, server: AdbServer, wait_s: float) -> bool:
    if order.device == "virtual":
        report.skip(["wait"], "a virtual device is ready when it starts")
        return True

    limit_s = round(min(wait_s, report.deadline.remaining_s), 1)

    async def wait() -> CheckResult:
        return passed(await wait_until_ready(server, order.device, timeout_s=limit_s))

    return (await report.ask("wait", wait, timeout_s=limit_s + ASK_S)).status == "pass"


async def _device(
    order: Order, report: Report, server: AdbServer, stack: AsyncExitStack, chosen: list[SelectedDevice]
) -> CheckResult:
    entries = await server.devices(timeout_s=ASK_S)
    virtual = Session.virtual_devices if order.device == "virtual" else RunningVirtualDevices()
    try:
        found = await stack.enter_async_context(
            select_device(server, order.device, virtual, lambda _: None, timeout_s=_START_VIRTUAL_S)
        )
    except NoDevice:
        others = f"attached: {attached_text(entries)}" if entries else "nothing is attached"
        fix = next((fix for entry in entries if (fix := state_fix(entry.state))), "")
        if fix:
            return failed(f"no usable device; {others}", fix, exit_code=3)
        if not usable(report, "chromium") or _warns(report, "chromium"):
            return failed(f"{others}, and there is no Chromium for a virtual device", "Attach a device.", exit_code=3)
        return warned(
            f"{others}; --device auto starts a virtual device",
            "Use doctor --device virtual to check that one.",
        )
    chosen.append(found)
    kind = "virtual: Chromium on this machine, not a phone" if found.is_virtual else "authorised"
    troubled = tuple(entry for entry in entries if entry.state != "device" and entry.serial != found.serial)
    if troubled:
        return warned(f"{found.serial} ({kind}); also {attached_text(troubled)}", state_fix(troubled[0].state))
    return passed(f"{found.serial} ({kind})")


def _warns(report: Report, name: str) -> bool:
    return any(row.name == name and row.verdict.status == "warn" for row in report.rows)


async def _session(order: Order, report: Report, device: AdbDevice) -> None:
    with tempfile.TemporaryDirectory(prefix="webview-bridge-doctor-") as name:
        folder = Path(name)
        async with AsyncExitStack() as stack:
            opened: list[tuple[Session, Page]] = []
            server = None
            if order.device_checks:
                from bridge.surfaces.doctor.check_pages import serve_check_pages

                server = stack.enter_context(serve_check_pages())

            refusals: list[PolicyRefused] = []

            async def open_tab(*, strict: bool) -> None:
                async with AsyncExitStack() as opening:
                    session = await opening.enter_async_context(
                        Session.open(
                            device.serial,
                            adb_server=order.adb_server,
                            policy=policy_of(strict=strict),
                            grants=[server.grant] if server else [],
                            reconnect=True,
                            uploads_root=folder,
                            downloads_root=folder,
                            on_notice=lambda _: None,
                            timeout_s=START_S,
                        )
                    )
                    opened.append((session, await session.new_tab()))
                    stack.push_async_exit(opening.pop_all())

            async def tab() -> CheckResult:
                try:
                    await open_tab(strict=True)
                except PolicyRefused as error:  # the other checks still apply to a device that cannot enforce a policy
                    refusals.append(error)
                    await open_tab(strict=False)
                session = opened[0][0]
                return passed(f"a WebView of {session.view.width_px} x {session.view.height_px} px, attached")

            await report.ask("tab", tab, timeout_s=START_S + 30)
            if not opened:
                report.skip(_SESSION_ROWS[2:], "no tab")
                _skip_checks(report, order, "no tab")
                return
            session, page = opened[0]
            found = session.capabilities
            if found is None:
                report.skip(_SESSION_ROWS[2:], "the capability probe failed")
            else:
                report.add("capabilities", judged(found))
                report.add("egress", held(found, refusals))
            if server is not None:
                from bridge.surfaces.doctor.behaviour_checks import check_doing
                from bridge.surfaces.doctor.drawing_checks import check_drawing

                await check_drawing(report, session, page, server)
                await check_doing(report, session, page, server, folder)
    if order.device_checks:
        from bridge.surfaces.doctor.behaviour_checks import check_idle

        await check_idle(report, device)


def _skip_device(report: Report, order: Order, why: str) -> None:
    if not any(row.name == "device" for row in report.rows):
        report.skip(["device"], why)
    report.skip((*_DEVICE_ROWS, *_SESSION_ROWS), why)
    _skip_checks(report, order, why)


def _skip_checks(report: Report, order: Order, why: str) -> None:
    if order.device_checks:
        report.skip([_CHECKS], why)


def whole_report(on_row: OnRow, timeout_s: float | None) -> Report:
    """An empty report with one deadline for all checks."""
    return Report(on_row, Deadline.after(math.inf if timeout_s is None else timeout_s))

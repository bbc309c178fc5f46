"""Runs all checks, from the machine to the page, each after the checks it depends on."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.adb import AdbDevice, AdbServer
from bridge.deadline import Deadline
from bridge.errors import NoDevice, PolicyRefused
from bridge.policy.grant import TestServerGrant
from bridge.session import SelectedDevice, select_device
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
from bridge.surfaces.doctor.device_check import Bench, DeviceCheck
from bridge.surfaces.doctor.machine import examine_machine, usable
from bridge.surfaces.doctor.report import CheckResult, OnRow, Report, failed, passed, warned
from bridge.surfaces.local_server import HOST, LocalServer

if TYPE_CHECKING:
    from bridge.page.page import Page

WAIT_S = 300.0
_START_VIRTUAL_S = 90.0
_DEVICE_ROWS = ("boot", "android", "webview", "host app")
_SESSION_ROWS = ("host app start", "tab", "capabilities", "egress")
_CHECKS = "device checks"
_DARK_S, _DARK_VIRTUAL_S = 60.0, 1.0


@dataclass(frozen=True, slots=True)
class Order:
    """The options of the doctor.

    Attributes:
        device: "auto", "virtual" or a serial.
        wait_s: Time to wait for the device to boot; None does not wait.
        fix: Repair what needs no person: build the APK, install the host app.
        device_checks: Also test the device itself, which takes minutes and ends the host app.
        notify: Prints one line for the user.
        only: Names of device checks; empty for all.
        dark_s: How long the screen is off before frames and taps are tried; None is a minute, on a virtual device 1 s.
        has_cable_check: A person is there to pull the cable.
        sample_apk: A debuggable app to attach to, built by `tools/build-host-app --sample`.
        serials: Receives the serials of all attached devices, which no report may contain.
    """

    device: str
    adb_server: str | None
    wait_s: float | None
    fix: bool
    device_checks: bool
    notify: Callable[[str], None]
    only: frozenset[str] = frozenset()
    dark_s: float | None = None
    has_cable_check: bool = False
    sample_apk: Path | None = None
    serials: set[str] = field(default_factory=set)


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
        await _session(order, report, device, server)


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
    order.serials.update(entry.serial for entry in entries)
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
            return failed(f"{others}, and no Chromium was found for a virtual device", "Attach a device.", exit_code=3)
        return warned(
            f"{others}; --device auto starts a virtual device",
            "Use doctor --device virtual to check that one.",
        )
    chosen.append(found)
    order.serials.add(found.serial)
    kind = "virtual: Chromium on this machine, not a phone" if found.is_virtual else "authorised"
    troubled = tuple(entry for entry in entries if entry.state != "device" and entry.serial != found.serial)
    if troubled:
        return warned(f"{found.serial} ({kind}); also {attached_text(troubled)}", state_fix(troubled[0].state))
    return passed(f"{found.serial} ({kind})")


def _warns(report: Report, name: str) -> bool:
    return any(row.name == name and row.verdict.status == "warn" for row in report.rows)


async def _session(order: Order, report: Report, device: AdbDevice, adb: AdbServer) -> None:
    with tempfile.TemporaryDirectory(prefix="webview-bridge-doctor-") as name, ExitStack() as servers:
        folder = Path(name)
        pages: list[LocalServer] = []
        if order.device_checks:
            from bridge.surfaces.demo.server import serve_demo_pages
            from bridge.surfaces.doctor.check_pages import serve_check_pages

            pages = [servers.enter_context(serve_check_pages()), servers.enter_context(serve_demo_pages())]
        async with AsyncExitStack() as stack:
            opened = await _open_tab(order, report, device, folder, pages, stack)
            if opened is None:
                return
            session, page = opened
            if pages:
                dark_s = (
                    order.dark_s if order.dark_s is not None else (_DARK_VIRTUAL_S if session.is_virtual else _DARK_S)
                )
                bench = Bench(session, page, pages[0], pages[1], folder, dark_s)
                await _run(order, report, session_checks(bench, adb if order.has_cable_check else None, order.notify))
        if pages:
            await _run(order, report, other_checks(device, pages[0], order.sample_apk))
            _report_unknown(order, report)


async def _open_tab(
    order: Order, report: Report, device: AdbDevice, folder: Path, pages: Sequence[LocalServer], stack: AsyncExitStack
) -> tuple[Session, Page] | None:
    """Adds the rows of the session; a session with one tab, which `stack` closes."""
    refusals: list[PolicyRefused] = []
    opened: list[tuple[Session, Page]] = []
    grants = [TestServerGrant(host, server.port) for server in pages for host in (HOST, "localhost")]

    async def open_tab(*, strict: bool) -> None:
        async with AsyncExitStack() as opening:
            session = await opening.enter_async_context(
                Session.open(
                    device.serial,
                    adb_server=order.adb_server,
                    policy=policy_of(strict=strict),
                    grants=grants,
                    reconnect=True,
                    uploads_root=folder,
                    downloads_root=folder,
                    on_notice=lambda _: None,
                    timeout_s=START_S,
                )
            )
            opened.append((session, await session.new_page()))
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
        return None
    found = opened[0][0].capabilities
    if found is None:
        report.skip(_SESSION_ROWS[2:], "the capability probe failed")
    else:
        report.add("capabilities", judged(found))
        report.add("egress", held(found, refusals))
    return opened[0]


def session_checks(bench: Bench, adb: AdbServer | None, notify: Callable[[str], None]) -> list[DeviceCheck]:
    """The checks that need a session, those that may end it last. `adb` None leaves out the cable."""
    from bridge.surfaces.doctor.app_checks import demo_check
    from bridge.surfaces.doctor.behaviour_checks import behaviour_checks, crash_check
    from bridge.surfaces.doctor.drawing_checks import drawing_checks
    from bridge.surfaces.doctor.input_checks import input_checks, picker_checks
    from bridge.surfaces.doctor.page_checks import page_checks
    from bridge.surfaces.doctor.power_checks import cable_check, power_checks, second_session_check

    return [
        *drawing_checks(bench),
        *input_checks(bench),
        *page_checks(bench),
        *behaviour_checks(bench),
        demo_check(bench),
        second_session_check(bench),
        *power_checks(bench),
        *([cable_check(bench, adb, notify)] if adb is not None else []),
        *picker_checks(bench),
        crash_check(bench),
    ]


def other_checks(device: AdbDevice, server: LocalServer, sample_apk: Path | None) -> list[DeviceCheck]:
    """The checks that need the device without a session."""
    from bridge.surfaces.doctor.app_checks import attach_check
    from bridge.surfaces.doctor.behaviour_checks import idle_check

    return [attach_check(device, server, sample_apk), idle_check(device)]


async def _run(order: Order, report: Report, checks: Sequence[DeviceCheck]) -> None:
    for check in checks:
        if not order.only or check.name in order.only:
            await report.ask(check.name, check.run, timeout_s=check.timeout_s, stakes=check.stakes)


def _report_unknown(order: Order, report: Report) -> None:
    for name in sorted(order.only - {row.name for row in report.rows}):
        report.add(name, failed("unknown device check", exit_code=2))


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

"""Checks of a device: boot, Android and WebView versions, the host app."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import bridge
from bridge.adb import AdbDevice, AdbServer, DeviceEntry
from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, DeviceBusy, PolicyRefused
from bridge.policy import BrowserPolicy
from bridge.session import OLDEST_WEBVIEW, Capabilities
from bridge.surfaces.doctor.report import CheckResult, Report, failed, passed, warned

ASK_S, INSTALL_S, START_S = 20.0, 200.0, 60.0
OLDEST_API_LEVEL = 26
# Older versions have no `WeakRef`, so refs are held strongly and pruned at each snapshot.
_WEAK_REFS_SINCE = 84
_POLL_S = 0.5
_UPDATE = (
    "Update 'Android System WebView' (or Chrome, where that provides it) in the Play Store; on an emulator, "
    "install a newer WebView APK with adb install -r, or take an image with a newer Android."
)
_STATE_FIXES = {
    "unauthorized": "Unlock the phone and accept the USB debugging question.",
    "authorizing": "Unlock the phone and accept the USB debugging question.",
    "offline": "Reconnect it, or wait until it has booted (doctor --wait).",
    "no permissions": "Give your user access to the USB device (udev rules: developer.android.com/studio/run/device).",
    "bootloader": "Start Android on it.",
    "recovery": "Start Android on it.",
    "sideload": "Start Android on it.",
}


@dataclass(frozen=True, slots=True)
class Readiness:
    """Boot progress of a device; `missing` is "" when it is ready."""

    missing: str
    seen: str


def state_fix(state: str) -> str:
    """The fix for a state other than `device`; "" if unknown."""
    return next((fix for word, fix in _STATE_FIXES.items() if state.startswith(word)), "")


def attached_text(entries: tuple[DeviceEntry, ...]) -> str:
    """`emulator-5554 (device), R58M (unauthorized)`."""
    return ", ".join(f"{entry.serial} ({entry.state})" for entry in entries) or "none"


async def readiness(device: AdbDevice, *, timeout_s: float) -> Readiness:
    """Checks that the system has booted, the package service responds and a WebView provider is set."""
    deadline = Deadline.after(timeout_s)
    booted = await device.getprop("sys.boot_completed", timeout_s=deadline.remaining_s)
    if booted != "1":
        return Readiness("boot", f"sys.boot_completed is {booted!r}")
    packages = await device.shell(["pm", "path", "android"], timeout_s=deadline.remaining_s)
    if "package:" not in packages.stdout:
        output = (packages.stdout + packages.stderr).strip()[:120] or "nothing"
        return Readiness("package service", f"pm path android printed {output}")
    name, version = await webview_provider(device, timeout_s=deadline.remaining_s)
    if not name:
        return Readiness("WebView provider", "dumpsys webviewupdate names no current WebView package")
    return Readiness("", f"booted, the package service responds, WebView is {name} {version}")


async def webview_provider(device: AdbDevice, *, timeout_s: float) -> tuple[str, str]:
    """Package and version of the current WebView provider; empty if there is none.

    Source: AOSP WebViewUpdateServiceImpl.dumpState, "Current WebView package (name, version): (…, …)".
    """
    shown = await device.shell(["dumpsys", "webviewupdate"], timeout_s=timeout_s)
    found = re.search(r"Current WebView package \(name, version\): \(([\w.]+), ([^)\s]+)\)", shown.stdout)
    return (found[1], found[2]) if found else ("", "")


async def wait_until_ready(server: AdbServer, wanted: str, *, timeout_s: float) -> str:
    """Wait until the device is attached and has booted; returns its state.

    Raises:
        DeadlineExceeded: With the last state.
    """
    deadline = Deadline.after(timeout_s)
    seen = "not checked yet"
    while True:
        ask_s = min(ASK_S, max(0.1, deadline.remaining_s))
        try:
            await server.ensure_running(timeout_s=ask_s)
            entries = await server.devices(timeout_s=ask_s)
            ready = [entry.serial for entry in entries if entry.state == "device"]
            serial = next((s for s in ready if s == wanted), None) if wanted != "auto" else next(iter(ready), None)
            if serial is None:
                seen = f"attached: {attached_text(entries)}"
            else:
                found = await readiness(server.device(serial), timeout_s=ask_s)
                seen = f"{serial}: {found.seen}"
                if not found.missing:
                    return seen
        except BridgeError as error:
            seen = error.message
        if deadline.remaining_s <= _POLL_S:
            raise DeadlineExceeded("the device to be ready", timeout_s, seen)
        # Booting sends no event: its steps are a property, a service and a line in a dump.
        await asyncio.sleep(_POLL_S)


async def examine_device(report: Report, device: AdbDevice, *, fix: bool, notify: Callable[[str], None]) -> bool:
    """Adds four rows; returns whether a session can be opened."""
    await report.ask("boot", lambda: _boot(device), timeout_s=ASK_S)
    android = await report.ask("android", lambda: _android(device), timeout_s=ASK_S)
    webview = await report.ask("webview", lambda: _webview(device), timeout_s=ASK_S)
    installed = await report.ask(
        "host app", lambda: _host_app(device, fix, notify), timeout_s=INSTALL_S if fix else ASK_S
    )
    return "fail" not in (android.status, webview.status, installed.status)


async def _boot(device: AdbDevice) -> CheckResult:
    found = await readiness(device, timeout_s=ASK_S)
    if found.missing:
        return failed(f"{found.missing} is not ready: {found.seen}", "Wait with doctor --wait.", exit_code=3)
    return passed("sys.boot_completed, package service and WebView provider are ready")


async def _android(device: AdbDevice) -> CheckResult:
    level = await device.getprop("ro.build.version.sdk", timeout_s=ASK_S)
    release = await device.getprop("ro.build.version.release", timeout_s=ASK_S)
    maker = await device.getprop("ro.product.manufacturer", timeout_s=ASK_S)
    model = await device.getprop("ro.product.model", timeout_s=ASK_S)
    text = f"API {level or '?'} (Android {release or '?'}), {maker} {model}".strip()
    if not re.fullmatch("[0-9]{1,9}", level):
        return warned(f"{text}: the API level is unknown")
    if int(level) < OLDEST_API_LEVEL:
        return failed(f"{text}: the host app needs API {OLDEST_API_LEVEL}", "Use a device with Android 8 or newer.")
    return passed(text)


async def _webview(device: AdbDevice) -> CheckResult:
    name, version = await webview_provider(device, timeout_s=ASK_S)
    if not name:
        return failed("no WebView provider is set", "Enable or install Android System WebView.")
    major = version.split(".")[0]
    is_known = re.fullmatch("[0-9]{1,9}", major) is not None
    if is_known and int(major) < OLDEST_WEBVIEW:
        return failed(f"{name} {version}; {OLDEST_WEBVIEW} is the oldest supported version", _UPDATE)
    if is_known and int(major) < _WEAK_REFS_SINCE:
        return warned(f"{name} {version}: refs of removed elements are kept until the next snapshot", _UPDATE)
    return passed(f"{name} {version}")


async def _host_app(device: AdbDevice, fix: bool, notify: Callable[[str], None]) -> CheckResult:
    from bridge.host.apk import ready_apk
    from bridge.host.installation import install_host, installed_host
    from bridge.host.lease import hold_lease, lease_key

    found = await installed_host(device, timeout_s=ASK_S)
    if found is not None and found.version_name == bridge.__version__:
        return passed(f"version {found.version_name}")
    if fix:
        apk = await ready_apk(notify, timeout_s=INSTALL_S)
        with hold_lease(lease_key(device), owner=f"pid {os.getpid()}", policy_digest="doctor"):
            done = await install_host(device, apk, timeout_s=INSTALL_S, report=notify)
        if done.version_name != bridge.__version__:
            return warned(f"{done.action} version {done.version_name}, this is {bridge.__version__}")
        return passed(f"{done.action} version {done.version_name}")
    if found is None:
        return failed("not installed", "webview-bridge host install, or doctor --fix.", exit_code=3)
    return warned(
        f"version {found.version_name or '?'}, this is {bridge.__version__}",
        "webview-bridge host install, or doctor --fix.",
    )


async def host_answers(device: AdbDevice) -> CheckResult:
    """Starts the host app and performs its handshake."""
    from bridge.host.launch import start_host

    try:
        async with start_host(device, owner=f"pid {os.getpid()}", policy_digest="doctor", timeout_s=START_S) as host:
            hello = host.hello
    except DeviceBusy as error:
        return warned(error.message, error.hint)
    return passed(f"protocol {hello.protocol}, process {hello.pid}, proxy by {hello.features.get('proxy', '?')}")


def judged(found: Capabilities) -> CheckResult:
    """The row of the capability probe. Missing capabilities are warnings, because every strategy has a fallback."""
    lacks = {
        "isolated_worlds": "no isolated worlds: pages can see the script",
        "file_input": "no file input over CDP",
        "emulation": "no emulation",
        "screencast": "no screencast",
        "focus_emulation": "no focus emulation",
        "fetch_interception": "requests cannot be intercepted",
    }
    missing = [text for name, text in lacks.items() if not getattr(found, name)]
    if found.capture != "cdp":
        missing.append("no capture over CDP: the host app draws screenshots")
    full_page = found.full_page or "untried"
    finding = f"capture by {found.capture}, full page by {full_page}, host features: {', '.join(found.host_features)}"
    return warned(f"{finding}; {'; '.join(missing)}", _UPDATE) if missing else passed(finding)


def held(found: Capabilities, refusals: Sequence[PolicyRefused]) -> CheckResult:
    """Checks that the device enforces a strict policy; `refusals` are the errors of a strict session."""
    finding = f"egress={found.egress}, webrtc={found.webrtc}, websockets={found.websockets}"
    if refusals:
        return warned(f"{finding}: {refusals[0].message}", refusals[0].hint)
    return passed(f"{finding}: a strict policy is enforced")


def policy_of(*, strict: bool) -> BrowserPolicy:
    """The operator's policy; `strict` refuses a device that cannot enforce it."""
    from bridge.policy.configuration import load_policy

    return replace(load_policy("operator", os.environ), strict=strict)

"""Checks of this machine: adb, Chromium, the policy and its gate, the host app's APK."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable

import bridge
from bridge.adb import AdbServer
from bridge.errors import AdbUnavailable, ChromiumMissing, InstallFailed
from bridge.surfaces.doctor.report import CheckResult, Report, failed, passed, warned

PROGRAM_S, SERVER_S, CHROMIUM_S, GATE_S = 10.0, 25.0, 15.0, 10.0
APK_S = 600.0
# Cloud metadata services have link-local addresses; no policy allows them.
_NEVER = "http://169.254.169.254/latest/meta-data/"


async def examine_machine(
    report: Report, server_address: str | None, *, fix: bool, notify: Callable[[str], None]
) -> None:
    """Adds five rows. `fix` builds a missing APK in a source checkout."""
    report.add("webview-bridge", passed(f"{bridge.__version__} on Python {sys.version.split()[0]}, {sys.platform}"))
    await report.ask("adb program", _adb_program, timeout_s=PROGRAM_S)
    await report.ask("adb server", lambda: _adb_server(server_address), timeout_s=SERVER_S)
    await report.ask("chromium", _chromium, timeout_s=CHROMIUM_S)
    await report.ask("egress gate", _egress_gate, timeout_s=GATE_S)
    await report.ask("host app APK", lambda: _apk(fix, notify), timeout_s=APK_S if fix else GATE_S)


async def _adb_program() -> CheckResult:
    from bridge.adb.program import find_adb_program

    try:
        program = await find_adb_program()
    except AdbUnavailable as error:
        return warned(f"{error.message} A running or remote server still works.", error.hint)
    process = await asyncio.create_subprocess_exec(
        program,
        "version",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    found = re.search(rb"version (\d[\d.]*)(?:\s+Version (\S+))?", printed)
    if process.returncode != 0 or found is None:
        output = printed.decode("utf-8", "replace").strip()[:200] or "no output"
        return failed(
            f"{program} version exited with {process.returncode}: {output}",
            "Reinstall the Android platform tools.",
            exit_code=3,
        )
    tools = f", platform tools {found[2].decode()}" if found[2] else ""
    return passed(f"{program}, {found[1].decode()}{tools}")


async def _adb_server(address: str | None) -> CheckResult:
    server = AdbServer.from_environment(address)
    version = await server.ensure_running(timeout_s=SERVER_S)
    return passed(f"{server.address}, version 1.0.{version}")


async def _chromium() -> CheckResult:
    from bridge.virtual_device import find_chromium, program_version

    try:
        program = find_chromium(os.environ)
    except ChromiumMissing as error:
        return warned(f"{error.message} Virtual devices need it; phones do not.", error.hint)
    version = await program_version(program)
    if not version and sys.platform != "win32":
        # Ubuntu's package is a stub for a snap; where snaps do not run it prints a message instead of a version.
        return warned(f"{program} prints no version; it may not run here.", "Install Google Chrome or Chromium.")
    return passed(f"{program} {version}".rstrip())


async def _egress_gate() -> CheckResult:
    """Starts a gate with the configured policy and requests an address that no policy allows."""
    from bridge.policy.configuration import load_policy
    from bridge.policy.gate import run_gate
    from bridge.policy.pinning import PinnedEgress

    policy = load_policy("operator", os.environ)
    async with run_gate(PinnedEgress(policy)) as gate:
        reader, writer = await asyncio.open_connection("127.0.0.1", gate.port)
        try:
            writer.write(f"GET {_NEVER} HTTP/1.1\r\nHost: 169.254.169.254\r\nConnection: close\r\n\r\n".encode())
            await writer.drain()
            answer = (await reader.readline()).decode("latin-1").strip()
        finally:
            writer.close()
    if " 403 " not in f"{answer} ":
        return failed(f"the gate did not refuse a request to 169.254.169.254; it sent {answer!r}")
    allowed = f"{len(policy.allowed_origins)} allowed, {len(policy.denied_origins)} denied origins"
    return passed(f"refuses forbidden addresses; default {policy.default_action}, {allowed}")


async def _apk(fix: bool, notify: Callable[[str], None]) -> CheckResult:
    from bridge.host.apk import APK, BUILD_HINT, is_checkout, is_current, ready_apk

    if APK.is_file() and (not is_checkout() or await asyncio.to_thread(is_current)):
        return passed(f"{APK} ({APK.stat().st_size:,} bytes)")
    if fix:
        try:
            built = await ready_apk(notify, timeout_s=APK_S)
        except InstallFailed as error:
            return warned(error.message, error.hint)
        return passed(f"built {built} ({built.stat().st_size:,} bytes)")
    if APK.is_file():
        return warned(f"{APK} is older than its sources.", "Rebuild it with doctor --fix or tools/build-host-app.")
    hint = (
        BUILD_HINT
        if is_checkout()
        else "Install webview-bridge from a wheel that tools/build-wheel built in a clone: it contains the APK."
    )
    return warned("missing; phones need it, virtual devices do not.", hint)


def usable(report: Report, name: str) -> bool:
    """True if the row exists and has passed or warned."""
    return any(row.name == name and row.verdict.status in ("pass", "warn") for row in report.rows)

"""The doctor on healthy and on ailing devices."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from bridge.adb import AdbServer
from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, NoDevice
from bridge.surfaces.doctor.device import wait_until_ready
from bridge.surfaces.doctor.report import Report, ReportRow, passed
from bridge.virtual_device import VirtualDeviceHandle
from tests.doctor.conftest import Command, detached_device

MACHINE = ["webview-bridge", "adb program", "adb server", "chromium", "egress gate", "host app APK"]
DEVICE = ["device", "boot", "android", "webview", "host app", "host app start", "tab", "capabilities", "egress"]


def rows_of(out: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(out)["rows"]}


class TestReport:
    def report(self, timeout_s: float = math.inf) -> tuple[Report, list[ReportRow]]:
        told: list[ReportRow] = []
        return Report(told.append, Deadline.after(timeout_s)), told

    async def test_a_check_that_hangs_is_cut_off_and_the_next_one_is_asked(self) -> None:
        report, told = self.report()

        async def hangs() -> Any:
            await asyncio.Event().wait()

        async def answers() -> Any:
            return passed("fine")

        assert (await report.ask("deaf", hangs, timeout_s=0.05)).exit_code == 5
        assert (await report.ask("well", answers, timeout_s=20)).status == "pass"
        assert [row.name for row in told] == ["deaf", "well"]
        assert "deaf timed out after 0.05 s" in told[0].verdict.finding

    async def test_an_error_of_ours_keeps_its_hint_and_a_foreign_one_is_named(self) -> None:
        report, told = self.report()

        async def ours() -> Any:
            raise NoDevice("nothing there", hint="Attach one.")

        async def foreign() -> Any:
            raise ZeroDivisionError("by zero")

        await report.ask("ours", ours, timeout_s=20)
        await report.ask("foreign", foreign, timeout_s=20)
        assert (told[0].verdict.finding, told[0].verdict.fix) == ("nothing there", "Attach one.")
        assert told[1].verdict.finding == "unexpected ZeroDivisionError: by zero"
        assert report.exit_code == 3, "the first failure's"

    async def test_nothing_is_asked_after_the_time_for_all_of_it(self) -> None:
        report, told = self.report(timeout_s=0.0)

        async def never() -> Any:
            raise AssertionError("asked")

        assert (await report.ask("late", never, timeout_s=20)).exit_code == 5
        assert "not checked" in told[0].verdict.finding


@pytest.mark.browser
class TestDevices:
    def test_a_healthy_device_passes_every_row(
        self, device: VirtualDeviceHandle, answer: Callable[..., dict[str, Any]]
    ) -> None:
        found = answer("doctor", "--device", device.serial)
        assert [row["name"] for row in found["rows"]] == MACHINE + DEVICE
        assert {row["name"]: row["finding"] for row in found["rows"] if row["status"] not in ("pass", "warn")} == {}
        rows = {row["name"]: row for row in found["rows"]}
        assert rows["egress"]["finding"].startswith("egress=pinned, webrtc=blocked")
        assert rows["webview"]["finding"].startswith("com.google.android.webview ")
        assert found["exit_code"] == 0

    def test_device_checks_name_the_feature_that_depends_on_them(
        self, device: VirtualDeviceHandle, command: Command
    ) -> None:
        code, out, err = command("doctor", "--device", device.serial, "--device-checks", "--only", "click", "--json")
        rows = rows_of(out)
        assert [*rows] == [*MACHINE, *DEVICE, "click"]
        assert (rows["click"]["status"], rows["click"]["feature"]) == ("pass", "click")
        assert (code, err) == (0, "")

    def test_a_serial_that_is_not_attached_never_falls_back(self, adb_port: int, command: Command) -> None:
        code, out, _ = command("doctor", "--device", "NOPE", "--json")
        rows = rows_of(out)
        assert code == 3
        assert "no device with serial 'NOPE'" in rows["device"]["finding"]
        assert {rows[name]["status"] for name in DEVICE[1:]} == {"skipped"}

    def test_an_unauthorised_phone_is_named_with_what_to_do(self, adb_port: int, command: Command) -> None:
        with detached_device(adb_port, authorize="never", has_engine=False) as phone:
            code, out, _ = command("doctor", "--device", phone.serial)
        assert code == 3
        assert "has not authorised this computer" in out
        assert "accept the USB debugging prompt" in out

    def test_a_webview_that_is_too_old_fails_with_the_way_to_update(self, adb_port: int, command: Command) -> None:
        with detached_device(adb_port) as phone:
            asyncio.run(phone.fault("update_webview", version="69.0.3497.100"))
            code, out, _ = command("doctor", "--device", phone.serial, "--json")
        row = rows_of(out)["webview"]
        assert code == 1
        assert row["finding"] == "com.google.android.webview 69.0.3497.100; 91 is the oldest supported version"
        assert "Play Store" in row["fix"]

    @pytest.mark.jdk
    def test_a_missing_host_app_fails_and_fix_installs_it(self, adb_port: int, apk: object, command: Command) -> None:
        with detached_device(adb_port, has_host_app=False) as phone:
            code, out, _ = command("doctor", "--device", phone.serial, "--json")
            assert (code, rows_of(out)["host app"]["finding"]) == (3, "not installed")
            assert "host install" in rows_of(out)["host app"]["fix"]
            code, out, _ = command("doctor", "--device", phone.serial, "--fix", "--json")
        assert (code, rows_of(out)["host app"]["status"]) == (0, "pass")
        assert rows_of(out)["egress"]["status"] == "pass"


@pytest.mark.browser
class TestWaiting:
    def test_wait_outlasts_a_boot(self, adb_port: int, command: Command) -> None:
        with detached_device(adb_port) as phone:
            asyncio.run(phone.fault("reboot", boot_s=2.0))
            code, out, _ = command("doctor", "--device", phone.serial, "--wait", "--timeout", "60", "--json")
        rows = rows_of(out)
        assert rows["wait"]["status"] == "pass", rows["wait"]
        assert "WebView is com.google.android.webview" in rows["wait"]["finding"]
        assert code == 0

    def test_a_device_without_a_webview_is_not_ready(self, adb_port: int) -> None:
        with detached_device(adb_port, has_engine=False) as phone:
            waiting = wait_until_ready(AdbServer.from_environment(), phone.serial, timeout_s=20)
            with pytest.raises(DeadlineExceeded, match="names no current WebView package"):
                asyncio.run(waiting)

    def test_wait_ends_with_what_was_last_seen(self, adb_port: int, command: Command) -> None:
        code, out, _ = command("doctor", "--device", "emulator-9", "--wait", "--timeout", "10", "--json")
        assert code == 5
        assert "last seen: attached: " in rows_of(out)["wait"]["finding"]


def test_a_policy_with_a_typo_fails_the_gate(adb_port: int, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIDGE_POLICY_DEFAULT_ACTION", "alow")
    code, out, _ = command("doctor", "--device", "NOPE", "--json")
    assert code == 2
    assert "'alow'" in rows_of(out)["egress gate"]["finding"]


def test_a_bad_server_address_is_a_row_and_not_the_end(command: Command) -> None:
    code, out, _ = command("doctor", "--adb-server", "nonsense")
    assert code == 2
    assert "it must be host:port" in out
    assert "skipped device" in out

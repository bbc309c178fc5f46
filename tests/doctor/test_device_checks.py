"""Every device check passes on a healthy device, and fails when the device has the defect that it is there for."""

from __future__ import annotations

import asyncio
import html
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bridge
from bridge.adb import AdbServer
from bridge.surfaces.doctor import behaviour_checks, page_checks, power_checks
from bridge.surfaces.doctor.examination import Order, examine, whole_report
from bridge.surfaces.doctor.report import ReportRow
from bridge.surfaces.doctor.saved_report import clean
from bridge.virtual_device import VirtualDeviceHandle
from tests.doctor.conftest import Command, detached_device

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

SAMPLE_APK = Path(__file__).parent / "data" / "sample.apk"
# The defect of the virtual device with which a check does not pass.
DEFECTS = {
    "test page": "no_navigation",
    "frames, screen on": "no_frames",
    "screenshot of the viewport": "blank_page",
    "full page, scroll-and-stitch": "blank_page",
    "full page, host-native": "blank_page",
    "full page, cdp-beyond-viewport": "blank_page",
    "WebGL by CDP": "flat_canvas",
    "WebGL by the host's canvas": "flat_canvas",
    "WebGL by the display's frame": "flat_canvas",
    "click": "bare_clicks",
    "click in a frame": "bare_clicks",
    "double click": "no_double_click",
    "long press": "no_context_menu",
    "typed keys": "no_keys",
    "date and colour inputs": "no_date",
    "dialog: alert": "no_alerts",
    "dialog: confirm": "answer_dialogs_at_once",
    "dialog: prompt": "answer_dialogs_at_once",
    "dialog: beforeunload": "no_beforeunload",
    "popup": "no_windows",
    "service worker": "no_service_worker",
    "third-party cookie": "no_third_party_cookies",
    "proxy": "take_proxy_away",
    "Fetch": "no_interception",
    "<select>": "no_select",
    "file input": "no_files",
    "download": "no_downloads",
    "profile": "shared_profiles",
    "demo": "no_navigation",
    "second session": "any_owner",
    "frames and tap, screen off": "sleeps_in_the_dark",
    "frames and tap, doze": "sleeps_in_doze",
    "select opened by the page": "crashing_pickers",
    "date picker opened by the page": "crashing_pickers",
    "file chooser opened by the page": "crashing_pickers",
    "renderer crash": "silent_crashes",
    "attach to an app": "no_devtools_in_apps",
    "idle": "never_idle",
}
# Faults that are not defects of the list in `defects.py`.
FAULTS = {"answer_dialogs_at_once", "take_proxy_away"}
# Strategies that this engine has no use for: they are skipped where the one in use passes.
UNUSED = {"full page, host-native", "full page, cdp-beyond-viewport"}
BY_DEFECT = {defect: [name for name, other in DEFECTS.items() if other == defect] for defect in DEFECTS.values()}


def checked(serial: str, *names: str, sample_apk: Path | None = SAMPLE_APK, **options: Any) -> dict[str, ReportRow]:
    """The rows of these device checks."""
    report = whole_report(lambda _row: None, None)
    order = Order(
        serial, None, None, False, True, lambda _: None, only=frozenset(names), sample_apk=sample_apk, **options
    )
    asyncio.run(examine(order, report))
    return {row.name: row for row in report.rows}


@pytest.fixture
def fresh(adb_port: int) -> Iterator[VirtualDeviceHandle]:
    with detached_device(adb_port) as handle:
        yield handle


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks that fail wait for what does not come; here not for long."""
    for module, name in ((behaviour_checks, "_ASK_S"), (behaviour_checks, "_LOST_S"), (page_checks, "_WORKER_S")):
        monkeypatch.setattr(module, name, 8.0)


def test_all_pass_on_a_healthy_device_and_each_names_its_feature(fresh: VirtualDeviceHandle) -> None:
    rows = checked(fresh.serial)
    device_rows = {name: row for name, row in rows.items() if row.stakes is not None}
    assert set(device_rows) == set(DEFECTS)
    wrong = {n: row.verdict for n, row in device_rows.items() if row.verdict.status != "pass" and n not in UNUSED}
    assert wrong == {}
    assert "not usable here" in rows["full page, cdp-beyond-viewport"].verdict.finding


@pytest.mark.slow
@pytest.mark.usefixtures("short_waits")
@pytest.mark.parametrize("defect", sorted(BY_DEFECT))
def test_a_device_with_a_defect_fails_the_checks_of_that_feature(fresh: VirtualDeviceHandle, defect: str) -> None:
    if defect in FAULTS:
        asyncio.run(fresh.fault(defect))
    else:
        asyncio.run(fresh.fault("defect", what=defect))
    rows = checked(fresh.serial, *BY_DEFECT[defect])
    for name in BY_DEFECT[defect]:
        row = rows[name]
        if name in UNUSED:
            assert row.verdict.status != "pass", row
            continue
        assert row.verdict.status in ("fail", "warn"), row
        assert row.stakes is not None
        assert row.endangered == f"endangers {row.stakes.feature}: {row.stakes.meaning}"


def test_a_row_of_a_check_that_does_not_exist(fresh: VirtualDeviceHandle) -> None:
    rows = checked(fresh.serial, "clikc")
    assert rows["clikc"].verdict.finding == "unknown device check"


def test_the_sample_is_skipped_without_its_apk(fresh: VirtualDeviceHandle) -> None:
    row = checked(fresh.serial, "attach to an app", sample_apk=None)["attach to an app"]
    assert (row.verdict.status, row.endangered) == ("skipped", "")
    assert "tools/build-host-app --sample" in row.verdict.finding


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_cable_that_is_pulled(fresh: VirtualDeviceHandle, monkeypatch: pytest.MonkeyPatch, comes_back: bool) -> None:
    """`notify` is what the person follows."""
    monkeypatch.setattr(power_checks, "CABLE_S", 60.0 if comes_back else 10.0)
    hands: list[threading.Thread] = []

    def act(text: str) -> None:
        fault = "drop_cable" if text.startswith("Unplug ") else "connect"
        if fault == "connect" and not comes_back:
            return
        hands.append(threading.Thread(target=lambda: asyncio.run(fresh.fault(fault))))
        hands[-1].start()

    report = whole_report(lambda _row: None, None)
    order = Order(fresh.serial, None, None, False, True, act, only=frozenset({"cable"}), has_cable_check=True)
    asyncio.run(examine(order, report))
    for hand in hands:
        hand.join()
    row = next(row for row in report.rows if row.name == "cable")
    assert row.verdict.status == ("pass" if comes_back else "fail"), row
    assert ("'Form'" if comes_back else "did not come back") in row.verdict.finding


def test_darkness_lasts_as_long_as_asked_and_the_screen_is_on_again(fresh: VirtualDeviceHandle) -> None:
    row = checked(fresh.serial, "frames and tap, screen off", dark_s=2.0)["frames and tap, screen off"]
    assert row.verdict.finding.startswith("after 2 s with the screen off: ")
    assert row.ms > 2000
    adb = AdbServer.from_environment().device(fresh.serial)
    assert "mWakefulness=Awake" in asyncio.run(adb.shell(["dumpsys", "power"], timeout_s=20)).stdout
    assert asyncio.run(adb.shell(["dumpsys", "deviceidle", "get", "deep"], timeout_s=20)).stdout == "ACTIVE\n"


@pytest.mark.parametrize("suffix", [".json", ".html"])
def test_a_saved_report_has_the_rows_and_nothing_private(
    device: VirtualDeviceHandle, command: Command, tmp_path: Path, suffix: str
) -> None:
    asyncio.run(device.status())
    target = tmp_path / f"report{suffix}"
    _, out, _ = command("doctor", "--device", device.serial, "--report", str(target), "--json")
    text = target.read_text()
    assert device.serial in out
    for private in (device.serial, str(Path.home()), str(Path.cwd()), socket.gethostname()):
        assert private not in text
    for row in json.loads(out)["rows"]:
        assert (row["name"] in text) or html.escape(row["name"]) in text
    if suffix == ".json":
        assert json.loads(text)["webview_bridge"] == bridge.__version__


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("R58M12ABC (authorised); also emulator-5554 (offline)", "<serial> (authorised); also <serial> (offline)"),
        ("adb server 10.1.2.3:5037", "adb server <address>:5037"),
        ("127.0.0.1:5037, version 1.0.41", "127.0.0.1:5037, version 1.0.41"),
        ("WebView 156.0.8078.79", "WebView 156.0.8078.79"),
        ("opened https://shop.example/?token=abc and http://127.0.0.1:8/x", "opened <url> and http://127.0.0.1:8/x"),
        ("mail ada.l@example.com", "mail <mail>"),
        (f"{Path.home()}/sdk/adb", "<home>/sdk/adb"),
    ],
)
def test_what_is_private_is_replaced(text: str, public: str) -> None:
    assert clean(text, {"R58M12ABC", "emulator-5554"}) == public


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--report", "x.txt"], "must end with .html or .json"),
        (["--report", "/nowhere-at-all/x.json"], "is not a folder"),
        (["--cable"], "belong to --device-checks"),
        (["--only", "click"], "belong to --device-checks"),
    ],
)
def test_options_that_cannot_be_followed_are_refused_at_once(
    command: Command, arguments: list[str], message: str
) -> None:
    code, _, err = command("doctor", *arguments)
    assert code == 2
    assert message in err

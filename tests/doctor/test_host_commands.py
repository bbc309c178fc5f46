"""`host`: the APK itself on the virtual device, which parses it; its code is not run there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bridge
from bridge.adb import AdbServer
from bridge.errors import InstallFailed
from bridge.host.apk import is_current
from bridge.host.installation import HOST_PACKAGE, install_host
from bridge.host.lease import hold_lease
from bridge.virtual_device import VirtualDeviceHandle
from bridge.virtual_device.android import read_apk
from tests.conftest import adb_program
from tests.doctor.conftest import Command

pytestmark = [pytest.mark.browser, pytest.mark.jdk, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
Answer = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def other_key_apk(apk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same app as a release, signed with a key of its own."""
    folder = tmp_path_factory.mktemp("release")
    keytool = ["keytool", "-genkeypair", "-keystore", folder / "release.p12", "-storetype", "PKCS12"]
    options = ["-storepass", "release", "-alias", "host", "-keyalg", "EC", "-dname", "CN=release", "-validity", "1000"]
    subprocess.run([*keytool, *options], check=True, capture_output=True)
    (folder / "password").write_text("release\n")
    target = folder / "release.apk"
    key = ["--release-key", folder / "release.p12", "--release-key-password", f"file:{folder / 'password'}"]
    tool = ROOT / "tools" / "build_host_app.py"
    subprocess.run([sys.executable, tool, *key, "--output", target], check=True, capture_output=True)
    return target


def test_the_virtual_device_reads_the_apk_as_android_would(apk: Path) -> None:
    facts = read_apk(apk)
    assert (facts.package, facts.version_name) == (HOST_PACKAGE, bridge.__version__)
    assert (facts.min_sdk, facts.target_sdk, facts.uses_cleartext_traffic) == (26, 36, True)
    (service,) = facts.services
    assert (service.name, service.is_exported) == (f"{HOST_PACKAGE}.HostService", True)
    assert service.permission == "android.permission.DUMP"
    assert facts.instrumentations == (f"{HOST_PACKAGE}.HostInstrumentation",)


def test_adb_itself_installs_it_and_the_host_then_starts(
    device: VirtualDeviceHandle, apk: Path, adb_port: int, answer: Answer
) -> None:
    adb = [adb_program(), "-P", str(adb_port), "-s", device.serial]
    done = subprocess.run([*adb, "install", "-r", apk], capture_output=True, text=True, timeout=60, check=False)
    assert "Success" in done.stdout, done
    dump = subprocess.run(
        [*adb, "shell", "dumpsys", "package", HOST_PACKAGE], capture_output=True, text=True, check=True
    )
    assert f"versionName={bridge.__version__}" in dump.stdout
    assert answer("host", "start", "--device", device.serial)["host"]["app_version"] == bridge.__version__


def test_it_is_installed_started_stopped_and_removed(device: VirtualDeviceHandle, apk: Path, answer: Answer) -> None:
    at = ("--device", device.serial)
    assert answer("host", "install", *at)["version"] == bridge.__version__
    status = answer("host", "status", *at)
    assert (status["installed"], status["matches"], status["held_by"]) == (True, True, None)
    hello = answer("host", "start", *at)["host"]
    assert (hello["app_version"], hello["protocol"]) == (bridge.__version__, 1)
    assert answer("host", "status", *at)["pids"] == [hello["pid"]]
    assert answer("host", "stop", *at)["stopped"] is True
    assert answer("host", "stop", *at)["stopped"] is False
    assert answer("host", "uninstall", *at)["removed"] is True
    assert answer("host", "uninstall", *at)["removed"] is False
    assert answer("host", "status", *at)["version"] is None


def test_without_it_the_way_to_install_it_is_said(
    device: VirtualDeviceHandle, command: Command, answer: Answer
) -> None:
    at = ("--device", device.serial)
    answer("host", "uninstall", *at)
    code, _, err = command("host", "start", *at)
    assert code == 3
    assert err.startswith("host_missing: ")
    assert "webview-bridge host install" in err


def test_another_signature_is_replaced_and_said(
    device: VirtualDeviceHandle, apk: Path, other_key_apk: Path, command: Command, answer: Answer
) -> None:
    at = ("--device", device.serial)
    answer("host", "install", *at)
    code, out, err = command("host", "install", *at, "--apk", str(other_key_apk))
    assert (code, out.split()[0]) == (0, "reinstalled")
    assert "signed with another key: removing it first" in err
    assert answer("host", "install", *at)["why"] == "it was signed with another key"


def test_another_app_is_refused_before_it_is_sent(device: VirtualDeviceHandle, command: Command) -> None:
    other = ROOT / "tests" / "virtual_device" / "data" / "sample-1.apk"
    code, _, err = command("host", "install", "--device", device.serial, "--apk", str(other))
    assert code == 1
    assert f"is not {HOST_PACKAGE}" in err


async def test_a_file_that_is_not_an_apk_is_refused(device: VirtualDeviceHandle, tmp_path: Path) -> None:
    (tmp_path / "x.apk").write_bytes(b"not a zip")
    with pytest.raises(InstallFailed, match="is not an APK"):
        await install_host(AdbServer.from_environment().device(device.serial), tmp_path / "x.apk", timeout_s=20)


def test_a_device_in_use_is_left_alone_unless_by_force(
    device: VirtualDeviceHandle, apk: Path, command: Command, answer: Answer
) -> None:
    at = ("--device", device.serial)
    with hold_lease(device.serial, owner="a test run", policy_digest="p"):
        for name in ("install", "stop", "uninstall"):
            code, _, err = command("host", name, *at)
            assert (code, err.split(":")[0]) == (3, "device_busy")
        assert "a test run" in answer("host", "status", *at)["held_by"]
        assert answer("host", "stop", "--force", *at)["stopped"] in (True, False)
    answer("host", "install", *at)


def test_plan_b_starts_another_process(device: VirtualDeviceHandle, apk: Path, answer: Answer) -> None:
    at = ("--device", device.serial)
    answer("host", "install", *at)
    first = answer("host", "start", *at)["host"]
    second = answer("host", "start", "--instrument", *at)["host"]
    assert second["pid"] != first["pid"]
    answer("host", "stop", *at)


@pytest.mark.timeout(180)
def test_the_demo_runs_through_the_installed_apk(
    device: VirtualDeviceHandle, apk: Path, command: Command, answer: Answer, tmp_path: Path
) -> None:
    answer("host", "install", "--device", device.serial)
    found = answer("demo", "--device", device.serial, "--out", str(tmp_path))
    assert len(found["steps"]) > 15
    assert (tmp_path / "annotated.png").stat().st_size > 1000


def test_an_apk_is_current_until_a_source_is_newer(tmp_path: Path) -> None:
    sources, apk = tmp_path / "src", tmp_path / "a.apk"
    sources.mkdir()
    assert not is_current(apk, sources)
    apk.write_bytes(b"x")
    assert is_current(apk, sources)
    source = sources / "A.java"
    source.write_text("class A {}")
    later = apk.stat().st_mtime + 5
    os.utime(source, (later, later))
    assert not is_current(apk, sources)

"""Real APKs, the real `adb install`, and the package manager's refusals."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.virtual_device.android.apk import InstallError, read_apk
from tests.virtual_device.conftest import Adb

DATA = Path(__file__).parents[1] / "data"
PACKAGE = "org.example.sample"


@pytest.fixture(autouse=True)
def _clean(adb: Adb) -> Iterator[None]:
    yield
    adb("uninstall", PACKAGE)


def install(adb: Adb, name: str, *options: str) -> str:
    done = adb("install", *options, str(DATA / name))
    return (done.stdout + done.stderr).decode()


def test_an_apk_is_installed_listed_pulled_and_removed(adb: Adb, tmp_path: Path) -> None:
    assert "Success" in install(adb, "sample-1.apk")
    assert f"package:{PACKAGE}\n" in adb.shell("pm list packages -3")
    path = adb.shell(f"pm path {PACKAGE}").strip().removeprefix("package:")
    assert adb("pull", path, str(tmp_path / "base.apk")).returncode == 0
    assert (tmp_path / "base.apk").read_bytes() == (DATA / "sample-1.apk").read_bytes()
    assert "versionCode=1 minSdk=26 targetSdk=33" in adb.shell(f"dumpsys package {PACKAGE}")
    assert b"Success" in adb("uninstall", PACKAGE).stdout
    assert b"DELETE_FAILED_INTERNAL_ERROR" in adb("uninstall", PACKAGE).stdout


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        ("sample-2.apk", "sample-1.apk", "INSTALL_FAILED_VERSION_DOWNGRADE"),
        ("sample-1.apk", "sample-1-other-signer.apk", "INSTALL_FAILED_UPDATE_INCOMPATIBLE"),
        (None, "sample-3-needs-api-40.apk", "INSTALL_FAILED_OLDER_SDK"),
        (None, "sample-2-unsigned.apk", "INSTALL_PARSE_FAILED_NO_CERTIFICATES"),
    ],
)
def test_the_package_manager_refuses(adb: Adb, first: str | None, second: str, code: str) -> None:
    if first:
        assert "Success" in install(adb, first)
    assert code in install(adb, second)


def test_an_update_by_the_same_signer_is_taken(adb: Adb) -> None:
    assert "Success" in install(adb, "sample-1.apk")
    assert "Success" in install(adb, "sample-2-jar-signed.apk", "-r")
    assert "Success" in install(adb, "sample-1.apk", "-r", "-d")


def test_a_file_that_is_not_an_apk_is_refused(adb: Adb, tmp_path: Path) -> None:
    (tmp_path / "noise.apk").write_bytes(b"this is not a zip" * 100)
    done = adb("install", str(tmp_path / "noise.apk"))
    assert b"INSTALL_PARSE_FAILED_NOT_APK" in done.stdout + done.stderr


def test_pm_installs_a_pushed_file(adb: Adb) -> None:
    adb("push", str(DATA / "sample-1.apk"), "/data/local/tmp/s.apk")
    assert adb.shell("pm install /data/local/tmp/s.apk") == "Success\n"


def test_only_requested_permissions_are_granted(adb: Adb) -> None:
    install(adb, "sample-1.apk")
    adb.shell(f"pm grant {PACKAGE} android.permission.CAMERA")
    assert "android.permission.CAMERA: granted=true" in adb.shell(f"dumpsys package {PACKAGE}")
    done = adb("shell", f"pm grant {PACKAGE} android.permission.READ_SMS")
    assert b"has not requested permission" in done.stderr


def test_cleartext_traffic_follows_the_manifest_and_its_target() -> None:
    assert read_apk(DATA / "sample-1.apk").uses_cleartext_traffic
    assert not read_apk(DATA / "sample-2.apk").uses_cleartext_traffic


def test_all_ways_of_signing_name_the_same_signer() -> None:
    signers = {read_apk(DATA / name).signer for name in ("sample-1.apk", "sample-2.apk", "sample-2-jar-signed.apk")}
    assert len(signers) == 1
    assert read_apk(DATA / "sample-1-other-signer.apk").signer not in signers


def test_a_manifest_that_unpacks_to_gigabytes_is_refused(tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(tmp_path / "bomb.apk", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("AndroidManifest.xml", "w") as entry,
    ):
        for _ in range(64):
            entry.write(bytes(1 << 20))
    with pytest.raises(InstallError, match="larger than 2097152 bytes"):
        read_apk(tmp_path / "bomb.apk")


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 1896), st.integers(0, 255)), min_size=1, max_size=8), st.integers(0, 1897))
def test_a_damaged_apk_is_read_or_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]], length: int
) -> None:
    body = bytearray((DATA / "sample-2-jar-signed.apk").read_bytes())
    for at, value in changes:
        body[at] = value
    damaged = tmp_path_factory.getbasetemp() / "damaged.apk"
    damaged.write_bytes(body if length % 2 else body[:length])
    with contextlib.suppress(InstallError):
        assert read_apk(damaged).package

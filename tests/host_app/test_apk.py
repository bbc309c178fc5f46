"""What can be known of the APK without a phone."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from class_members import Framework, dex_references, parse_class

pytestmark = [pytest.mark.jdk, pytest.mark.timeout(300)]

OREO = (
    "org.robolectric:android-all:8.0.0_r4-robolectric-r1",
    "3707dc100381e3bbcc57b85255fd313ae20875fc65cf3130c47e86f044ad77f0",
)


def said(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def badging(build_tool: ModuleType, apk: Path) -> str:
    return said(build_tool.find_tools().aapt2, "dump", "badging", apk)


@pytest.fixture(scope="module")
def manifest(build_tool: ModuleType, apk: Path) -> str:
    return said(build_tool.find_tools().aapt2, "dump", "xmltree", "--file", "AndroidManifest.xml", apk)


@pytest.fixture(scope="module")
def oreo(build_tool: ModuleType) -> Framework:
    return Framework(build_tool.fetch_jar(build_tool.Jar(*OREO)))


def test_it_is_smaller_than_60_kb(apk: Path) -> None:
    assert apk.stat().st_size < 60_000


def test_it_is_for_android_8_and_newer(badging: str) -> None:
    assert "package: name='dev.webviewbridge.host'" in badging
    assert re.search(r"^(?:minSdkVersion|sdkVersion):'26'$", badging, re.MULTILINE)
    assert "targetSdkVersion:'36'" in badging
    assert "application-debuggable" not in badging


def test_it_asks_for_nothing_beyond_what_it_needs(badging: str) -> None:
    asked = set(re.findall(r"uses-permission: name='android\.permission\.(\w+)'", badging))
    assert asked == {"INTERNET", "WAKE_LOCK", "FOREGROUND_SERVICE", "FOREGROUND_SERVICE_SPECIAL_USE"}


def test_only_the_guarded_service_is_exported(manifest: str) -> None:
    assert manifest.count(":exported(") == 1
    service = manifest[manifest.index("E: service") : manifest.index("E: instrumentation")]
    assert re.search(r":exported\(0x01010010\)=true", service)
    assert '"android.permission.DUMP"' in service
    assert ":foregroundServiceType(0x01010599)=0x40000000" in service
    assert not re.search(r"E: (activity|receiver|provider)\b", manifest)


def test_plain_http_is_allowed_and_backup_is_not(manifest: str) -> None:
    assert re.search(r":usesCleartextTraffic\(0x010104ec\)=true", manifest)
    assert re.search(r":allowBackup\(0x01010280\)=false", manifest)


def test_it_is_signed_in_the_schemes_of_all_its_androids(apk: Path) -> None:
    # Below API 24 only v1 counts, so apksigner looks at it only when asked about such a device.
    text = said("apksigner", "verify", "--verbose", "--min-sdk-version", "23", apk)
    for scheme in (
        "v1 scheme (JAR signing)",
        "v2 scheme (APK Signature Scheme v2)",
        "v3 scheme (APK Signature Scheme v3)",
    ):
        assert f"Verified using {scheme}: true" in text


def test_two_builds_in_different_folders_are_the_same_bytes(build_tool: ModuleType, tmp_path: Path) -> None:
    first, copy = tmp_path / "a.apk", tmp_path / "elsewhere"
    root = build_tool.ROOT
    assert build_tool.main(["--unsigned", "--force", "--output", str(first)]) == 0
    for part in ("android_host_app/app/src/main", "bridge/__init__.py", "tools/build_host_app.py"):
        target = copy / part
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (root / part).is_dir() else shutil.copy)(root / part, target)
    subprocess.run(
        ["python3", copy / "tools/build_host_app.py", "--unsigned", "--output", tmp_path / "b.apk"], check=True
    )
    assert sha256(first) == sha256(tmp_path / "b.apk")


def own_members(path: Path) -> set[tuple[str, str]]:
    return parse_class(path.read_bytes()).members


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_nothing_is_built_when_nothing_has_changed(build_tool: ModuleType, apk: Path) -> None:
    before = apk.stat().st_mtime_ns
    assert build_tool.main([]) == 0
    assert apk.stat().st_mtime_ns == before


def test_what_came_after_android_8_is_named_in_classes_of_its_version_only(
    build_tool: ModuleType, oreo: Framework, apk: Path, tmp_path: Path
) -> None:
    subprocess.run(
        [
            *("javac", "--release", "8", "-nowarn", "-Xlint:-options", "-proc:none", "-d", tmp_path),
            *("-cp", build_tool.fetch_jar(build_tool.FRAMEWORK)),
            *(path for path in build_tool.inputs() if path.suffix == ".java"),
        ],
        check=True,
        capture_output=True,
    )
    behind_checks, parents = set(), {}
    for path in tmp_path.rglob("*.class"):
        found = parse_class(path.read_bytes())
        parents[found.name] = found.parents
        if re.fullmatch(r".*/Api\d\d", found.name):
            behind_checks |= found.refers
    with zipfile.ZipFile(apk) as archive:
        references = dex_references(archive.read("classes.dex"))
    # Of Java's own classes the jar has none: javac --release 8 keeps to those that Android 8 has.
    newer = {entry for entry in references if entry[0].startswith("android/") and not oreo.has(*entry)}
    for owner, name, shape in references:
        if name.startswith("lambda$"):  # bodies of lambdas, which D8 renames
            continue
        inherited = [up for up in parents.get(owner, ()) if up.startswith("android/")]
        if inherited and (name, shape) not in own_members(tmp_path / f"{owner}.class"):
            assert any(oreo.has(up, name, shape) for up in inherited), (owner, name, shape)
    assert newer <= behind_checks
    assert {name for _, name, _ in newer} == {"getWebViewClassLoader", "startForeground"}
    assert not any(name == "addJavascriptInterface" for _, name, _ in references)

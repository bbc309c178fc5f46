"""Runs the Java tests: the core on a JVM, the service under Robolectric on API 26 and 35."""

from __future__ import annotations

import fcntl
import hashlib
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from test_apk import OREO

pytestmark = [pytest.mark.jdk, pytest.mark.timeout(600)]

APP = Path(__file__).resolve().parents[2] / "android_host_app"


@pytest.fixture(scope="module")
def class_path(build_tool: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Everything compiled, and the jars of testing/pom.xml, fetched once."""
    framework = build_tool.fetch_jar(build_tool.FRAMEWORK)
    jars = [*fetched(build_tool), framework]
    classes = tmp_path_factory.mktemp("classes")
    sources = sorted((APP / "app" / "src").rglob("*.java"))
    subprocess.run(
        ["javac", "-proc:none", "-nowarn", "-d", classes, "-cp", ":".join(map(str, jars)), *sources], check=True
    )
    return ":".join(map(str, [classes, *jars]))


def fetched(build_tool: ModuleType) -> list[Path]:
    pom = APP / "testing" / "pom.xml"
    folder = build_tool.cache_folder() / "test-jars" / hashlib.sha256(pom.read_bytes()).hexdigest()[:16]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
                made = Path(scratch) / "jars"
                subprocess.run(
                    ["mvn", "-B", "-q", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={made}"],
                    check=True,
                    cwd=scratch,
                )
                for archive in made.glob("*.aar"):  # androidx.test's, for Robolectric; a jar is inside
                    with zipfile.ZipFile(archive) as opened:
                        (made / f"{archive.stem}.jar").write_bytes(opened.read("classes.jar"))
                made.rename(folder)
    return sorted(folder.glob("*.jar"))


def run_tests(class_path: str, name: str, *options: str) -> int:
    """How many tests passed; fails with JUnit's output."""
    result = subprocess.run(
        ["java", *options, "-cp", class_path, "org.junit.runner.JUnitCore", f"dev.webviewbridge.host.{name}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    passed = re.search(r"^OK \((\d+) tests?\)", result.stdout, re.MULTILINE)
    assert passed is not None, result.stdout
    return int(passed.group(1))


def test_the_core_keeps_its_rules(class_path: str) -> None:
    assert run_tests(class_path, "core.CoreTest") > 10


def test_the_service_lives_and_ends_as_specified(class_path: str, build_tool: ModuleType) -> None:
    oreo = build_tool.fetch_jar(build_tool.Jar(*OREO))
    passed = run_tests(
        class_path,
        "HostServiceTest",
        "-Drobolectric.offline=true",
        f"-Drobolectric.dependency.dir={oreo.parent}",
        "-Drobolectric.usePreinstrumentedJars=false",
    )
    assert passed % 2 == 0, "each test runs on both levels"
    assert passed >= 24

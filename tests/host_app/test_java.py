"""Runs the Java tests: the core on a JVM, the service and its callbacks under Robolectric on four API levels."""

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


# Beside the framework that the app is compiled with: Android 8, 11 and 13.
OLDER = (
    OREO,
    (
        "org.robolectric:android-all:11-robolectric-6757853",
        "62f577ca49f62f0da5d6a2a839d80ef377054b9ccd14811035593bf351295b31",
    ),
    (
        "org.robolectric:android-all:13-robolectric-9030017",
        "6e67dca81d30295e31ee6a28cfb601b6b66aaeaee51a92386ed099a64cea5996",
    ),
)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("name", "levels"), [("HostServiceTest", 2), ("CallbacksTest", 4)])
def test_the_app_does_as_specified_on_each_level(
    class_path: str, build_tool: ModuleType, name: str, levels: int
) -> None:
    """The service's life, and the app's answers to WebView's callbacks."""
    folder = {build_tool.fetch_jar(build_tool.Jar(*jar)).parent for jar in OLDER}
    passed = run_tests(
        class_path,
        name,
        "-Drobolectric.offline=true",
        f"-Drobolectric.dependency.dir={folder.pop()}",
        "-Drobolectric.usePreinstrumentedJars=false",
    )
    assert passed % levels == 0, "each test runs on all levels"
    assert passed >= 12 * levels

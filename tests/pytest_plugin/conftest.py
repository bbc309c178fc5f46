"""A project as a user has one: outside of the repository, with the built wheel beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent.parent
SAMPLE = Path(__file__).parent / "sample"


@dataclass(frozen=True)
class Run:
    """One `pytest` in a project: its output, and what its JUnit file says of each test."""

    exit_code: int
    output: str
    junit: Path

    def names(self) -> list[str]:
        tests = ElementTree.parse(self.junit).iter("testcase")  # noqa: S314 - our own file
        return [test.get("name", "") for test in tests]

    def properties(self, test: str) -> Mapping[str, str]:
        found = ElementTree.parse(self.junit).find(f".//testcase[@name='{test}']")  # noqa: S314 - our own file
        assert found is not None, self.output
        return {entry.get("name", ""): entry.get("value", "") for entry in found.iter("property")}


@dataclass(frozen=True)
class Project:
    folder: Path
    installed: Path
    adb_port: int

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, *arguments: str, timeout_s: float = 240) -> Run:
        junit = self.folder / "junit.xml"
        environ = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "COV_"))}
        environ |= {"PYTHONPATH": str(self.installed), "ANDROID_ADB_SERVER_PORT": str(self.adb_port)}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", f"--junitxml={junit}", "-p", "no:cacheprovider", *arguments],
            cwd=self.folder,
            env=environ,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        return Run(done.returncode, done.stdout + done.stderr, junit)


@pytest.fixture(scope="session")
def installed_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the working tree and unpacked as pip does, entry points included."""
    built, installed = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("site")
    steps = (
        ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(built), str(ROOT)],
        ["-m", "pip", "install", "--quiet", "--no-deps", "--target", str(installed)],
    )
    for step in steps:
        wheels = [str(path) for path in built.glob("*.whl")]
        environment = {**os.environ, "WEBVIEW_BRIDGE_ALLOW_NO_APK": "1"}
        subprocess.run([sys.executable, *step, *wheels], check=True, capture_output=True, timeout=120, env=environment)
    return installed


@pytest.fixture
def project(tmp_path: Path, installed_wheel: Path, adb_port: int) -> Project:
    made = Project(tmp_path / "shop", installed_wheel, adb_port)
    made.write("pytest.ini", "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    return made


@pytest.fixture
def sample_project(project: Project) -> Project:
    """The project in tests/pytest_plugin/sample."""
    for path in SAMPLE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            project.write(str(path.relative_to(SAMPLE)).removesuffix(".txt"), path.read_text(encoding="utf-8"))
    return project

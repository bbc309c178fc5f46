"""The repository's own commands and its shape."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [
    path
    for path in [*sorted((ROOT / "tools").iterdir()), ROOT / ".ci" / "run"]
    if path.is_file() and path.read_bytes().startswith((b"#!/usr/bin/env bash", b"# Sourced"))
]
CONSTRAINTS = (ROOT / "tools" / "constraints.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_scripts_are_executable_bash(script: Path) -> None:
    assert os.access(script, os.X_OK) != script.name.startswith("_")
    done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0, done.stderr


def test_the_root_holds_the_agreed_names_only() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, timeout=20, check=True)
    names = {path.split("/")[0] for path in listed.stdout.split("\0") if path}

    assert {name for name in names if not name.startswith(".")} <= {
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "docs",
        "LICENSE",
        "bridge",
        "android_host_app",
        "injected_js",
        "tests",
        "tools",
    }


def test_every_package_is_pinned_with_hashes_and_no_registry_is_named() -> None:
    assert "://" not in CONSTRAINTS
    assert not re.search(r"^-", CONSTRAINTS, re.MULTILINE)
    entries = re.split(r"\n(?=[A-Za-z])", CONSTRAINTS)[1:]
    for entry in entries:
        assert re.match(r"[A-Za-z0-9._-]+==\S+( ;.*)? \\\n    --hash=sha256:[0-9a-f]{64}", entry), entry[:100]


def test_what_runs_needs_nothing_that_only_tests_need() -> None:
    needed, _, rest = CONSTRAINTS.partition("# For tests and checks\n")

    for name in ("adbutils", "click", "pillow", "rich", "websockets", "hatchling", "editables"):
        assert f"\n{name}==" in needed
    for name in ("pytest", "mypy", "ruff", "pychrome", "pure-python-adb"):
        assert f"\n{name}==" in f"\n{rest}"


@pytest.mark.skipif(not list((ROOT / ".venv").glob(".stamp-*")), reason="tools/run has not been used here yet")
def test_a_second_run_skips_the_set_up(tmp_path: Path) -> None:
    """From a folder that is not the repository: nothing is installed, and nothing of the environment is written."""
    run = str(ROOT / "tools" / "run")
    subprocess.run([run, "--version"], cwd=tmp_path, capture_output=True, timeout=300, check=True)

    before = _environment()
    command = ["bash", "-x", run, "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.startswith("webview-bridge ")
    assert "setup_python run" in done.stderr
    assert "install_python" not in done.stderr
    assert [line for line in done.stderr.splitlines() if not line.startswith("+")] == []
    assert _environment() == before


def _environment() -> dict[str, int]:
    """Each file of .venv but the bytecode, with the time it was written (ns)."""
    files = (path for path in (ROOT / ".venv").rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__")
    return {str(path): path.lstat().st_mtime_ns for path in files}

"""`webview-bridge bench`: thin, and honest where the benchmarks are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bridge

ROOT = Path(__file__).resolve().parents[2]
MAIN = "import sys; from bridge.surfaces.cli import main; sys.exit(main())"


def test_where_the_package_is_installed_without_the_repository_it_says_where_the_benchmarks_are(tmp_path: Path) -> None:
    installed = tmp_path / "bridge"
    shutil.copytree(Path(bridge.__file__).parent, installed, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "bench", "--quick"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "Clone the repository and run tools/bench there" in done.stderr


@pytest.mark.skipif(not list((ROOT / ".venv").glob(".stamp-*")), reason="tools/run has not been used here yet")
def test_in_the_repository_it_is_tools_bench_with_its_arguments_and_its_exit_code(tmp_path: Path) -> None:
    def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", MAIN, "bench", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert "round-trips" in bench("--list").stdout.split()
    assert bench("--only", "nothing-of-the-kind").returncode == 2

"""The packages that tools/build-wheel makes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
APK = "bridge/host/host_app.apk"


@pytest.mark.browser
@pytest.mark.jdk
@pytest.mark.timeout(480)
def test_wheel_runs_the_demo_and_installs_the_host_app_without_node_jdk_and_clone(tmp_path: Path) -> None:
    done = subprocess.run(
        [ROOT / "tools/build-wheel", tmp_path], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on the virtual device: updated" in done.stderr
    (sdist,), (wheel,) = tmp_path.glob("*.tar.gz"), tmp_path.glob("*.whl")
    assert done.stdout.split() == [str(sdist), str(wheel)]
    assert APK in zipfile.ZipFile(wheel).namelist()
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {APK, "bridge/snapshot/injected.min.js", "tools/wheel_hook.py"} <= names


def test_wheel_without_the_host_app_is_an_error_that_names_the_command(tmp_path: Path) -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in ("pyproject.toml", "README.md", "LICENSE", "bridge/__init__.py", "tools/wheel_hook.py"):
        assert name in tracked.split("\0")
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    environment = {name: value for name, value in os.environ.items() if name != "WEBVIEW_BRIDGE_ALLOW_NO_APK"}
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=120,
    )
    assert done.returncode != 0
    assert f"{APK} is missing. Run tools/build-wheel" in done.stdout + done.stderr
    assert not list(tmp_path.glob("dist/*.whl"))

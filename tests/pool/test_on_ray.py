"""The pool's jobs on a real Ray cluster of one machine, with Ray in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
RAY_VERSION = "2.60.0"
PYTHON = Path(os.environ.get("WEBVIEW_BRIDGE_RAY_PYTHON", ROOT / ".cache" / f"ray-{RAY_VERSION}" / "bin" / "python"))

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not PYTHON.exists(), reason=f"Ray is not there: tools/test installs {RAY_VERSION} into .cache"),
]


def drive(adb_port: int, folder: Path, *, devices: int, jobs: int, deaths: int, timeout_s: float) -> dict[str, Any]:
    done = subprocess.run(
        [PYTHON, "-m", "tests.pool.ray_driver", *map(str, (devices, jobs, deaths)), folder],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "ANDROID_ADB_SERVER_PORT": str(adb_port),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_DISABLE_MEMORY_MONITOR": "1",
        },
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.timeout(420)
def test_the_same_jobs_run_on_ray_and_a_device_that_dies_in_the_middle_loses_none(
    adb_port: int, tmp_path: Path
) -> None:
    found = drive(adb_port, tmp_path, devices=2, jobs=12, deaths=1, timeout_s=400)
    assert found["errors"] == []
    assert found["are_right"]
    assert found["attempts"] == 13
    assert found["serials"] == 3
    assert found["plain"]
    assert "ray.init()" in found["unconnected"]
    assert "no device is attached to this machine" in found["nothing_attached"][0]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_eight_devices_of_a_ray_cluster_do_two_hundred_jobs(adb_port: int, tmp_path: Path) -> None:
    found = drive(adb_port, tmp_path, devices=8, jobs=200, deaths=3, timeout_s=1100)
    print(f"Ray, 8 devices, 200 jobs: {found['took_s']} s")
    assert found["errors"] == []
    assert found["are_right"]
    assert found["serials"] >= 8

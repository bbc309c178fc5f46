"""The test suites and the pool job of docs/examples, run as a reader would run them."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.adb import AdbServer
from bridge.surfaces.demo.server import serve_demo_pages
from bridge.virtual_device import DeviceOptions, start_detached, stop_virtual_device
from tests.conftest import IS_INSTALLED
from tests.docs.test_readmes import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

EXAMPLES = ROOT / "docs" / "examples"
SAMPLE_APP = ROOT / "tests" / "virtual_device" / "data" / "sample-1.apk"


def run(adb_port: int, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("BRIDGE_", "PYTEST_"))}
    environment |= {"PYTHONPATH": str(ROOT), "ANDROID_ADB_SERVER_PORT": str(adb_port)}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def run_pytest(adb_port: int, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    plugin = () if IS_INSTALLED else ("-p", "bridge.surfaces.pytest_plugin")
    return run(adb_port, folder, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *plugin, *arguments)


def test_the_suite_of_tasks_passes(tmp_path: Path, adb_port: int) -> None:
    suite = shutil.copytree(EXAMPLES / "tests", tmp_path / "tests")
    done = run_pytest(adb_port, suite, "--webview-device=virtual")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "11 passed" in done.stdout


def test_the_suite_of_an_app_passes_on_an_attached_device(tmp_path: Path, adb_port: int) -> None:
    suite = shutil.copytree(EXAMPLES / "own_app", tmp_path / "own_app")

    async def attached_device() -> None:
        options = DeviceOptions(name=f"attached-{secrets.token_hex(3)}", adb_port=adb_port, is_detached=True)
        handle = await start_detached(options, timeout_s=60)
        try:
            await AdbServer("127.0.0.1", adb_port).device(handle.serial).install(SAMPLE_APP, timeout_s=60)
            arguments = (f"--webview-device={handle.serial}", "--webview-app=org.example.sample")
            done = await asyncio.to_thread(run_pytest, adb_port, suite, *arguments)
        finally:
            await stop_virtual_device(handle)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "2 passed" in done.stdout

    asyncio.run(attached_device())


def test_the_pool_job_prints_the_title_of_each_page(tmp_path: Path, adb_port: int) -> None:
    with serve_demo_pages() as shop:
        urls = [shop.url("shop.html"), shop.url("login.html")]
        done = run(adb_port, tmp_path, str(EXAMPLES / "pool_job.py"), *urls)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [f"{urls[0]} Aurum – jewellery", f"{urls[1]} Sign in"]

"""Suites written for pytest-playwright, with our plugin installed beside it.

`tools/test` installs pytest-playwright into .cache, in an environment that also sees the packages of .venv, our plugin
among them. It drives the Chromium that the virtual device runs.
"""

from __future__ import annotations

import ast
import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent.parent
PYTEST_PLAYWRIGHT_VERSION = "0.10.0"
PYTHON = Path(
    os.environ.get("WEBVIEW_BRIDGE_PLAYWRIGHT_PYTHON")
    or ROOT / ".cache" / f"pytest-playwright-{PYTEST_PLAYWRIGHT_VERSION}" / "bin" / "python"
)
DUAL = Path(__file__).parent / "dual"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not PYTHON.exists(), reason=f"tools/test installs pytest-playwright {PYTEST_PLAYWRIGHT_VERSION} into .cache"
    ),
]


def run(folder: Path, *arguments: str, adb_port: int, on: str = "") -> tuple[str, dict[str, str]]:
    """The output of pytest in that environment, and the outcome of each test."""
    junit = folder / "junit.xml"
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "COV_"))}
    done = subprocess.run(
        [PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, f"--junitxml={junit}", *arguments],
        cwd=folder,
        env={**environ, "PYTHONPATH": str(ROOT), "ANDROID_ADB_SERVER_PORT": str(adb_port), "SUITE_ON": on},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    said = done.stdout + done.stderr
    assert junit.exists(), said
    cases = ElementTree.parse(junit).iter("testcase")  # noqa: S314 - our own file
    return said, {
        str(case.get("name")).partition("[")[0]: ",".join(part.tag for part in case if part.tag != "properties")
        for case in cases
    }


def test_the_suite_that_passes_on_a_webview_passes_on_playwright(tmp_path: Path, adb_port: int) -> None:
    suite = ast.parse((DUAL / "test_suite.py").read_text(encoding="utf-8"))
    names = {part.name for part in suite.body if isinstance(part, ast.FunctionDef) and part.name.startswith("test_")}
    assert len(names) >= 60

    said, outcomes = run(tmp_path, f"--confcutdir={DUAL}", str(DUAL), adb_port=adb_port, on="playwright")

    assert "webview-bridge: the fixture page is Playwright's, webview_page is a WebView's" in said
    assert outcomes == dict.fromkeys(names, ""), said


def test_both_pages_serve_one_test_and_the_setting_chooses_which_is_page(tmp_path: Path, adb_port: int) -> None:
    (tmp_path / "conftest.py").write_text(
        "import os, shutil, pytest\n"
        "@pytest.fixture(scope='session')\n"
        "def browser_type_launch_args():\n"
        "    program = os.environ.get('BRIDGE_CHROMIUM') or shutil.which('chromium') or shutil.which('google-chrome')\n"
        "    return {'executable_path': program, 'args': ['--no-sandbox']}\n"
    )
    (tmp_path / "index.html").write_text("<!doctype html><title>Both</title><button>Go</button>")
    (tmp_path / "test_both.py").write_text(
        "def test_both(page, webview_page, local_server):\n"
        "    for one in (page, webview_page):\n"
        "        one.goto(local_server.url('index.html'))\n"
        "        assert one.title() == 'Both'\n"
        "        assert one.get_by_role('button', name='Go').is_visible()\n"
        "    assert type(page).__module__.startswith('playwright.')\n"
        "    assert type(webview_page).__module__ == 'bridge.sync'\n"
    )
    said, outcomes = run(tmp_path, "--webview-device=virtual", adb_port=adb_port)
    assert outcomes == {"test_both": ""}, said

    # The plan of fixtures, without running them.
    said, _ = run(tmp_path, "--setup-plan", "-o", "webview_page_fixture=page", adb_port=adb_port)
    assert "webview-bridge: the fixture page is a WebView's (webview_page_fixture)" in said
    assert "SETUP    F page (fixtures used: webview_page)" in said, said

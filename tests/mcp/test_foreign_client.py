"""The TypeScript SDK's client, installed from npm into `.cache`, lists the tools and calls them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.conftest import Serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

SOURCES = Path(__file__).parent / "foreign"
CACHE = Path(__file__).parents[2] / ".cache" / "foreign-mcp-client"


@pytest.fixture(scope="module")
def modules() -> Path:
    wanted = (SOURCES / "package.json").read_text()
    stamp = CACHE / "stamp"
    if not (stamp.exists() and stamp.read_text() == wanted):
        if not shutil.which("npm") or not shutil.which("node"):
            pytest.skip("npm and node are not there")
        CACHE.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCES / "package.json", CACHE / "package.json")
        install = ("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
        done = subprocess.run(install, cwd=CACHE, capture_output=True, text=True, timeout=240, check=False)
        if done.returncode:
            pytest.skip(f"npm install: {done.stderr[-300:]}")
        stamp.write_text(wanted)
    return CACHE


def seen(serving: Serving, modules: Path, transport: str, *command: str) -> dict[str, Any]:
    page = serving.local.url("second.html")
    done = subprocess.run(
        ("node", str(SOURCES / "client.mjs"), str(modules), transport, page, *command),
        env=serving.environment,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_client_of_another_language_lists_and_calls_tools(serving: Serving, modules: Path, transport: str) -> None:
    serving.configure('[browser.actions]\nconfirm = ["navigate"]\n')
    if transport == "stdio":
        found = seen(serving, modules, "stdio", *serving.command())
    else:
        with serving.http() as address:
            found = seen(serving, modules, "http", address.url, address.token)
    assert {*found["tools"]} == {*found["called"], "web_open", "web_screenshot"}
    failed = {name for name, (is_error, _) in found["called"].items() if is_error}
    assert failed == {"web_upload", "web_download"}, found["called"]
    assert "will be accepted" in found["called"]["web_dialog"][1]
    assert all("--" in found["called"][name][1] for name in failed), "no folder was given, and the answer says how to"
    assert "second.html" in found["called"]["web_back"][1]
    assert "HTTP 200" in found["open"]
    assert found["refused"][0] is True
    assert "policy_refused" in found["refused"][1]
    assert [kind for kind, _ in found["image"]] == ["image/png"]
    assert found["resources"] == ["webview://console", "webview://network", "webview://trace"]
    assert "second.html" in found["network"]
    assert "starting the device and the host app" in found["progress"]
    assert len(found["asked"]) == 6  # five navigations, one hand-over

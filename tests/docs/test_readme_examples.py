"""Examples that are not scripts (a test, a configuration, an expression) do what the text around them says."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from bridge import Session
from bridge.surfaces.demo.server import serve_demo_pages
from tests.conftest import IS_INSTALLED
from tests.docs.test_readmes import ROOT, RUN_ELSEWHERE, Block, blocks

_WVB = "from bridge.surfaces.cli import main; main()"


def example(language: str, *words: str) -> Block:
    (found,) = (block for block in blocks() if (block.language, block.words) == (language, words))
    return found


def environment(**more: str) -> dict[str, str]:
    without = {key: value for key, value in os.environ.items() if not key.startswith("BRIDGE_")}
    return {**without, "PYTHONPATH": str(ROOT), **more}


def test_no_example_is_left_out() -> None:
    others = [block for block in blocks() if (block.language, block.words) in RUN_ELSEWHERE]
    assert len(others) == len(RUN_ELSEWHERE)


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_the_test_passes(tmp_path: Path, adb_port: int) -> None:
    shutil.copytree(ROOT / "bridge" / "surfaces" / "demo" / "pages", tmp_path / "pages")
    (tmp_path / "test_shop.py").write_text(example("python", "pytest").code, encoding="utf-8")
    plugin = [] if IS_INSTALLED else ["-p", "bridge.surfaces.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "--webview-device=virtual"]
    done = subprocess.run(
        [*command, *plugin, "-q", "test_shop.py"],
        cwd=tmp_path,
        env=environment(ANDROID_ADB_SERVER_PORT=str(adb_port)),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_the_configuration_allows_what_it_names(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(example("toml").code, encoding="utf-8")

    for url, exit_code in (("https://www.example.com/", 0), ("https://example.com/", 0), ("https://example.org/", 4)):
        done = subprocess.run(
            [sys.executable, "-c", _WVB, "policy", "check", "--as", "model", url],
            env=environment(BRIDGE_CONFIG=str(file)),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == exit_code, done.stdout + done.stderr


@pytest.mark.timeout(120)
async def test_the_client_s_configuration_starts_the_server(tmp_path: Path) -> None:
    (server,) = json.loads(example("json").code)["mcpServers"].values()
    assert server["command"] == "webview-bridge"
    none = tmp_path / "config.toml"
    none.touch()
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-c", _WVB, *server["args"]],
        env=environment(BRIDGE_CONFIG=str(none), **server["env"]),
    )
    async with Client(parameters) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert "web_open" in names


@pytest.mark.browser
@pytest.mark.timeout(180)
async def test_the_script_by_hand_fills_the_field(webview_device: str) -> None:
    with serve_demo_pages() as shop:
        async with Session.open(webview_device, grants=[shop.grant]) as session:
            page = await session.new_page(shop.url("shop.html"))
            attachment = await page.attached()
            loop = asyncio.get_running_loop()

            async def in_the_page(expression: str) -> object:
                asked = {"expression": expression, "returnByValue": True}
                return (await attachment.call("Runtime.evaluate", asked, timeout_s=20))["result"].get("value")

            def evaluate(expression: str) -> object:
                return asyncio.run_coroutine_threadsafe(in_the_page(expression), loop).result(60)

            names: dict[str, object] = {"evaluate": evaluate}
            code = compile(example("python", "evaluate").code, "README.md", "exec")
            await asyncio.to_thread(exec, code, names)
            held = await in_the_page("document.querySelector('[type=search]').value")

    assert "[ref=e3]" in names["result"].text  # type: ignore[attr-defined]
    assert held == "gold"
